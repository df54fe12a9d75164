import { assertEquals } from "@std/assert";
import { withAccents } from "../../../src/formats/pdf/accents.ts";
import type { TextItem } from "../../../src/formats/pdf/lines.ts";

/** Texts with letters of 5 points, each of which begins so far before the end of the one before. */
function textsOf(...parts: readonly (readonly [text: string, over?: number, up?: number])[]): string[] {
  let end = 50;
  const items = parts.map(([str, over = 0, up = 0]): TextItem => {
    const x = end - over;
    const width = [...str].length * 5;
    end = x + width;
    const transform = [10, 0, 0, 10, x, 700 + up];
    return { str, dir: "ltr", width, height: 10, transform, fontName: "a", hasEOL: false };
  });
  return withAccents(items, (item): item is TextItem => "str" in item).map(({ str }) => str);
}

Deno.test("an accent that is drawn over a letter becomes a part of it, whatever comes first", () => {
  assertEquals(textsOf(["M¨"], ["uller", 5]), ["M", "üller"]);
  assertEquals(textsOf(["Caf´"], ["e d´", 5], ["ej`", 4], ["a", 5]), ["Caf", "é d", "éj", "à"]);
  assertEquals(textsOf(["na¨"], ["ıve", 5]), ["na", "ïve"]);
  assertEquals(textsOf(["¨", 0, 3], ["Ubung", 5]), ["", "Übung"]);
  assertEquals(textsOf(["fu"], ["\u0308r", 4]), ["fü", "r"]);
});

Deno.test("an accent beside a letter, over another line or without such a letter stays", () => {
  const apart = [[["It´s l´eau"]], [["the `"], ["a"]], [["M¨"], ["uller", 5, 12]], [["x˜"], [
    "q",
    5,
  ]]] as const;
  for (const parts of apart) assertEquals(textsOf(...parts), parts.map(([text]) => text));
});
