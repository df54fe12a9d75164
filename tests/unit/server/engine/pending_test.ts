import { assertEquals } from "@std/assert";
import { Pending } from "../../../../src/server/engine/pending.ts";
import { Timeouts } from "../../../../src/async/timeouts.ts";
import type { Incoming } from "../../../../src/server/engine/incoming.ts";
import { eventually } from "../../../fixtures/within.ts";
import { cutPacket } from "./_long_text.ts";
import { ManualClock } from "../../async/_manual_clock.ts";

const CONNECT = "0/smcp,{}";
const CONNECT_MS = 5_000;
const AUTH_MS = 10_000;

/** The beginning of a session, and why it was dropped. */
function open() {
  const clock = new ManualClock();
  const dropped: (string | undefined)[] = [];
  let renewed = 0;
  const timeouts = new Timeouts(clock);
  const pending = new Pending(
    { onConnecting: () => void renewed++, dropPending: (reason) => void dropped.push(reason) },
    { connectTimeoutMs: CONNECT_MS, authTimeoutMs: AUTH_MS, timeouts },
  );
  const receive = (message: Incoming) => pending.countPacket(message) && pending.passes(message);
  return { pending, receive, clock, dropped, renewals: () => renewed };
}

const TOO_MUCH = ["it sent too much before it was admitted"];

Deno.test("a session may send less than 64 KiB before its admission, in 256 chunks at most", () => {
  const bytes = open();
  assertEquals([bytes.pending.countChunk(65_535), bytes.pending.countChunk(1)], [true, false]);
  assertEquals(bytes.dropped, TOO_MUCH);
  const chunks = open();
  for (let count = 0; count < 256; count++) assertEquals(chunks.pending.countChunk(1), true);
  assertEquals([chunks.pending.countChunk(1), chunks.dropped], [false, TOO_MUCH]);
});

Deno.test("packets of any transport count: less than 64 KiB before CONNECT, and less than 8 KiB behind it", () => {
  const before = open();
  assertEquals([before.pending.countPacket("3".repeat(65_535)), before.dropped], [true, []]);
  assertEquals([before.pending.countPacket("3"), before.dropped], [false, TOO_MUCH]);
  const behind = open();
  assertEquals(behind.receive(CONNECT), true);
  assertEquals([behind.receive(new Uint8Array(8_191)), behind.dropped], [false, []]);
  assertEquals([behind.pending.countPacket("2"), behind.dropped], [false, TOO_MUCH]);
});

Deno.test("a long text that is not copied into a string counts like any other", () => {
  const { receive, dropped } = open();
  receive(CONNECT);
  const text = cutPacket(`42/smcp,["client:tool_call","${"x".repeat(9_000)}"]`);
  if (text === undefined) throw new TypeError("Cannot cut the packet");
  receive(text);
  assertEquals(dropped, TOO_MUCH);
});

Deno.test("a session may send 64 packets before its admission", () => {
  const { pending, dropped } = open();
  for (let count = 0; count < 64; count++) assertEquals(pending.countPacket(""), true);
  assertEquals([pending.countPacket(""), dropped], [false, ["it sent too many packets"]]);
});

Deno.test("the first packet must be a CONNECT packet, with 1,024 members at most, and only one for the namespace", () => {
  const cases: readonly [string | undefined, readonly Incoming[]][] = [
    ["its first packet is not a CONNECT packet", ['2/smcp,["a"]']],
    ["its first packet is not a CONNECT packet", [new Uint8Array(1)]],
    ["its CONNECT packet has too many members", [`0/smcp,{"a":[${"1,".repeat(1_023)}1]}`]],
    ["it sent a second CONNECT packet", [CONNECT, CONNECT]],
    [undefined, [`0/smcp,{"a":[${"1,".repeat(1_021)}1]}`]],
    // Socket.IO refuses these.
    [undefined, ["0", "0/smcpx,", CONNECT]],
    [undefined, [CONNECT, "0/smcpx,"]],
  ];
  for (const [reason, messages] of cases) {
    const { receive, dropped } = open();
    for (const message of messages) receive(message);
    assertEquals(dropped, reason === undefined ? [] : [reason], String(messages));
  }
});

Deno.test("what comes behind the CONNECT packet is held back until the admission, as a copy", () => {
  const { pending, receive, renewals } = open();
  assertEquals([receive(CONNECT), renewals()], [true, 1]);
  const chunk = new Uint8Array(1_000);
  assertEquals([receive('2/smcp,["a"]'), receive(chunk.subarray(10, 12))], [false, false]);
  const [text, bytes] = pending.end();
  assertEquals(text, '2/smcp,["a"]');
  assertEquals(bytes instanceof Uint8Array && bytes.buffer.byteLength, 2);
  assertEquals(pending.end(), []);
});

Deno.test("a refused session holds nothing back, and ends without a reason a second later", async () => {
  const { pending, receive, clock, dropped } = open();
  receive(CONNECT);
  receive('2/smcp,["a"]');
  pending.refuse();
  assertEquals(receive('2/smcp,["b"]'), false);
  clock.advance(1_050);
  assertEquals(await eventually(() => dropped, ({ length }) => length > 0, "the end"), [undefined]);
  assertEquals(pending.end(), []);
});

Deno.test("a session without a CONNECT packet in time ends, and so does one that is not decided in time", async () => {
  const silent = open();
  silent.clock.advance(CONNECT_MS + 50);
  const undecided = open();
  undecided.receive(CONNECT);
  // A safeguard, a second behind the time limit of the auth provider.
  undecided.clock.advance(AUTH_MS);
  undecided.clock.advance(1_050);
  for (const [{ dropped }, reason] of [[silent, "no CONNECT"], [undecided, "did not decide"]] as const) {
    const [ended = ""] = await eventually(() => dropped, ({ length }) => length > 0, reason);
    assertEquals(ended.includes(reason), true);
  }
});

Deno.test("a CONNECT packet that arrives while the event loop stalls is in time", async () => {
  const { receive, clock, dropped } = open();
  clock.moveTo(clock.nowMs() + 60_000, { late: true });
  receive(CONNECT);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(dropped, []);
});

Deno.test("an ended or admitted session is not dropped later, even if it is refused afterwards", async () => {
  const { pending, clock, dropped } = open();
  pending.end();
  pending.refuse();
  clock.advance(CONNECT_MS + AUTH_MS);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals([dropped, clock.isArmed], [[], false]);
});
