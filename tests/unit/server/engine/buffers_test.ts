import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { giveBuffer, takeBuffer } from "../../../../src/server/engine/buffers.ts";

Deno.test("takeBuffer() returns a buffer again that was given back, and one that is large enough", () => {
  for (const bytes of [1, 16_384, 16_385, 1_048_576, 3_000_000]) {
    const buffer = takeBuffer(bytes);
    assert(buffer.length >= bytes);
    const other = takeBuffer(bytes);
    assert(other !== buffer && other.buffer !== buffer.buffer);
    giveBuffer(buffer);
    giveBuffer(other);
    assertEquals(takeBuffer(bytes) === other, bytes <= 1_048_576);
  }
});

Deno.test("giveBuffer() ignores buffers of others, and takeBuffer() never ends", () => {
  giveBuffer(Buffer.alloc(16_384));
  const taken = new Set(Array.from({ length: 500 }, () => takeBuffer(100)));
  assertEquals(taken.size, 500);
  for (const buffer of taken) giveBuffer(buffer);
});
