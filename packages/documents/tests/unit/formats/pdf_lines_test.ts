import { assertEquals } from "@std/assert";
import { type TextItem, textOf, toLines, withoutForms } from "../../../src/formats/pdf/lines.ts";

/** A text whose letters are half as wide as they are high. */
function item(x: number, str: string, { y = 700, size = 10 } = {}): TextItem {
  return {
    str,
    dir: /[\u0590-\u08ff]/.test(str) ? "rtl" : "ltr",
    width: str.length * size / 2,
    height: size,
    transform: [size, 0, 0, size, x, y],
    fontName: "a",
    hasEOL: false,
  };
}

type Part = readonly [text: string, up?: number, size?: number];

/** The line that parts beside each other are; each is set so far above the base line, in letters of this size. */
function lineOf(parts: readonly Part[]): string[] {
  let x = 50;
  const items = parts.map(([text, up = 0, size = 10]) => {
    const placed = item(x, text.trimEnd(), { y: 700 + up, size });
    x += text.length * size / 2;
    return placed;
  });
  return toLines(items).map(textOf);
}

Deno.test("raised and lowered letters of a PDF page are no part of the number or word before them", () => {
  const lines: readonly (readonly [line: string, parts: readonly Part[]])[] = [
    ["makes 10⁶ units", [["makes 10"], ["6 ", 4, 6], ["units"]]],
    ["CO₂ and H₂SO₄", [["CO"], ["2 ", -1.5, 7], ["and H"], ["2", -1.5, 7], ["SO"], ["4", -1.5, 7]]],
    ["10⁻³ m²", [["10"], ["−3 ", 4, 6], ["m"], ["2", 4, 6]]],
    ["x^(q,1) is", [["x"], ["q", 4, 7], [",", 4, 7], ["1 ", 4, 7], ["is"]]],
    ["a_(q) is", [["a"], ["q ", -2, 7], ["is"]]],
    ["a note.¹² It", [["a note."], ["12 ", 4, 6], ["It"]]],
    ["¹ The note", [["1", 4, 6], ["The note"]]],
    ["the 1st and 2nd of", [["the 1"], ["st ", 4, 6], ["and 2"], ["nd ", 4, 6], ["of"]]],
    ["Kit® and Box™* too", [["Kit"], ["® ", 4, 6], ["and Box"], ["™", 4, 6], ["* ", 4, 6], ["too"]]],
    ["LATEX is", [["L"], ["A", 2, 7], ["TEX is"]]],
    ["SMALL CAPS", [["S"], ["MALL ", 0, 8], ["C"], ["APS", 0, 8]]],
  ];
  assertEquals(lines.map(([, parts]) => lineOf(parts)), lines.map(([line]) => [line]));
});

/** The words of a line from the right to the left, letter by letter, each letter or number to the left of the one before. */
function lettersToLeft(text: string): TextItem[] {
  let x = 500;
  return text.split(/(?=[\p{Script=Hebrew}\p{Script=Arabic} ])|(?<=[\p{Script=Hebrew}\p{Script=Arabic} ])/u)
    .flatMap((part) => {
      x -= part.length * 5;
      // The letters of numbers and of other words run to the right.
      return [...part].map((letter, at) => item(x + at * 5, letter)).filter(({ str }) => str !== " ");
    });
}

const TO_LEFT = [
  "שלום עולם זה ספר טוב",
  "בשנת 2026 נמכרו 1,250 ספרים",
  "הספר של Ada עולה 3.5% יותר",
  "السلام عليكم ورحمة الله",
  "في عام 2026 كتاب جديد",
];

Deno.test("a line that runs to the left is read in its order, whatever the order of its letters in the file", () => {
  for (const text of TO_LEFT) {
    const letters = lettersToLeft(text);
    const words = text.split(" ").reduce((placed: TextItem[], word) => {
      const right = placed.at(-1)?.transform[4] ?? 505;
      return [...placed, item(right - 5 - word.length * 5, word)];
    }, []);
    const orders = [letters, letters.toReversed(), ...(/Ada/.test(text) ? [] : [words])];
    for (const order of orders) {
      assertEquals(toLines(order).map(textOf), [text]);
    }
  }
});

Deno.test("letters that run to the left in a line that does not keep their word, and columns stay apart", () => {
  const word = [..."שלום"].map((letter, at) => item(115 - at * 5, letter));
  assertEquals(toLines([item(50, "The word"), ...word, item(125, "means peace.")]).map(textOf), [
    "The word שלום means peace.",
  ]);
  const row = [item(400, "ספר"), item(300, "12"), item(200, "3")];
  assertEquals(toLines(row).map(({ pieces }) => pieces.map(({ text }) => text)), [["3", "12", "ספר"]]);
});

Deno.test("the forms of Arabic letters are the letters that one searches", () => {
  assertEquals(withoutForms("ﺍﻟﺴﻼﻡ ﻋﻠﻴﻜﻢ ﷲ ﭘﮋ ﻻ ﹰ"), "السلام عليكم الله پژ لا ً");
  assertEquals(withoutForms("fine ½ Ⅳ שלום"), "fine ½ Ⅳ שלום");
});
