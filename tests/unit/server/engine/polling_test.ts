import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { RawConnection, toText } from "../../../attacks/_raw_http.ts";
import { EnginePort, MAX_PAYLOAD_BYTES, type PolledSession, settled, TICK_MS } from "./_engine_port.ts";

const SEPARATOR = "\x1e";
const GZIP = { headers: { "Accept-Encoding": "gzip" } };
const LAST_POLL_MS = 30_000;
const BODY_MS = 30_000;

function send({ session }: PolledSession, count: number): readonly string[] {
  const packets = Array.from({ length: count }, (_, index) => `2["e${index}"]`);
  for (const packet of packets) session.write(packet);
  return packets.map((packet) => `4${packet}`);
}

Deno.test("an answer has 16 packets at most, and the next one goes on behind them", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const packets = send(polled, 20);
  assertEquals((await polled.ask()).body.split(SEPARATOR), packets.slice(0, 16));
  assertEquals((await polled.ask()).body.split(SEPARATOR), packets.slice(16));
  await settled(() => port.engine.budget.usedBytes === 0, "the answers to be read");
});

Deno.test("a session that closes sends what waits, 16 packets an answer, and then its end alone", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const packets = send(polled, 20);
  polled.session.close("forced server close");
  assertEquals(await polled.ended, "forced server close");
  polled.session.write("lost");
  assertEquals((await polled.ask()).body.split(SEPARATOR), packets.slice(0, 16));
  assertEquals((await polled.ask()).body.split(SEPARATOR), packets.slice(16));
  assertEquals([(await polled.ask()).body, (await polled.ask()).status], ["1", 400]);
  await port.untilEmpty();
});

Deno.test("a session that closes while its client waits tells it at once", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const { answer } = await polled.wait();
  polled.session.close();
  assertEquals([(await answer).body, port.engine.size], ["1", 0]);
});

Deno.test("a session that closes and whose client never comes back is gone 30 s later", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  send(polled, 1);
  polled.session.close();
  port.clock.advance(LAST_POLL_MS - TICK_MS);
  assertEquals(port.engine.size, 1);
  port.clock.advance(2 * TICK_MS);
  await port.untilEmpty();
});

Deno.test("answers from 1,024 bytes on are compressed, and what they hold is freed when they are read", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  for (const [length, encoding] of [[1_022, undefined], [1_023, "gzip"]] as const) {
    const text = "x".repeat(length);
    polled.session.write(text);
    const { head, body } = await polled.ask(GZIP);
    assertEquals(/^content-encoding: (.*)$/im.exec(head)?.[1]?.trim(), encoding);
    const bytes = Buffer.from(body, "latin1");
    assertEquals(encoding === undefined ? body : gunzipSync(bytes).toString(), `4${text}`);
    await settled(() => port.engine.budget.usedBytes === 0, "the answer to be read");
  }
});

Deno.test("bytes go in base64, and the text of a frame that is ready without its header", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  polled.session.write(Uint8Array.of(1, 2, 3));
  polled.session.write("unused", { wsPreEncodedFrame: [Uint8Array.of(0x81, 3), Buffer.from("4ab")] });
  assertEquals((await polled.ask()).body.split(SEPARATOR), ["bAQID", "4ab"]);
});

Deno.test("a second GET while one waits is answered 400, and ends the session and the one that waits", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const { answer } = await polled.wait();
  assertEquals((await polled.ask()).status, 400);
  assertEquals([(await answer).body, await polled.ended], ["1", "transport error"]);
  await port.untilEmpty();
});

Deno.test("a client that leaves a GET that waits ends its session", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const { requests } = port;
  const connection = new RawConnection(port.port);
  connection.write(toText(port.port, { target: polled.target }));
  await settled(() => port.requests > requests, "the poll to wait");
  await connection[Symbol.asyncDispose]();
  assertEquals(await polled.ended, "transport error");
  await port.untilEmpty();
});

Deno.test("a connection that breaks while its answer is compressed ends the session: packets are lost", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const { answer } = await polled.wait(GZIP);
  polled.session.write(randomBytes(MAX_PAYLOAD_BYTES / 2).toString("hex"));
  port.request?.socket.destroy();
  assertEquals([(await answer).status, await polled.ended], [NaN, "transport error"]);
  await port.untilEmpty();
});

Deno.test("a session that ends while its answer is compressed leaves nothing", async () => {
  await using port = await EnginePort.open();
  for (const end of ["fail", "terminate"] as const) {
    const polled = await port.openPolling();
    const { answer } = await polled.wait(GZIP);
    polled.session.write("x".repeat(MAX_PAYLOAD_BYTES));
    if (end === "fail") polled.session.fail("ping timeout");
    else polled.session.terminate();
    assertEquals((await answer).status, end === "fail" ? 200 : NaN);
    await port.untilEmpty();
  }
});

Deno.test("the packets of a body are read in their order, until one ends the session", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  assertEquals((await polled.post(["4a", "bAQID", "3", "6", "4b"].join(SEPARATOR))).body, "ok");
  assertEquals(polled.messages, ["a", Buffer.from([1, 2, 3]), "b"]);
  assertEquals((await polled.post(["4c", "1", "4d"].join(SEPARATOR))).body, "ok");
  assertEquals([polled.messages.at(-1), await polled.ended], ["c", "transport close"]);
  await port.untilEmpty();
});

Deno.test("a packet that Engine.IO cannot read ends the session, and so does a ping of the client", async () => {
  await using port = await EnginePort.open();
  for (
    const [packet, reason] of [["x", "parse error"], ["", "parse error"], ["2", "transport error"]] as const
  ) {
    const polled = await port.openPolling();
    const headers = { "Content-Length": String(packet.length) };
    assertEquals((await polled.post(packet, headers)).body, "ok");
    assertEquals(await polled.ended, reason);
  }
  await port.untilEmpty();
});

Deno.test("a body that is too large is answered 413, announced or not, and the session goes on", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  const size = MAX_PAYLOAD_BYTES + 1;
  const announced = await polled.post("", { "Content-Length": String(size) });
  assertEquals([announced.status, JSON.parse(announced.body).details], [413, {
    size,
    limit: MAX_PAYLOAD_BYTES,
  }]);
  const chunk = `${size.toString(16)}\r\n${"x".repeat(size)}\r\n0\r\n\r\n`;
  const chunked = await polled.post(chunk, { "Transfer-Encoding": "chunked" });
  assertEquals([chunked.status, JSON.parse(chunked.body).details], [413, { limit: MAX_PAYLOAD_BYTES }]);
  assertEquals((await polled.post("4a")).body, "ok");
  assertEquals([polled.messages, port.engine.budget.usedBytes], [["a"], 0]);
});

Deno.test("a body that does not arrive in 30 s is answered 408, and ends the session", async () => {
  await using port = await EnginePort.open();
  const polled = await port.openPolling();
  await using slow = await polled.beginPost();
  port.clock.advance(BODY_MS + TICK_MS);
  await slow.until("the answer", (text) => text.includes("408 "));
  assertEquals(await polled.ended, "transport error");
  await port.untilEmpty();
});

Deno.test("a body that is cut off ends the session, and a second one at the same time ends both", async () => {
  await using port = await EnginePort.open();
  const cut = await port.openPolling();
  await (await cut.beginPost())[Symbol.asyncDispose]();
  assertEquals(await cut.ended, "transport error");
  await port.untilEmpty();
  const doubled = await port.openPolling();
  const first = await doubled.beginPost();
  assertEquals((await doubled.post("4b")).status, 400);
  await first.untilClosed();
  assertEquals([await doubled.ended, doubled.messages], ["transport error", []]);
  await port.untilEmpty();
});

Deno.test("the connection of a body that arrives is closed when its session ends in any way", async () => {
  await using port = await EnginePort.open();
  const ends: readonly ((polled: PolledSession) => unknown)[] = [
    ({ session }) => session.fail("ping timeout"),
    ({ session }) => session.terminate(),
    async (polled) => {
      const { answer } = await polled.wait();
      polled.session.close();
      await answer;
    },
  ];
  for (const end of ends) {
    const polled = await port.openPolling();
    await using posting = await polled.beginPost();
    await end(polled);
    await posting.untilClosed();
    assertEquals(posting.received, "");
    await port.untilEmpty();
  }
});
