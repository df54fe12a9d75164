import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { giveBuffer, takeBuffer, writeBefore } from "../../../../src/server/engine/buffers.ts";

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

Deno.test("writeBefore() writes over what stands before a part, and at most over the front of a buffer", () => {
  const buffer = takeBuffer(10);
  buffer.write("0123456789");
  const whole = writeBefore({ buffer, start: 4, end: 7 }, Buffer.from("abcdef"));
  assertEquals(whole?.toString(), "abcdef456");
  assertEquals(buffer.toString("latin1", 0, 7), "cdef456");
  assertEquals(writeBefore({ buffer, start: 4, end: 7 }, Buffer.alloc(60)), undefined);
  giveBuffer(buffer);
  const foreign = Buffer.from("0123456789").subarray(2);
  assertEquals(writeBefore({ buffer: foreign, start: 0, end: 2 }, Buffer.from("a")), undefined);
});
