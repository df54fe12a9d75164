// A Computer on its way to a Server that is not there yet, or does not want it.

import { assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { SmcpServer, staticTokens } from "../../server.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { Workplace } from "../integration/_computer_program.ts";
import { enter, leave, testPrompt } from "../integration/_computer_prompt.ts";
import { ClosedPort, TcpProxy } from "../fixtures/tcp_proxy.ts";

/** Below the minute that a start may take: whoever waits for a hanging one takes longer. */
const SOON_MS = 59_000;
const HANGING = { type: "stdio", server_parameters: { command: "sleep", args: ["1000"] } };

testPrompt("the prompt is there before the Server, and joins when that has come", async ({ open }) => {
  // Its port is kept: a freed one may be given to another test file before the Server takes it.
  await using wire = new TcpProxy(0);
  wire.interrupt();
  const { url } = wire;
  const session = await open({ args: ["--url", url, "--office", "lab"] });
  await session.expect("cannot reach the Server");
  await session.expectScreen(/\nlaptop>$/);
  assertStringIncludes(await enter(session, "status"), `none yet, connecting to ${url}`);
  await using server = await SmcpServer.listen({ port: 0 });
  wire.restore(server.port);
  await session.expect('joined office "lab" as "laptop"');
  await session.expectScreen(/\nlaptop@lab>$/);
  assertStringIncludes(await enter(session, "status"), `"lab", connected to ${url}`);
  assertStringIncludes(await enter(session, "join lab"), 'already in office "lab"');
  assertStringIncludes(await enter(session, "join other"), 'run "leave" first');
  await leave(session);
});

testPrompt("leave gives up a Server that does not come", async ({ open }) => {
  await using closed = await ClosedPort.open();
  const { url } = closed;
  const session = await open({ args: ["--url", url, "--office", "lab"] });
  await session.expect("connection refused");
  await session.expect("cannot reach the Server");
  await session.expectScreen(/\nlaptop>$/);
  assertStringIncludes(await enter(session, "leave"), "stopped trying");
  assertStringIncludes(await enter(session, "status"), "none, not connected");
  assertStringIncludes(await enter(session, "leave"), "is in no office");
  await leave(session);
});

testPrompt("a refused token is told with what tries again", async ({ open }) => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["right"] }) });
  const session = await open({
    config: { servers: { hang: HANGING } },
    args: ["--url", server.url, "--office", "lab", "--token", "wrong"],
  });
  await session.expect("wrong token");
  await session.expect('"join lab" tries again');
  await session.expectScreen(/\nlaptop>$/);
  await leave(session);
});

Deno.test("without a terminal a refused token ends the Computer while its MCP servers start", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["right"] }) });
  const config = place.write("config.json", { servers: { hang: HANGING } });
  const startMs = performance.now();
  const args = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  const { code, stdout, stderr } = await place.run([...args, "--token", "wrong"]);
  assertLess(performance.now() - startMs, SOON_MS);
  assertEquals([code, stdout], [4, ""]);
  assertStringIncludes(stderr, "wrong token");
});

Deno.test("while the first join waits for MCP servers, the log, status and agent.ts say what is missing", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write("config.json", { servers: { hang: HANGING } });
  const args = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  await using program = place.start([...args, "--start-timeout", "1h"]);
  await program.said("joining when the MCP servers run");
  const { stdout } = await place.run(["status"]);
  const state = `none yet, connected to ${server.url}; joins "lab" when the MCP servers run`;
  assertStringIncludes(stdout, `${state}, after 3600 s at the latest`);
  const agent = ["--url", server.url, "--office", "lab", "--name", "ada", "desktop"];
  const { code, stderr } = await runHosted("agent.ts", agent);
  assertEquals(code, 1);
  assertStringIncludes(stderr, "just started joins within seconds");
  assertEquals((await place.run(["server", "stop", "hang"])).code, 0);
  await program.said('joined office "lab"');
});

Deno.test("--start-timeout limits how long the first join waits for MCP servers", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write("config.json", { servers: { hang: HANGING } });
  const args = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  await using _program = await place.serve([...args, "--start-timeout", "10ms"]);
});

Deno.test("with --log-format json the line on standard output is JSON, too", async () => {
  using place = new Workplace();
  await using server = await SmcpServer.listen({ port: 0 });
  const config = place.write("config.json", { servers: {} });
  const args = ["--url", server.url, "--office", "lab", "--name", "laptop", "--config", config];
  await using program = place.start([...args, "--log-format", "json"]);
  await program.stdout.until("\n");
  const { message, office, name } = JSON.parse(program.stdout.text);
  assertEquals([message, office, name], ["joined office", "lab", "laptop"]);
});
