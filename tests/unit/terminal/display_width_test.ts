import { assert, assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import {
  cropToWidth,
  displayWidth,
  linesOf,
  padToWidth,
  wrapToWidth,
} from "../../../src/terminal/display_width.ts";
import { sized } from "../../fixtures/test_size.ts";

const texts = fc.string({
  unit: fc.constantFrom("a", "b", " ", "中", "é", "e\u0301", "👩‍👩‍👧", "🎉", "-", "한"),
  maxLength: 60,
});
const runs: fc.Parameters<unknown> = { numRuns: sized({ reduced: 100, full: 20_000 }) };

Deno.test("displayWidth() counts two columns for wide characters and emoji, none for combining marks", () => {
  const widths: [string, number][] = [
    ["", 0],
    ["abc", 3],
    ["年度报告", 8],
    ["a中b", 4],
    ["e\u0301", 1],
    ["🎉", 2],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["한글", 4],
    ["ﾊﾟ", 2],
    ["…─│", 3],
  ];
  for (const [text, width] of widths) assertEquals(displayWidth(text), width, text);
});

Deno.test("cropToWidth() crops between characters and adds …", () => {
  assertEquals(cropToWidth("abcdef", 6), "abcdef");
  assertEquals(cropToWidth("abcdef", 5), "abcd…");
  assertEquals(cropToWidth("年度报告", 6), "年度…");
  assertEquals(cropToWidth("年度报告", 7), "年度报…");
  assertEquals(cropToWidth("👩‍👩‍👧👩‍👩‍👧", 3), "👩‍👩‍👧…");
  assertEquals(cropToWidth("abc", 1), "…");
  assertEquals(cropToWidth("abc", 0), "");
  assertEquals(cropToWidth("x".repeat(10_000_000), 3), "xx…");
});

Deno.test("padToWidth() pads on the left or the right", () => {
  assertEquals(padToWidth("年", 4), "年  ");
  assertEquals(padToWidth("年", 4, "right"), "  年");
  assertEquals(padToWidth("abcde", 4), "abcde");
});

Deno.test("wrapToWidth() breaks at spaces, else within words", () => {
  assertEquals(wrapToWidth("one two three", 9), ["one two", "three"]);
  assertEquals(wrapToWidth("one two three", 7), ["one two", "three"]);
  assertEquals(wrapToWidth("abcdefghij", 4), ["abcd", "efgh", "ij"]);
  assertEquals(wrapToWidth("服务已启动", 4), ["服务", "已启", "动"]);
  assertEquals(wrapToWidth("    indented text", 12), ["    indented", "text"]);
  assertEquals(wrapToWidth("", 4), [""]);
});

Deno.test("wrapToWidth() keeps everything but spaces, and no line is too wide", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 20 }), (text, width) => {
      const lines = wrapToWidth(text, width);
      for (const line of lines) assert(displayWidth(line) <= width, `"${line}" is wider than ${width}`);
      assertEquals(lines.join("").replaceAll(" ", ""), text.replaceAll(" ", ""));
    }),
    runs,
  );
});

Deno.test("cropToWidth() and padToWidth() together return exactly the width", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, width) => {
      assertEquals(displayWidth(padToWidth(cropToWidth(text, width), width)), width);
    }),
    runs,
  );
});

Deno.test("linesOf() returns lines with tabs expanded to spaces", () => {
  assertEquals([...linesOf("a\n\nb\n")], ["a", "", "b", ""]);
  assertEquals([...linesOf("\ta\n中\tb\n12345678\tc")], ["        a", "中      b", "12345678        c"]);
});
