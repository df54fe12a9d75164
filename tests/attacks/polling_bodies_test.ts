/** Attacker: an admitted member that polls. It posts millions of packets in one body, which are all read at once. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { RecordingLogger } from "../integration/_socket.ts";
import { exchange, openPolling, POLLING } from "./_raw_http.ts";

async function openMember(port: number): Promise<string> {
  const target = `${POLLING}&sid=${await openPolling(port)}`;
  await exchange(port, { target, method: "POST", body: "40/smcp," });
  assertEquals((await exchange(port, { target })).body.includes("40/smcp,{"), true);
  return target;
}

Deno.test("A body of more packets than a client ever sends at once ends the connection, unread, logged and counted", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, logger, metrics: true });
  const target = await openMember(server.port);
  const event = '42/smcp,1["x",{}]';
  await exchange(server.port, { target, method: "POST", body: Array(20_000).fill(event).join("\x1e") });
  const { status, body } = await exchange(server.port, { target });
  assertEquals([status, body.includes("Session ID unknown")], [400, true]);
  const refused = logger.lines.filter(({ message }) => message.includes("too many packets"));
  assertEquals(
    refused.map(({ level, fields }) => [level, fields["principal"], fields["address"], typeof fields["sid"]]),
    [["warn", "anonymous", "127.0.0.1", "string"]],
  );
  assertStringIncludes(await server.metrics(), '\na2c_refusals_total{reason="body_content"} 1\n');
});

Deno.test("A body of as many packets as a member may have requests is read", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const target = await openMember(server.port);
  const events = Array.from({ length: 1_024 }, (_, id) => `42/smcp,${id}["x",{}]`);
  await exchange(server.port, { target, method: "POST", body: events.join("\x1e") });
  const { status, body } = await exchange(server.port, { target });
  assertEquals([status, body.includes("43/smcp,0[")], [200, true]);
});

Deno.test("a body above the limit is refused with the reason, logged and counted, and its session goes on", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({
    port: 0,
    maxPayloadBytes: 10_000,
    metrics: true,
    logger,
  });
  const target = await openMember(server.port);
  const post = (body: string, headers = {}) =>
    exchange(server.port, { target, method: "POST", body, headers });
  const announced = await post("4".repeat(20_000));
  const { code, message, details } = JSON.parse(announced.body);
  assertEquals([announced.status, code, details], [413, 413, { size: 20_000, limit: 10_000 }]);
  assertStringIncludes(message, "--max-payload (maxPayloadBytes)");
  const chunk = `${(20_000).toString(16)}\r\n${"4".repeat(20_000)}\r\n0\r\n\r\n`;
  const unannounced = await post(chunk, { "Transfer-Encoding": "chunked" });
  assertEquals(unannounced.status, 413);
  assertEquals(JSON.parse(unannounced.body).details, { limit: 10_000 });
  const [line] = logger.lines.filter(({ message }) => message.includes("body over polling"));
  const { principal, size, limit } = Object(line?.fields);
  assertEquals([principal, size, limit], ["anonymous", 20_000, 10_000]);
  assertStringIncludes(await server.metrics(), '\na2c_refusals_total{reason="body_size"} 2\n');
  const join = '42/smcp,0["server:join_office",{"role":"computer","name":"laptop","office_id":"lab"}]';
  assertEquals((await post(join)).status, 200);
  assertStringIncludes((await exchange(server.port, { target })).body, "[true,null]");
});

Deno.test("Refused bodies are logged at a bounded rate", async () => {
  const logger = new RecordingLogger();
  await using server = await SmcpServer.listen({ port: 0, maxPayloadBytes: 5_000, logger });
  const target = await openMember(server.port);
  const startMs = performance.now();
  for (let i = 0; i < 40; i++) {
    assertEquals(
      (await exchange(server.port, { target, method: "POST", body: "4".repeat(6_000) })).status,
      413,
    );
  }
  const lines = logger.lines.filter(({ message }) => message.includes("body over polling")).length;
  // 20 at once, then one in three seconds.
  assert(lines >= 20 && lines <= 20 + Math.ceil((performance.now() - startMs) / 3_000), `${lines} lines`);
});
