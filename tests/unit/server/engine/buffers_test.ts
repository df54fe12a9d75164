import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { giveBuffer, growBuffer, takeBuffer } from "../../../../src/server/engine/buffers.ts";

Deno.test("a buffer that was given back is used again, once, and never by two at a time", () => {
  for (const bytes of [1, 16_000, 100_000, 1_048_576, 3_000_000]) {
    const [first, second] = [takeBuffer(bytes), takeBuffer(bytes)];
    assertEquals([first.length, second.length], [bytes, bytes]);
    assert(first.buffer !== second.buffer);
    giveBuffer(first);
    giveBuffer(first);
    const [again, other] = [takeBuffer(bytes), takeBuffer(bytes)];
    assertEquals(again.buffer === first.buffer, bytes < 3_000_000);
    assert(other.buffer !== again.buffer && other.buffer !== second.buffer);
  }
});

Deno.test("giveBuffer() ignores buffers of others", () => {
  const others = Buffer.allocUnsafeSlow(16_384);
  giveBuffer(others);
  assert(takeBuffer(16_000).buffer !== others.buffer);
});

Deno.test("a buffer that grows keeps its content, in place where there is room", () => {
  const small = takeBuffer(100);
  small.fill(7);
  const larger = growBuffer(small, 200);
  const largest = growBuffer(larger, 100_000);
  assertEquals([larger.buffer === small.buffer, largest.buffer === small.buffer], [true, false]);
  assertEquals([larger.length, largest.length], [200, 100_000]);
  assert(largest.subarray(0, 100).every((byte) => byte === 7));
});
