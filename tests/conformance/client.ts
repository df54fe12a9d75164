/**
 * The program that the public conformance suite leads: the MCP side of a Computer, as a Computer uses it, pointed at
 * one server. It calls each tool that the server lists, and ends with 1 unless all of it worked.
 *
 * Usage: `deno run -A tests/conformance/client.ts URL`
 */
import { parseConfig } from "../../src/config/config.ts";
import { DEFAULT_READ_LIMITS } from "../../src/computer/limits.ts";
import { McpHost } from "../../src/computer/host.ts";
import { createLogger, parseLogLevels } from "../../src/log.ts";
import { DEFAULT_SERVER_LIMITS } from "../../src/mcp/limits.ts";

/** What a scenario's tools are called with, by the type of a parameter. */
const ARGUMENTS: Readonly<Record<string, unknown>> = { number: 2, integer: 2, string: "two", boolean: true };

const [url] = Deno.args.slice(-1);
await using host = new McpHost({
  config: parseConfig({
    servers: {
      suite: { type: "streamable", default_tool_meta: { auto_apply: true }, server_parameters: { url } },
    },
  }),
  inputs: () => undefined,
  confirm: undefined,
  limits: { ...DEFAULT_SERVER_LIMITS, ...DEFAULT_READ_LIMITS },
  log: createLogger({ levels: parseLogLevels("debug") }),
  onChange() {},
});

await host.settled();
const isRunning = host.fleet.get("suite")?.state.status === "running";
const results = await Promise.all(host.tools.listed.map(({ name, params_schema }) =>
  host.calls.call({
    agent: "suite",
    computer: "conformance",
    req_id: crypto.randomUUID(),
    tool_name: name,
    params: argumentsFor(params_schema),
    timeout: 10,
  })
));
Deno.exitCode = isRunning && results.every(({ isError }) => isError !== true) ? 0 : 1;

function argumentsFor(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const properties = Object.entries(schema["properties"] ?? {});
  return Object.fromEntries(properties.map(([name, { type }]) => [name, ARGUMENTS[type]]));
}
