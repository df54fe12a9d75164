import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import fc from "../../../fixtures/fast_check.ts";
import { shiftMask, unmask } from "../../../../src/server/engine/masking.ts";
import { TEXT_SCAN_MODULE, TextScan } from "../../../../src/server/engine/text_scan.ts";
import { assembleTextScan } from "../../../../tools/text_scan.ts";

function begin(): TextScan {
  const scan = TextScan.begin();
  assert(scan !== undefined);
  return scan;
}

/** Scans a message in parts of these lengths, and then the rest. */
function scanText(bytes: Uint8Array, lengths: readonly number[] = [], mask = 0): TextScan {
  const scan = begin();
  const masked = Buffer.from(bytes);
  unmask(masked, { start: 0, end: masked.length, mask });
  const target = new Uint8Array(bytes.length);
  let start = 0;
  for (const length of [...lengths, Infinity]) {
    const end = Math.min(bytes.length, start + length);
    scan.read(masked.subarray(start, end), { target, start, mask: shiftMask(mask, start) });
    start = end;
  }
  assert(Buffer.from(target).equals(bytes));
  return scan;
}

interface Found {
  isAscii: boolean;
  hasEscapes: boolean;
  quotes: number[] | undefined;
}

/** What is found byte by byte. */
function search(bytes: Uint8Array): Found {
  const found: Found = {
    isAscii: bytes.every((byte) => byte < 0x80),
    hasEscapes: bytes.includes(0x5c),
    quotes: undefined,
  };
  if (bytes.some((byte) => byte < 0x20)) return found;
  const text = Buffer.from(bytes).toString("latin1");
  const quotes: number[] = [];
  // The last escape may continue in the next part of a message.
  const token = /[^"\\]|"|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}|(?:u[\dA-Fa-f]{0,3})?$)/gsy;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const [sign] = token.exec(text) ?? [];
    if (sign === undefined) return found;
    if (sign === '"') quotes.push(at);
  }
  found.quotes = quotes;
  return found;
}

function foundBy({ isAscii, hasEscapes, quotes }: TextScan): Found {
  return { isAscii, hasEscapes, quotes: quotes && [...quotes] };
}

/** Bytes among which quotes, backslashes and parts of escapes are frequent. */
const bytes = fc.oneof(
  fc.array(fc.constantFrom(...'aaaaaaaaaaaaaaaa"\\'), { maxLength: 400 }),
  fc.array(fc.constantFrom(...'\\\\\\\\u"/09afAF'), { maxLength: 400 }),
  fc.array(fc.constantFrom("\\u00e9", "\\u12AF", "\\n", "\\\\", '\\"', '"', "x", " ".repeat(60)), {
    maxLength: 60,
  }),
  fc.array(fc.constantFrom("x".repeat(63), "é", "\n", "\\t", "\\x", "\\u12", '"'), { maxLength: 20 }),
).map((signs) => Buffer.from(signs.join("")));

Deno.test("TextScan finds the same as a search byte by byte, wherever the parts end and whatever the mask is", () => {
  fc.assert(
    fc.property(
      bytes,
      fc.array(fc.nat({ max: 130 }), { maxLength: 6 }),
      fc.integer(),
      (message, lengths, mask) => {
        assertEquals(foundBy(scanText(message, lengths, mask)), search(message));
      },
    ),
    { numRuns: 3_000 },
  );
});

Deno.test("TextScan follows escapes across the ends of parts and of turns", () => {
  for (const escape of ["\\\\", '\\"', "\\n", "\\u00e9", '\\\\\\"', "\\\\\\\\"]) {
    for (let before = 56; before < 72; before++) {
      const message = Buffer.from(`"${"x".repeat(before)}${escape}"`);
      for (let cut = 0; cut <= message.length; cut++) {
        assertEquals(scanText(message, [cut]).quotes, [0, message.length - 1]);
      }
    }
  }
  for (const wrong of ["\\x", "\\u12g4", "\\u 123", "\\N", "\\'", "\\u12", "\\\u007f"]) {
    for (let before = 56; before < 72; before++) {
      const message = Buffer.from(`"${"x".repeat(before)}${wrong}"`);
      for (let cut = 0; cut <= message.length; cut++) {
        assertEquals(scanText(message, [cut]).quotes, undefined, wrong);
      }
    }
  }
});

Deno.test("TextScan reads parts of any size, and forgets quotes when there are too many", () => {
  const long = `"${"\\n12345678".repeat(40_000)}"`;
  assertEquals(scanText(Buffer.from(long), [100_000, 1]).quotes, [0, long.length - 1]);
  assertEquals(scanText(Buffer.from('""'.repeat(2_048))).quotes?.length, 4_096);
  for (const text of ['""'.repeat(2_049), `${'""'.repeat(2_000)}${" ".repeat(70_000)}${'""'.repeat(100)}`]) {
    assertEquals(scanText(Buffer.from(text)).quotes, undefined);
  }
});

Deno.test("Two messages that arrive at the same time do not mix", () => {
  const [first, second] = [begin(), begin()];
  const target = new Uint8Array(4);
  first.read(Buffer.from('"\\'), { target, start: 0, mask: 0 });
  second.read(Buffer.from('""'), { target, start: 0, mask: 0 });
  first.read(Buffer.from('""'), { target, start: 2, mask: 0 });
  assertEquals([first.quotes, second.quotes], [[0, 3], [0, 1]]);
});

Deno.test("The module is assembled from its source", async () => {
  assertEquals(TEXT_SCAN_MODULE, await assembleTextScan());
});
