// A command with --config waits for the MCP servers that it needs, and not for ever for one that hangs.

import { assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { scripted } from "../fixtures/stdio_config.ts";
import { withoutSlowStart, Workplace } from "../integration/_computer_program.ts";

/** Below the minute that a start may take: whoever waits for a hanging one takes longer. */
const SOON_MS = 59_000;
const HANGING = { type: "stdio", server_parameters: { command: "sleep", args: ["1000"] } };
const GREETING = scripted({ tools: [{ name: "greet", inputSchema: { type: "object" } }] });

/** Runs one command with these servers; it must end long before a hanging start would. */
async function run(servers: Readonly<Record<string, unknown>>, args: readonly string[]) {
  using place = new Workplace();
  const config = place.write("config.json", { servers });
  const startMs = performance.now();
  const ended = await place.run([...args, "--config", config]);
  assertLess(performance.now() - startMs, SOON_MS, ended.stderr);
  return ended;
}

Deno.test("call does not wait for servers of lower precedence than the one that has the tool", async () => {
  const { code, stdout, stderr } = await run({ greeter: GREETING, hang: HANGING }, ["call", "greet"]);
  assertEquals([code, withoutSlowStart(stderr)], [0, ""]);
  assertStringIncludes(stdout, "greet");
});

Deno.test("call waits a few seconds for a server of higher precedence, and logs its name", async () => {
  const servers = { hang: HANGING, greeter: GREETING };
  const { code, stdout, stderr } = await run(servers, ["call", "greet"]);
  assertEquals(code, 0);
  assertStringIncludes(stdout, "greet");
  // On a busy machine the server with the tool may start later than the notice; the line then names both.
  assertMatch(
    stderr,
    /without MCP servers that are still starting.* servers=hang\n|waiting for .* servers="hang, greeter"\n/,
  );
});

Deno.test("call of an unknown tool ends after --start-timeout and names the server that still starts", async () => {
  const args = ["call", "nope", "--start-timeout", "1"];
  const { code, stderr } = await run({ hang: HANGING, greeter: GREETING }, args);
  assertEquals(code, 1);
  assertMatch(stderr, /servers=\S*hang/);
  assertStringIncludes(stderr, "hang (starting)");
});

Deno.test("call with a short --start-timeout logs one line, with the tool and the server that still starts", async () => {
  const args = ["call", "nope", "--start-timeout", "1"];
  const { stderr } = await run({ hang: HANGING, greeter: GREETING }, args);
  assertEquals(stderr.match(/WARN/g)?.length, 1, stderr);
  assertStringIncludes(stderr, "tool=nope");
});

Deno.test("status shows after --start-timeout which servers are still starting", async () => {
  const servers = { hang: HANGING, greeter: GREETING };
  const status = await run(servers, ["status", "--json", "--start-timeout", "4"]);
  assertEquals(status.code, 0);
  const states = JSON.parse(status.stdout).servers.map(({ name, status }: Record<string, string>) => [
    name,
    status,
  ]);
  assertEquals(states, [["hang", "starting"], ["greeter", "running"]]);
});

Deno.test("server logs waits only for the server that it shows", async () => {
  const servers = { hang: HANGING, greeter: GREETING };
  const { code, stdout, stderr } = await run(servers, ["server", "logs", "greeter"]);
  assertEquals([code, withoutSlowStart(stderr)], [0, ""]);
  assertStringIncludes(stdout, "running");
});
