import { assert, assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { isRecord, LongText } from "../../../src/json/json.ts";
import { readLargeMessage } from "../../../src/json/large_message.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const read = (text: string) => readLargeMessage(bytesOf(text));
const long = "one line\n".repeat(10_000);

/** As JSON has it, long texts included. */
function sameJson(actual: unknown, text: string): void {
  assertEquals(JSON.parse(JSON.stringify(actual)), JSON.parse(text));
}

function contentOf(message: Readonly<Record<string, unknown>> | undefined): Record<string, unknown>[] {
  const result = message?.["result"];
  const content = isRecord(result) ? result["content"] : undefined;
  assert(Array.isArray(content));
  return content;
}

Deno.test("long texts of content stay bytes, and others become strings", async () => {
  const message = {
    jsonrpc: "2.0",
    id: 1,
    result: {
      content: [
        { type: "text", text: long, _meta: { note: long } },
        { type: "image", data: "AAAA".repeat(20_000), mimeType: "image/png" },
        { type: "resource", resource: { uri: "file:///a", text: `${long}é` } },
        { type: "text", text: "short" },
        7,
      ],
      structuredContent: { [long]: [long, { deep: long }] },
    },
  };
  const text = JSON.stringify(message);
  const actual = await read(text);
  sameJson(actual, text);
  const [first, image, resource, short] = contentOf(actual);
  const held = resource?.["resource"];
  for (const own of [first?.["text"], image?.["data"], isRecord(held) ? held["text"] : 0]) {
    assert(own instanceof LongText);
    assertEquals(own.bytes.buffer.byteLength, own.bytes.length, "nothing else is held");
  }
  assertEquals(short?.["text"], "short");
});

Deno.test("a large message is read as JSON.parse() reads it, whatever its texts hold", async () => {
  const unit = fc.oneof(
    fc.constantFrom("\n", '"', "\\", "\u0001", "é", "中", "😀", "\u2028", "\ufeff", "/", "plain "),
    fc.string({ unit: "grapheme" }),
  );
  const texts = fc.array(fc.array(unit, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 });
  const escape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  await fc.assert(
    fc.asyncProperty(texts, fc.constantFrom("none", "others", "all"), async (units, escaped) => {
      const content = units.map((parts) => {
        const part = parts.join("") || "x";
        const whole = part.repeat(Math.ceil(70_000 / part.length));
        const text = escaped === "all"
          ? `"${whole.replaceAll(/[^]/g, escape)}"`
          : JSON.stringify(whole).replaceAll(escaped === "none" ? /\0/g : /[^\0-\x7f]/g, escape);
        return `{"type":"text","text":${text}}`;
      });
      const text = `{"jsonrpc":"2.0","id":"x","result":{"content":[${content.join(", ")}],"isError":false}}`;
      const actual = await read(text);
      assert(actual !== undefined);
      sameJson(actual, text);
    }),
    { numRuns: 30 },
  );
});

Deno.test("a message with a flaw, or with much beside its long texts, is left to be read as one string", async () => {
  const result = (member: string) => `{"jsonrpc":"2.0","id":1,"result":{"content":[{"text":${member}}]}}`;
  for (
    const text of [
      result(`"${"a".repeat(70_000)}\u0001"`),
      result(`"${"a".repeat(70_000)}\\q"`),
      result(`"${"a".repeat(70_000)}\\u12g4"`),
      result(`"${"a".repeat(70_000)}\\ud83d"`),
      result(`"${"a".repeat(70_000)}`),
      result(`"${"a".repeat(70_000)}" x`),
      result(`"short"`),
      result(JSON.stringify([long, Array(200_000).fill("rest")])),
      JSON.stringify([long]),
    ]
  ) {
    const bytes = bytesOf(text);
    assertEquals(await readLargeMessage(bytes), undefined, text.slice(-20));
    assertEquals(bytes, bytesOf(text), "it can still be read");
  }
});

Deno.test("bytes that are not UTF-8 are found wherever TextDecoder finds them", async () => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const byte = fc.oneof(
    fc.constantFrom(0x80, 0xa0, 0xc1, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0x90, 0x9f, 0xbf),
    fc.integer({ min: 0x61, max: 0x7a }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(byte, { maxLength: 6 }), async (sequence) => {
      const bytes = bytesOf(`{"result":{"content":[{"text":"${"a".repeat(70_000)}"}]}}`);
      bytes.set(sequence, 1_000);
      const isValid = (() => {
        try {
          return decoder.decode(bytes) !== "";
        } catch {
          return false;
        }
      })();
      assertEquals(await readLargeMessage(bytes) !== undefined, isValid);
    }),
    { numRuns: 300 },
  );
});

Deno.test("a server cannot point at a long text", async () => {
  const text = JSON.stringify({
    id: 1,
    result: { content: [{ text: long }, { text: ":0" }, { text: "0" }] },
  });
  sameJson(await read(text), text);
});
