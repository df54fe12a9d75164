import { assertEquals, assertMatch } from "@std/assert";
import type { McpToolResult } from "../../../../src/agent/toolkit/mcp.ts";
import { LongResults, MAX_PART_CHARACTERS } from "../../../../src/gateway/search/long_results.ts";

const textOf = ({ content }: McpToolResult, index = 0) => String(content[index]?.["text"]);

Deno.test("a result that is not long stays as it is", () => {
  const result = { content: [{ type: "text", text: "short" }], structuredContent: { short: true } };
  assertEquals(new LongResults().shorten(result), result);
});

Deno.test("a long text comes in parts by a handle, and pictures stay", () => {
  const results = new LongResults();
  const text = "line\n".repeat(MAX_PART_CHARACTERS / 4);
  const picture = { type: "image", data: "AA==", mimeType: "image/png" };
  const first = results.shorten({ content: [{ type: "text", text }, picture] });
  assertEquals(first.content[2], picture);
  const [, handle = ""] = /handle "([^"]+)", part 2/.exec(textOf(first, 1)) ?? [];
  const second = results.read(handle, 2);
  assertEquals(textOf(first) + textOf(second), text);
  assertMatch(textOf(second, 1), /part 2 of 2: the last one/);
  assertMatch(textOf(results.read(handle, 3)), /No part 3: this result has 2 parts/);
  assertMatch(textOf(results.read("unknown", 1)), /call the tool again/);
});

Deno.test("a long structure comes in parts that are JSON", () => {
  const results = new LongResults();
  const structuredContent = { rows: Array.from({ length: 3_000 }, (_, index) => ({ index, name: "a row" })) };
  const first = results.shorten({ content: [], structuredContent });
  assertEquals(first.structuredContent, undefined);
  JSON.parse(textOf(first));
  assertMatch(textOf(first, 1), /part 1 of \d, \$\.rows\[0\.\.\d+\]: go on with read_result/);
});

Deno.test("the oldest results are forgotten", () => {
  const results = new LongResults();
  const text = "x".repeat(MAX_PART_CHARACTERS + 1);
  const handleOf = () =>
    /handle "([^"]+)"/.exec(textOf(results.shorten({ content: [{ type: "text", text }] }), 1))?.[1] ?? "";
  const oldest = handleOf();
  for (let count = 0; count < 200; count++) handleOf();
  assertMatch(textOf(results.read(oldest, 2)), /call the tool again/);
});
