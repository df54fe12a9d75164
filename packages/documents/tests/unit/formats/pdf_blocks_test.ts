import { assert, assertEquals } from "@std/assert";
import { isBoldName, lookOf, toBlocks } from "../../../src/formats/pdf/blocks.ts";
import { type TextItem, toLines } from "../../../src/formats/pdf/lines.ts";

/** A text of 10 points. */
function textAt(x: number, y: number, str: string): TextItem {
  return {
    str,
    dir: "ltr",
    width: str.length * 5,
    height: 10,
    transform: [10, 0, 0, 10, x, y],
    fontName: "a",
    hasEOL: false,
  };
}

function blocksOf(items: readonly TextItem[]): unknown[] {
  const lines = toLines(items);
  return toBlocks(lines, lookOf(lines, () => false)).map(({ content }) => content);
}

/** The most time, in milliseconds; work that grows with the square of the lines takes more than a minute. */
const DEADLINE_MS = 20_000;

Deno.test("the time for a page grows with the number of its lines, also when they are one item of a list", () => {
  const count = 40_000;
  const lines = Array.from({ length: count }, (_, n) => textAt(60, (count - n) * 12, "and more words"));
  const startMs = performance.now();
  const [list, ...others] = blocksOf([textAt(50, (count + 1) * 12, "• This"), ...lines]);
  assert(performance.now() - startMs < DEADLINE_MS);
  assertEquals(list, { items: [["This", ...lines.map(({ str }) => str)].join(" ")] });
  assertEquals(others, []);
});

Deno.test("words divided at the ends of lines become one, and Chinese lines have no spaces between them", () => {
  const texts = ["The wea-", "ther in", "A-", "B and 天", "气很好"];
  assertEquals(blocksOf(texts.map((text, n) => textAt(50, 700 - n * 12, text))), [
    { text: "The weather in A- B and 天气很好" },
  ]);
});

Deno.test("words with hyphens of their own keep them at the ends of lines", () => {
  const divided = [["state-of-the-", "art"], ["three-year-", "old"], ["state-", "of-the-art"], [
    "mother-in-",
    "law",
  ], [
    "up-to-",
    "date",
  ], ["self-", "made"]];
  for (const [start = "", end = ""] of divided) {
    const [block] = blocksOf(
      [`It is ${start}`, `${end} and more.`].map((text, n) => textAt(50, 700 - n * 12, text)),
    );
    assertEquals(block, { text: `It is ${start}${end} and more.` });
  }
  for (
    const [start = "", end = ""] of [["imple-", "mentation"], ["hand-", "some"], ["conflict-res-", "olution"]]
  ) {
    const [block] = blocksOf(
      [`It is ${start}`, `${end} and more.`].map((text, n) => textAt(50, 700 - n * 12, text)),
    );
    assertEquals(block, { text: `It is ${start.slice(0, -1)}${end} and more.` });
  }
});

Deno.test("the lines of a title may be far apart, if they are in the same middle or in a sentence", () => {
  const titled = (first: string, second: string, x: number) => {
    const large = [textAt(100, 700, first), textAt(x, 660, second)]
      .map((item) => ({ ...item, width: item.width * 2, height: 20 }));
    return blocksOf([
      ...large,
      ...[600, 588, 576].map((y) => textAt(50, y, "The harvest of the year was good.")),
    ]);
  };
  assertEquals(titled("The harvest", "and its prices", 90)[0], {
    level: 1,
    text: "The harvest and its prices",
  });
  assertEquals(titled("THE PRICES", "OF HARVEST", 98)[0], { level: 1, text: "THE PRICES OF HARVEST" });
  assertEquals(titled("The harvest", "The prices", 100)[0], { level: 1, text: "The harvest" });
});

Deno.test("a bold line between those of a text is a heading where it is no part of their sentences", () => {
  const bold = "CMBX10";
  const [before, after] = [
    "The prices are those of the year.",
    "They were paid for the whole harvest of it.",
  ];
  const levels = (lines: readonly (readonly [text: string, fontName: string])[]) => {
    const items = lines.map(([text, fontName], n) => ({ ...textAt(50, 700 - n * 12, text), fontName }));
    return toBlocks(toLines(items), lookOf(toLines(items), isBoldName)).map(({ content }) => content);
  };
  assertEquals(levels([[before, "CMR10"], ["5.1 Prices", bold], [after, "CMR10"]]), [
    { text: before },
    { level: 1, text: "5.1 Prices" },
    { text: after },
  ]);
  const texts: readonly (readonly [before: string, line: string, after: string])[] = [
    ["We are glad to announce", "The Big Harvest", "that is told of in all papers of the year."],
    ["It is told.", "The year of the harvest was a good one", "for all of them."],
  ];
  for (const lines of texts) {
    const fonts = ["CMR10", bold, "CMR10"];
    assertEquals(levels(lines.map((text, at) => [text, fonts[at] ?? ""])), [{ text: lines.join(" ") }]);
  }
});

Deno.test("fonts are bold by their names", () => {
  const bold = [
    "ABCDEF+Helvetica-Bold",
    "CMBX12",
    "SFBX1000",
    "NimbusRomNo9L-Medi",
    "Futura-DemiBold",
    "CMSSBX10",
  ];
  assertEquals(bold.filter((name) => !isBoldName(name)), []);
  assertEquals(["CMR10", "Helvetica", "CMTI10", "FuturaMedium"].filter(isBoldName), []);
});
