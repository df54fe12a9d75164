import { assert, assertEquals, assertThrows } from "@std/assert";
import { Budget, SMALL_MESSAGE_BYTES } from "../../../../src/server/engine/budget.ts";
import { EngineOutbox, MESSAGE_OVERHEAD_BYTES } from "../../../../src/server/engine/outbox.ts";
import { Timeouts } from "../../../../src/async/timeouts.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { ManualClock } from "../../async/_manual_clock.ts";

const MIB = 1024 * 1024;
const STALL_MS = 45_000;
/** What a stall is noticed later: the resolution of time-outs. */
const TICK_MS = 50;

function open({ maxPayloadBytes = MIB, budgetBytes = 100 * MIB } = {}) {
  const clock = new ManualClock();
  const budget = new Budget(budgetBytes);
  const ends: string[] = [];
  const timeouts = new Timeouts(clock);
  const options = { maxPayloadBytes, budget, timeouts, stallMs: STALL_MS };
  const outbox = new EngineOutbox(options, (reason) => void ends.push(reason));
  return {
    outbox,
    budget,
    clock,
    ends,
    send: (bytes: number) => outbox.push(() => outbox.add(new Uint8Array(bytes))),
  };
}

/** A message of so many bytes with what it takes besides. */
const inAll = (bytes: number) => bytes + MESSAGE_OVERHEAD_BYTES;

Deno.test("push() refuses with 413 what would wait beyond the largest message, and sends nothing of it", () => {
  const { outbox, send } = open();
  assertEquals(send(MIB / 2), inAll(MIB / 2));
  const error = assertThrows(() => send(MIB / 2), SmcpError);
  assertEquals([error.code, error.details?.["limit"]], [413, MIB]);
  assertEquals([outbox.messages.length, outbox.waitingBytes], [1, inAll(MIB / 2)]);
  // Only the first message of a packet may be refused: its attachments must follow it.
  outbox.push(() => {
    outbox.add(new Uint8Array(100));
    outbox.add(new Uint8Array(MIB));
  });
  assertEquals(outbox.messages.length, 3);
});

Deno.test("push() accepts the largest message while only small ones wait", () => {
  const { outbox, send } = open();
  send(SMALL_MESSAGE_BYTES - MESSAGE_OVERHEAD_BYTES);
  send(MIB);
  assertEquals(outbox.messages.length, 2);
  assertThrows(() => send(1), SmcpError);
});

Deno.test("push() refuses a message larger than the largest, and one for which the Server has no memory", () => {
  assertThrows(() => open().send(MIB + SMALL_MESSAGE_BYTES), SmcpError, "the limit");
  const { budget, send } = open({ budgetBytes: MIB });
  const error = assertThrows(() => send(MIB / 2), SmcpError);
  assertEquals(error.details?.["option"], "maxMessageMemoryBytes");
  assertEquals([budget.usedBytes, send(1_000)], [0, inAll(1_000)]);
});

Deno.test("what is never refused ends the session once it exceeds the margin, after its sender is done", async () => {
  const { outbox, ends } = open();
  for (let count = 0; count < 12; count++) outbox.add(new Uint8Array(MIB));
  assertEquals(ends, []);
  await Promise.resolve();
  assertEquals(ends, ["it reads too slowly"]);
});

Deno.test("a reader that reads nothing for the whole time ends, one that reads something goes on", () => {
  const { outbox, clock, ends } = open();
  outbox.add("a");
  outbox.add("b");
  clock.advance(STALL_MS - TICK_MS);
  outbox.release(outbox.take(1).bytes);
  clock.advance(STALL_MS);
  assertEquals(ends, []);
  clock.advance(STALL_MS + TICK_MS);
  assertEquals(ends, ["it reads nothing"]);
});

Deno.test("a message that comes shortly before a check of the reader has the whole time", () => {
  const { outbox, clock, ends } = open();
  outbox.add("a");
  outbox.release(outbox.take(1).bytes);
  clock.advance(STALL_MS - 2 * TICK_MS);
  outbox.add("b");
  clock.advance(STALL_MS);
  assertEquals(ends, []);
  clock.advance(STALL_MS);
  assertEquals(ends, ["it reads nothing"]);
});

Deno.test("take() counts the bytes of each message as add() does, and nothing waits after release()", () => {
  const { outbox, budget } = open();
  const messages = ["a", "ü".repeat(2_000), new Uint8Array(10), [new Uint8Array(2), new Uint8Array(100)]];
  for (const message of messages) outbox.add(message);
  const total = outbox.waitingBytes;
  const [first, rest] = [outbox.take(3), outbox.take(Infinity)];
  assertEquals([...first.messages, ...rest.messages], messages);
  assertEquals([first.bytes + rest.bytes, outbox.waitingBytes, budget.usedBytes], [total, total, total]);
  outbox.release(first.bytes);
  assertEquals(budget.usedBytes, rest.bytes);
  outbox.release(rest.bytes);
  assertEquals([outbox.waitingBytes, budget.usedBytes], [0, 0]);
});

Deno.test("close() frees what waits and what was taken once, and leaves no timer that ends the session", () => {
  const { outbox, budget, clock, ends } = open();
  outbox.add("a");
  outbox.add("b");
  const { bytes } = outbox.take(1);
  outbox.close();
  assertEquals(budget.usedBytes, 0);
  outbox.release(bytes);
  outbox.add("c");
  outbox.close();
  assertEquals([budget.usedBytes, outbox.messages.length], [0, 0]);
  clock.advance(3 * STALL_MS);
  assertEquals(ends, []);
  assert(!clock.isArmed);
});

Deno.test("many small messages to one reader take room of the budget, too", () => {
  const { budget, outbox, send } = open({ maxPayloadBytes: 16 * MIB, budgetBytes: 2 * MIB });
  const error = assertThrows(() => {
    for (let count = 0; count < 1_000; count++) send(50_000);
  }, SmcpError);
  assertEquals(error.details?.["option"], "maxMessageMemoryBytes");
  assert(budget.usedBytes <= MIB + SMALL_MESSAGE_BYTES && outbox.messages.length > 15);
});
