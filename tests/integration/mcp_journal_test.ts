import { assert, assertEquals, assertMatch } from "@std/assert";
import { DEFAULT_LIMITS } from "../../src/config/limits.ts";
import { parseConfig } from "../../src/config/config.ts";
import { McpHost } from "../../src/computer/host.ts";
import type { Logger } from "../../src/log.ts";
import { LogBook, stateOf } from "../fixtures/log_book.ts";
import { scripted, scriptedServers } from "../fixtures/stdio_config.ts";

const tools = ["say", "die"].map((name) => ({ name, inputSchema: { type: "object" } }));
const said = { method: "notifications/message", params: { level: "warning", logger: "disk", data: "full" } };

function open(config: unknown, log: Logger): McpHost {
  return new McpHost({
    name: "laptop",
    config: parseConfig(config),
    inputs: () => undefined,
    confirm: undefined,
    limits: { ...DEFAULT_LIMITS },
    log,
    onChange() {},
  });
}

Deno.test("what a server says and goes through is kept across its restarts", async () => {
  const script = {
    tools,
    stderr: "here I am",
    tellOn: { "tools/call say": [said] },
    dieOn: ["tools/call die"],
  };
  const log = new LogBook();
  await using host = open(scriptedServers({ s: script }), log);
  const call = (tool_name: string) =>
    host.calls.call({ agent: "ada", computer: "laptop", req_id: tool_name, tool_name, params: {} });
  await host.settled();
  const server = host.fleet.get("s");
  assert(server !== undefined);
  assertEquals([server.state.status, server.state.restarts], ["running", 0]);
  const { since } = server.state;

  await call("say");
  const { level, fields } = await log.until(({ message }) => message === "MCP server log message");
  assertEquals([level, fields["server"], fields["text"]], ["info", "s", "disk: full"]);

  const running = log.next(stateOf("s", "running"));
  await call("die");
  await running;
  assertEquals([server.state.status, server.state.restarts], ["running", 1]);
  assert(server.state.since > since);
  const lines = server.journalLines.map((line) => line.slice(line.indexOf(" ") + 1));
  // Its stderr is a stream of its own, and so in no order with the others.
  assertEquals(lines.filter((line) => line !== "stderr here I am"), [
    "state starting",
    "state running",
    "warning disk: full",
    "state retrying: exit code 7",
    "state starting",
    "state running",
  ]);
  assert(lines.includes("stderr here I am"));
  for (const line of server.journalLines) assertMatch(line, /^\d{4}-\d\d-\d\dT[\d:.]{12}Z /);
});

Deno.test("what a server says is shown without its secrets", async () => {
  const server = scripted({ stderr: "the token is s3cret-value" });
  const parameters = { ...server["server_parameters"] as object, env: { TOKEN: "s3cret-value" } };
  const log = new LogBook();
  await using host = open({ servers: { s: { ...server, server_parameters: parameters } } }, log);
  await host.settled();
  await host.close();
  const [started] = host.fleet.servers;
  assert(started !== undefined);
  const lines = host.logOf(started).map((line) => line.slice(line.indexOf(" ") + 1));
  assert(lines?.includes("stderr the token is ***"), JSON.stringify(lines));
});
