import { assert, assertEquals, assertMatch } from "@std/assert";
import type { McpToolResult } from "../../../../src/local_tools/mcp.ts";
import { LongResults, MAX_PART_CHARACTERS } from "../../../../src/gateway/search/long_results.ts";

const textOf = ({ content }: McpToolResult, index = 0) => String(content[index]?.text);

Deno.test("a result that is not long stays as it is", () => {
  const result = { content: [{ type: "text" as const, text: "short" }], structuredContent: { short: true } };
  assertEquals(new LongResults().shorten(result), result);
});

Deno.test("a long text comes in parts by a handle, and pictures stay", () => {
  const results = new LongResults();
  const text = "line\n".repeat(MAX_PART_CHARACTERS / 4);
  const picture = { type: "image" as const, data: "AA==", mimeType: "image/png" };
  const first = results.shorten({ content: [{ type: "text" as const, text }, picture] });
  assertEquals(first.content[1], picture);
  const [, handle = ""] = /handle "([^"]+)", part 2/.exec(textOf(first, 2)) ?? [];
  const second = results.read(handle, 2);
  assertEquals(textOf(first) + textOf(second), text);
  assertMatch(textOf(second, 1), /part 2 of 2: the last one/);
  assertMatch(textOf(results.read(handle, 3)), /No part 3: this result has 2 parts/);
  assertMatch(textOf(results.read("unknown", 1)), /call the tool again/);
});

Deno.test("a long structure comes in parts of its JSON", () => {
  const results = new LongResults();
  const structuredContent = { rows: Array.from({ length: 2_000 }, (_, index) => ({ index, name: "a row" })) };
  const first = results.shorten({ content: [], structuredContent });
  assertEquals(first.structuredContent, undefined);
  const [, handle = ""] = /part 1 of 3: go on with read_result, handle "([^"]+)"/.exec(textOf(first, 1)) ??
    [];
  const parts = [first, results.read(handle, 2), results.read(handle, 3)].map((page) => textOf(page));
  assertEquals(JSON.parse(parts.join("")), structuredContent);
});

Deno.test("a long text is cut at the end of a line, and never within an emoji", () => {
  const results = new LongResults();
  const partsOf = (text: string) => {
    const first = results.shorten({ content: [{ type: "text" as const, text }] });
    const [, handle = ""] = /handle "([^"]+)"/.exec(textOf(first, 1)) ?? [];
    return [textOf(first), textOf(results.read(handle, 2))];
  };
  const lines = "a line of text\n".repeat(3_000);
  const [one = "", other] = partsOf(lines);
  assertEquals([one.endsWith("\n"), one + other], [true, lines]);
  // A family of four is one character of eleven code units.
  const families = "👨‍👩‍👧‍👦".repeat(4_000);
  for (const part of partsOf(families)) assertEquals(part.replaceAll("👨‍👩‍👧‍👦", ""), "");
});

Deno.test("a long structure that the texts do not tell is not lost", () => {
  const structuredContent = { rows: Array.from({ length: 3_000 }, () => "the same row") };
  const content = [{ type: "text" as const, text: "Found 3000 rows" }];
  const result = new LongResults().shorten({ content, structuredContent });
  assertEquals(textOf(result), "Found 3000 rows");
  assert(textOf(result, 1).startsWith('{"rows":["the same row",'));
});

Deno.test("a long structure that a text tells as well comes once", () => {
  const structuredContent = { rows: Array.from({ length: 3_000 }, (_, index) => ({ index, name: "a row" })) };
  const content = [{ type: "text" as const, text: JSON.stringify(structuredContent) }];
  const told = new LongResults().shorten({ content, structuredContent });
  const untold = new LongResults().shorten({ content: [], structuredContent });
  const countOf = (result: McpToolResult) => /part 1 of (\d+)/.exec(textOf(result, 1))?.[1];
  assertEquals(countOf(told), countOf(untold));
});

Deno.test("what a structure repeats of the content comes once", () => {
  const results = new LongResults();
  const text = "line\n".repeat(MAX_PART_CHARACTERS);
  const rows = Array.from({ length: 3_000 }, (_, index) => ({ index, name: "a row" }));
  const picture = { type: "image" as const, data: "A".repeat(60_000), mimeType: "image/png" };
  const items = rows.map((row) => ({ type: "text" as const, text: JSON.stringify(row, null, 1) }));
  for (
    const { content, structuredContent } of [
      { content: [{ type: "text" as const, text }], structuredContent: { content: text } },
      { content: [picture], structuredContent: { content: [picture] } },
      { content: items, structuredContent: { result: rows } },
    ]
  ) {
    const repeated = results.shorten({ content, structuredContent });
    const withoutHandle = (items: McpToolResult["content"]) =>
      JSON.stringify(items).replace(/handle \S+/, "handle");
    assertEquals(repeated.structuredContent, undefined);
    assertEquals(withoutHandle(repeated.content), withoutHandle(results.shorten({ content }).content));
  }
});

Deno.test("what a structure has beside a text that it repeats is not lost", () => {
  const text = "x".repeat(MAX_PART_CHARACTERS);
  const structuredContent = { stdout: text, code: 3, words: ["short"] };
  const results = new LongResults();
  const first = results.shorten({ content: [{ type: "text" as const, text }], structuredContent });
  const [, handle = ""] = /part 1 of 3: go on with read_result, handle "([^"]+)"/.exec(textOf(first, 1)) ??
    [];
  assertEquals(textOf(first), text);
  assertEquals(
    JSON.parse([2, 3].map((part) => textOf(results.read(handle, part))).join("")),
    structuredContent,
  );
});

Deno.test("many texts that are long together come in parts", () => {
  const results = new LongResults();
  const texts = Array.from({ length: 30 }, (_, index) => `${index} ${"y".repeat(9_000)}`);
  const first = results.shorten({ content: texts.map((text) => ({ type: "text" as const, text })) });
  const [, handle = "", count = ""] = /part 1 of (?=\d+: go on with read_result, handle "([^"]+)")(\d+)/
    .exec(textOf(first, first.content.length - 1)) ?? [];
  const rest = Array.from({ length: Number(count) - 1 }, (_, index) => results.read(handle, index + 2));
  const pages = [first, ...rest].map(({ content }) => content.slice(0, -1).map(({ text }) => String(text)));
  assertEquals(pages.flat(), texts);
  for (const page of pages) assert(page.join("").length <= MAX_PART_CHARACTERS);
});

Deno.test("the text of an embedded resource comes in parts that are resources", () => {
  const resource = { uri: "file:///log.txt", mimeType: "text/plain", text: "z".repeat(60_000) };
  const results = new LongResults();
  const first = results.shorten({ content: [{ type: "resource" as const, resource }] });
  const [, handle = ""] = /handle "([^"]+)", part 2/.exec(textOf(first, 1)) ?? [];
  const parts = [first, results.read(handle, 2), results.read(handle, 3)].map(({ content }) =>
    content[0]?.["resource"] as typeof resource
  );
  assertEquals(parts.map(({ uri }) => uri), Array(3).fill("file:///log.txt"));
  assertEquals(parts.map(({ text }) => text).join(""), resource.text);
});

Deno.test("a result that nobody has read for half an hour is forgotten", () => {
  let nowMs = 0;
  const results = new LongResults({ now: () => nowMs });
  const long = { content: [{ type: "text" as const, text: "x".repeat(MAX_PART_CHARACTERS + 1) }] };
  const handle = /handle "([^"]+)"/.exec(textOf(results.shorten(long), 1))?.[1] ?? "";
  nowMs += 29 * 60_000;
  assertEquals(textOf(results.read(handle, 2)), "x");
  nowMs += 29 * 60_000;
  assertEquals(textOf(results.read(handle, 2)), "x");
  nowMs += 31 * 60_000;
  assertMatch(textOf(results.read(handle, 2)), /call the tool again/);
});

Deno.test("a result that was read is kept longer than others", () => {
  const results = new LongResults();
  const long = { content: [{ type: "text" as const, text: "x".repeat(MAX_PART_CHARACTERS + 1) }] };
  const handleOf = () => /handle "([^"]+)"/.exec(textOf(results.shorten(long), 1))?.[1] ?? "";
  const [read, other] = [handleOf(), handleOf()];
  results.read(read, 2);
  for (let count = 0; count < 199; count++) handleOf();
  assertEquals(textOf(results.read(read, 2)), "x");
  assertMatch(textOf(results.read(other, 2)), /call the tool again/);
});

Deno.test("the oldest results are forgotten", () => {
  const results = new LongResults();
  const text = "x".repeat(MAX_PART_CHARACTERS + 1);
  const handleOf = () =>
    /handle "([^"]+)"/.exec(textOf(results.shorten({ content: [{ type: "text" as const, text }] }), 1))
      ?.[1] ?? "";
  const oldest = handleOf();
  for (let count = 0; count < 200; count++) handleOf();
  assertMatch(textOf(results.read(oldest, 2)), /call the tool again/);
});
