import { assertEquals } from "@std/assert";
import { shiftMask, unmask } from "../../../../src/server/engine/masking.ts";

const MASK = [0x9a, 0x01, 0xff, 0x40] as const;
const mask = MASK[0] | MASK[1] << 8 | MASK[2] << 16 | MASK[3] << 24;

Deno.test("unmask() gives each byte its byte of the mask, wherever the range begins and ends", () => {
  for (const length of [0, 1, 5, 255, 256, 257, 1_000]) {
    for (const start of [0, 1, 2, 3, 4, 5]) {
      const bytes = Uint8Array.from({ length: start + length + 3 }, (_, index) => index);
      const expected = bytes.map((byte, index) =>
        index < start || index >= start + length ? byte : byte ^ (MASK[(index - start) % 4] ?? 0)
      );
      unmask(bytes, { start, end: start + length, mask });
      assertEquals(bytes, expected, `${length} bytes from ${start}`);
    }
  }
});

Deno.test("shiftMask() continues a mask where a part has ended", () => {
  for (const count of [0, 1, 2, 3, 4, 7]) {
    const bytes = new Uint8Array(8);
    unmask(bytes, { start: 0, end: count, mask });
    unmask(bytes, { start: count, end: 8, mask: shiftMask(mask, count) });
    assertEquals([...bytes], [...MASK, ...MASK]);
  }
});
