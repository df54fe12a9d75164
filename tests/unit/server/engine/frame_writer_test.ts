import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import {
  buildClose,
  buildPong,
  maxFrameBytes,
  type Outgoing,
  writeFrame,
} from "../../../../src/server/engine/frame_writer.ts";

/** Writes messages into one buffer, and reads their frames. */
function roundTrip(messages: readonly Outgoing[]): [opcode: number, payload: Buffer][] {
  const buffer = Buffer.alloc(messages.reduce((sum, message) => sum + maxFrameBytes(message), 0));
  let end = 0;
  for (const message of messages) end = writeFrame(buffer, end, message);
  const frames: [number, Buffer][] = [];
  for (let at = 0; at < end;) {
    const short = buffer[at + 1] ?? 0;
    const [size, length] = short < 126
      ? [2, short]
      : short === 126
      ? [4, buffer.readUInt16BE(at + 2)]
      : [10, Number(buffer.readBigUInt64BE(at + 2))];
    frames.push([buffer[at] ?? 0, buffer.subarray(at + size, at + size + length)]);
    at += size + length;
  }
  return frames;
}

Deno.test("texts of all lengths become frames, one behind the other", () => {
  const lengths = [0, 1, 41, 42, 125, 126, 127, 1_024, 1_025, 21_845, 21_846, 65_535, 65_536, 100_000];
  const texts = lengths.flatMap((length) => ["x", "é", "中"].map((sign) => sign.repeat(length)));
  const frames = roundTrip(texts);
  assertEquals(
    frames.map(([opcode, payload]) => [opcode, payload.toString()]),
    texts.map((text) => [0x81, text]),
  );
});

Deno.test("bytes become binary frames, and frames that are ready are written as they are", () => {
  const ready = [Uint8Array.of(0x81, 3), Buffer.from("abc")];
  const frames = roundTrip([Uint8Array.of(1, 2), ready, buildPong(Buffer.from("p")), buildClose(1002)]);
  assertEquals(frames.map(([opcode, payload]) => [opcode, [...payload]]), [
    [0x82, [1, 2]],
    [0x81, [97, 98, 99]],
    [0x8a, [112]],
    [0x88, [3, 234]],
  ]);
  assertEquals(roundTrip([buildClose(undefined)]).map(([opcode, { length }]) => [opcode, length]), [[
    0x88,
    0,
  ]]);
});
