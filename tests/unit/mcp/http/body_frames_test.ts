import { assertEquals, assertThrows } from "@std/assert";
import { EventFrames } from "../../../../src/mcp/http/body_frames.ts";

const limits = { maxMessageBytes: 100, maxMessageValues: 50 };
const bytes = (text: string) => new TextEncoder().encode(text);
const texts = (frames: readonly Uint8Array[]) => frames.map((frame) => new TextDecoder().decode(frame));

const events = () => new EventFrames(limits);

/** All frames of a text in pieces of so many bytes. */
function cut(text: string, size: number): string[] {
  const frames = events();
  const all = bytes(text);
  const found: string[] = [];
  for (let start = 0; start < all.length; start += size) {
    found.push(...texts(frames.push(all.slice(start, start + size))));
  }
  return found;
}

Deno.test("events end at empty lines, whatever the line endings and the chunks", () => {
  for (const end of ["\n", "\r", "\r\n"]) {
    const text = ["event: endpoint", "data: /mcp", "", "data: a", "data: ü", "", "data: half"].join(end);
    for (let size = 1; size < 12; size++) {
      assertEquals(cut(text, size), ["event: endpoint\ndata: /mcp\n\n", "data: a\ndata: ü\n\n"], `${size}`);
    }
  }
});

Deno.test("comments are dropped, however many there are without an event", () => {
  for (const size of [1, 5, 1_000_000]) {
    assertEquals(cut(`${": ping\n".repeat(100)}data: a\n: x\n\n`, size), ["data: a\n\n"]);
  }
});

Deno.test("a wait that no timer can count is dropped, and hides no values of the event", () => {
  for (const size of [1, 5, 1_000_000]) {
    assertEquals(cut("retry: 99999999999999999999\n\nretry: 3000\ndata: a\n\n", size), [
      "retry: 3000\ndata: a\n\n",
    ]);
  }
  const frames = events();
  assertThrows(
    () => frames.push(bytes(`retry: "9999999999999\ndata: ${",".repeat(60)}`)),
    RangeError,
    "values",
  );
});

Deno.test("an event that is too long is rejected before its end, in bytes or in lines", () => {
  const frames = events();
  frames.push(bytes(`data: ${"x".repeat(94)}`));
  assertThrows(() => frames.push(bytes("x")), RangeError, "more than 100 bytes");
  const many = new EventFrames({ maxMessageBytes: 1_000_000, maxMessageValues: 1_000_000 });
  assertThrows(() => many.push(bytes("data:\n".repeat(10_001))), RangeError, "10000 lines");
});

Deno.test("an event with too many values is rejected, and other fields cannot hide them", () => {
  const list = `[${"[],".repeat(60)}0]`;
  assertThrows(() => events().push(bytes(`event: "\ndata: ${list.slice(0, 80)}`)), RangeError, "values");
});

Deno.test("an event stream with ids can be resumed", () => {
  const frames = events();
  frames.push(bytes("data: identity\n\n"));
  assertEquals(frames.hasIds, false);
  frames.push(bytes("id: 7\ndata: x\n\n"));
  assertEquals(frames.hasIds, true);
});

Deno.test("a JSON body is one frame", () => {
  const frame = new EventFrames(limits, { isJson: true });
  assertEquals([frame.push(bytes(' {"a"')), frame.push(bytes(":1}"))], [[], []]);
  assertEquals(texts(frame.end()), [' {"a":1}']);
});
