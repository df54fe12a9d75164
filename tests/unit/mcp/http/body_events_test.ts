import { assertEquals, assertThrows } from "@std/assert";
import { BodyEvents } from "../../../../src/mcp/http/body_events.ts";

const limits = { maxMessageBytes: 100, maxMessageValues: 50 };
const bytes = (text: string) => new TextEncoder().encode(text);
const eventStream = { isEventStream: true };
const events = () => new BodyEvents(limits, eventStream);

/** All events of a text in pieces of so many bytes: their data, with the name of those that have one. */
function cut(text: string, size: number): string[] {
  const body = events();
  const all = bytes(text);
  const found: string[] = [];
  for (let start = 0; start < all.length; start += size) {
    for (const { name, data } of body.push(all.slice(start, start + size))) {
      found.push(name === undefined ? data : `${name}: ${data}`);
    }
  }
  return found;
}

Deno.test("events end at empty lines, whatever the line endings and the chunks", () => {
  for (const end of ["\n", "\r", "\r\n"]) {
    const text = ["event: endpoint", "data: /mcp", "", "data:a", "data: ü", "", "data: half"].join(end);
    for (let size = 1; size < 12; size++) {
      assertEquals(cut(text, size), ["endpoint: /mcp", "a\nü"], `${size}`);
    }
  }
});

Deno.test("comments are dropped, however many there are without an event", () => {
  for (const size of [1, 5, 1_000_000]) {
    assertEquals(cut(`${": ping\n".repeat(100)}data: a\n: x\n\n`, size), ["a"]);
  }
});

Deno.test("a wait that no timer can count is dropped, and hides no values of the event", () => {
  const waits = events().push(bytes("retry: 99999999999999999999\n\nretry: 3000\ndata: a\n\n"));
  assertEquals(waits.map(({ retryMs }) => retryMs), [undefined, 3_000]);
  assertThrows(
    () => events().push(bytes(`retry: "9999999999999\ndata: ${",".repeat(60)}`)),
    RangeError,
    "values",
  );
});

Deno.test("an event that is too long is rejected before its end, in bytes or in lines", () => {
  const body = events();
  body.push(bytes(`data: ${"x".repeat(94)}`));
  assertThrows(() => body.push(bytes("x")), RangeError, "more than 100 bytes");
  const many = new BodyEvents({ maxMessageBytes: 1_000_000, maxMessageValues: 1_000_000 }, eventStream);
  assertThrows(() => many.push(bytes("data:\n".repeat(10_001))), RangeError, "10000 lines");
});

Deno.test("an event with too many values is rejected, and other fields cannot hide them", () => {
  const list = `[${"[],".repeat(60)}0]`;
  assertThrows(() => events().push(bytes(`event: "\ndata: ${list.slice(0, 80)}`)), RangeError, "values");
});

Deno.test("an id is one that a header can carry back", () => {
  const text = 'data: identity\n\nid: 7\ndata: x\n\nid\ndata: x\n\nid: \u{1f600}\ndata: x\n\nid: a"b c\n\n';
  assertEquals(events().push(bytes(text)).map(({ id }) => id), [
    undefined,
    "7",
    undefined,
    undefined,
    'a"b c',
  ]);
});

Deno.test("a JSON body is one event", () => {
  const body = new BodyEvents(limits, { isEventStream: false });
  assertEquals([body.push(bytes(' {"a"')), body.push(bytes(":1}"))], [[], []]);
  assertEquals(body.end(), [{ data: ' {"a":1}' }]);
});
