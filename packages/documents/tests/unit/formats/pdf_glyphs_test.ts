import { assertEquals } from "@std/assert";
import type { TextItem } from "../../../src/formats/pdf/lines.ts";
import { correctByGlyphs, withSigns } from "../../../src/formats/pdf/text_gaps.ts";
import { operatorsOf } from "../../../src/formats/pdf/operators.ts";

const { numbers } = await operatorsOf({ getOperatorList: () => ({ fnArray: [], argsArray: [] }) } as never);

/** What a page that writes glyphs from left to right, half as wide as high, tells of the text that PDF.js makes of them. */
function corrected(
  str: string,
  glyphs: readonly string[],
  { apart = 0, correct = correctByGlyphs<never> } = {},
): string {
  const texts = glyphs.map((unicode) => ({ unicode, width: 500, isSpace: unicode === " " }));
  const list = [
    [numbers.beginText, []],
    [numbers.setFont, ["F", 10]],
    [numbers.setCharSpacing, [apart]],
    [numbers.setTextMatrix, [[1, 0, 0, 1, 50, 700]]],
    [numbers.showText, [texts]],
  ] as const;
  const width = glyphs.length * (5 + apart);
  const item: TextItem = {
    str,
    dir: "ltr",
    width,
    height: 10,
    transform: [10, 0, 0, 10, 50, 700],
    fontName: "a",
    hasEOL: false,
  };
  const [first] = correct([item], { list, numbers });
  return first !== undefined && "str" in first ? first.str : "";
}

Deno.test("a glyph of several letters that run to the left keeps their order", () => {
  const peace = ["م", "لا", "س", "ل", "ا"];
  assertEquals(corrected("السالم", peace), "السلام");
  assertEquals(corrected("ال 12 السالم", [...peace, " ", "1", "2", " ", "لا"]), "لا 12 السلام");
  assertEquals(corrected("الكتاب", [..."باتكلا"]), "الكتاب");
  // Glyphs that are not those of the text change nothing.
  assertEquals(corrected("السالم", ["لا"]), "السالم");
});

Deno.test("letters that are set apart are words", () => {
  assertEquals(
    corrected("A N N U A L R E P O R T 2 0 2 6", [..."ANNUAL REPORT 2026"], { apart: 2 }),
    "ANNUAL REPORT 2026",
  );
  assertEquals(corrected("A B C D", [..."A B C D"]), "A B C D");
  assertEquals(corrected("1 2 3 4 5", [..."12345"], { apart: 2 }), "1 2 3 4 5");
});

Deno.test("a sign whose glyph stands for a space as well is no space", () => {
  const written = (str: string, glyphs: readonly string[]) =>
    corrected(str, glyphs, { correct: withSigns<never> });
  assertEquals(written("1,540 0", [..."1,540", " .", "0"]), "1,540.0");
  assertEquals(written("1 5 to 2 0", ["1", " .", "5", " ", "t", "o", " ", "2", " .", "0"]), "1.5 to 2.0");
  assertEquals(written(" ", [" ."]), ".");
  assertEquals(written("a b", ["a", " ", "b"]), "a b");
  assertEquals(written(" ", [" .", " .", " .", " ."]), " ");
});
