import { assertEquals } from "@std/assert";
import { formatOrdinal } from "../../../src/formats/number_formats.ts";
import { docxOf } from "../../fixtures/office.ts";
import { markdownOf, openFile } from "./_open.ts";

const lvl = (level: number, format: string, text: string, more = "") =>
  `<w:lvl w:ilvl="${level}"><w:start w:val="1"/><w:numFmt w:val="${format}"/>${more}<w:lvlText w:val="${text}"/>` +
  `<w:pPr><w:ind w:left="${(level + 1) * 360}"/></w:pPr></w:lvl>`;
const kind = (id: string, levels: string) =>
  `<w:abstractNum w:abstractNumId="${id}">${levels}</w:abstractNum>`;
const num = (id: string, kind: string, overrides = "") =>
  `<w:num w:numId="${id}"><w:abstractNumId w:val="${kind}"/>${overrides}</w:num>`;
const startAt = (level: number, start: number) =>
  `<w:lvlOverride w:ilvl="${level}"><w:startOverride w:val="${start}"/></w:lvlOverride>`;

/** A paragraph: its list as `id` or `id/level`, its style, and its text. */
function p(list: string, text: string, style = ""): string {
  const [id = "", level] = list.split("/");
  const numbers = list === ""
    ? ""
    : `<w:numPr>${level === undefined ? "" : `<w:ilvl w:val="${level}"/>`}<w:numId w:val="${id}"/></w:numPr>`;
  return `<w:p><w:pPr><w:pStyle w:val="${style}"/>${numbers}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
}

async function read(numbering: string, body: string, styles = ""): Promise<string> {
  const document = await openFile(
    "a.docx",
    docxOf(body, {
      related: [["n", "numbering", "numbering.xml"], ["s", "styles", "styles.xml"]],
      parts: {
        "word/numbering.xml": `<w:numbering xmlns:w="w">${numbering}</w:numbering>`,
        "word/styles.xml": `<w:styles xmlns:w="w">${styles}</w:styles>`,
      },
    }),
  );
  return (await markdownOf(document)).join("\n").replaceAll("\n\n", "\n");
}

Deno.test("items of lists have the numbers that their author sees", async () => {
  const legal = lvl(0, "decimal", "%1.") + lvl(1, "decimal", "%1.%2") + lvl(2, "lowerLetter", "(%3)");
  const inputs: readonly (readonly [name: string, numbering: string, body: string, markdown: string])[] = [
    [
      "levels in levels",
      kind("0", legal) + num("1", "0"),
      p("1/0", "a") + p("1/1", "b") + p("1/2", "c") + p("1/1", "d") + p("1/2", "e") + p("1/0", "f") +
      p("1/1", "g"),
      "1. a\n   - 1.1 b\n     - (a) c\n   - 1.2 d\n     - (a) e\n2. f\n   - 2.1 g",
    ],
    [
      "a list that is interrupted goes on",
      kind("0", legal) + num("1", "0") + num("2", "0"),
      p("1", "a") + p("", "text") + p("1", "b") + p("", "text") + p("2", "c"),
      "1. a\ntext\n2. b\ntext\n3. c",
    ],
    [
      "a list that starts again",
      kind("0", legal) + num("1", "0") + num("2", "0", startAt(0, 1)) + num("3", "0", startAt(0, 7)),
      p("1", "a") + p("1", "b") + p("2", "c") + p("2", "d") + p("3", "e"),
      "1. a\n2. b\n<!-- -->\n1. c\n2. d\n<!-- -->\n7. e",
    ],
    [
      "lists of their own",
      kind("0", legal) + kind("1", legal) + num("1", "0") + num("2", "1"),
      p("1", "a") + p("2", "b") + p("1", "c"),
      "1. a\n<!-- -->\n1. b\n2. c",
    ],
    [
      "a start, and a level that is not shown before",
      kind("0", legal.replace('w:start w:val="1"', 'w:start w:val="5"')) + num("1", "0"),
      p("1/1", "a") + p("1/0", "b"),
      "- 5.1 a\n5. b",
    ],
    [
      "a level that does not begin again",
      kind("0", lvl(0, "decimal", "%1.") + lvl(1, "decimal", "§%2", '<w:lvlRestart w:val="0"/>')) +
      num("1", "0"),
      p("1/0", "a") + p("1/1", "b") + p("1/0", "c") + p("1/1", "d"),
      "1. a\n   - §1 b\n2. c\n   - §2 d",
    ],
    [
      "levels of another look",
      kind("0", legal) +
      num("1", "0", `<w:lvlOverride w:ilvl="0">${lvl(0, "upperRoman", "%1)")}</w:lvlOverride>`),
      p("1/0", "a") + p("1/0", "b"),
      "- I) a\n- II) b",
    ],
    [
      "legal numbers",
      kind("0", lvl(0, "upperRoman", "Article %1.") + lvl(1, "decimal", "%1.%2", "<w:isLgl/>")) +
      num("1", "0"),
      p("1/0", "a") + p("1/0", "b") + p("1/1", "c"),
      "- Article I. a\n- Article II. b\n  - 2.1 c",
    ],
    [
      "legal numbers with zeros",
      kind("0", lvl(0, "upperRoman", "%1") + lvl(1, "decimalZero", "Section %1.%2", "<w:isLgl/>")) +
      num("1", "0"),
      p("1/1", "a"),
      "- Section 1.01 a",
    ],
    [
      "levels that skip one",
      kind("0", lvl(0, "bullet", "•") + lvl(1, "bullet", "•") + lvl(2, "bullet", "•")) + num("1", "0"),
      p("1/0", "a") + p("1/2", "b") + p("1/1", "c") + p("1/2", "d") + p("1/0", "e"),
      "- a\n  - b\n  - c\n    - d\n- e",
    ],
    ["no number", kind("0", legal) + num("1", "0"), p("0", "a") + p("9", "b"), "a\nb"],
    [
      "a style of a list",
      kind("0", '<w:numStyleLink w:val="L"/>') + kind("1", lvl(0, "decimal", "No. %1")) + num("1", "0") +
      num("2", "1"),
      p("1", "a") + p("1", "b"),
      "- No. 1 a\n- No. 2 b",
    ],
    [
      "numbers in cells",
      kind("0", legal) + num("1", "0"),
      `<w:tbl><w:tr><w:tc>${p("1", "")}</w:tc><w:tc>${p("", "x")}</w:tc></w:tr><w:tr><w:tc>${
        p("1", "")
      }</w:tc><w:tc>${p("1/1", "y")}</w:tc></w:tr></w:tbl>`,
      "| 1. | x |\n| --- | --- |\n| 2. | 2.1 y |",
    ],
  ];
  const style = '<w:style w:styleId="L"><w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr></w:style>';
  for (const [name, numbering, body, markdown] of inputs) {
    assertEquals(await read(numbering, body, style), markdown, name);
  }
});

Deno.test("headings have the numbers of their styles", async () => {
  const heading = (level: number, numbers: string, more = "") =>
    `<w:style w:styleId="H${level}"><w:name w:val="heading ${level}"/>${more}<w:pPr><w:numPr>${numbers}</w:numPr></w:pPr></w:style>`;
  const named = (level: number) => `<w:pStyle w:val="H${level + 1}"/>`;
  const numbering =
    kind("0", lvl(0, "decimal", "Article %1", named(0)) + lvl(1, "decimal", "%1.%2", named(1))) +
    num("1", "0");
  const body = p("", "Scope", "H1") + p("", "Terms", "H2") + p("", "Costs", "H2") + p("", "Payment", "H1") +
    p("", "Due", "H2") + p("0", "Annex", "H1") + p("", "Own", "H3");
  const expected =
    "# Article 1 Scope\n## 1.1 Terms\n## 1.2 Costs\n# Article 2 Payment\n## 2.1 Due\n# Annex\n## 2.2 Own";
  const derived = '<w:style w:styleId="H3"><w:basedOn w:val="H2"/></w:style>';
  // The level is in the style, only named by the list, or the list is that of a style below.
  const id = '<w:numId w:val="1"/>';
  const inputs = [
    heading(1, id) + heading(2, `<w:ilvl w:val="1"/>${id}`),
    heading(1, id) + heading(2, id),
    heading(1, id) + heading(2, '<w:ilvl w:val="1"/>', '<w:basedOn w:val="H1"/>'),
  ];
  for (const styles of inputs) assertEquals(await read(numbering, body, styles + derived), expected);
});

Deno.test("numbers are written in the formats of Word", async () => {
  const inputs: readonly (readonly [format: string, text: string, labels: readonly string[]])[] = [
    ["decimalZero", "§%1", ["§01", "§02"]],
    ["upperLetter", "Exhibit %1:", ["Exhibit A:", "Exhibit B:"]],
    ["lowerLetter", "(%1)", ["(a)", "(b)"]],
    ["lowerRoman", "%1.", ["i.", "ii."]],
    ["ordinal", "%1", ["1st", "2nd"]],
    ["cardinalText", "Part %1", ["Part One", "Part Two"]],
    ["ordinalText", "%1", ["First", "Second"]],
    ["chineseCounting", "第%1条", ["第一条", "第二条"]],
    ["japaneseCounting", "%1、", ["一、", "二、"]],
    ["decimalEnclosedCircle", "%1", ["①", "②"]],
    ["ideographTraditional", "%1", ["甲", "乙"]],
    ["none", "Note:", ["Note:", "Note:"]],
    ["bullet", "Note:", ["Note:", "Note:"]],
    ["koreanCounting", "%1.", ["일.", "이."]],
    ["chineseLegalSimplified", "%1、", ["壹、", "贰、"]],
    ["ganada", "%1.", ["가.", "나."]],
    ["russianLower", "%1)", ["а)", "б)"]],
  ];
  for (const [format, text, [first, second]] of inputs) {
    const numbering = kind("0", lvl(0, format, text)) + num("1", "0");
    assertEquals(await read(numbering, p("1", "a") + p("1", "b")), `- ${first} a\n- ${second} b`);
  }
  const custom = lvl(0, "custom", "%1").replace('"custom"', '"custom" w:format="001, 002, 003, ..."');
  assertEquals(await read(kind("0", custom) + num("1", "0"), p("1", "a")), "- 001 a");
});

Deno.test("formatOrdinal() counts on where the signs end", () => {
  const numbers = [4, 10, 11, 14, 19, 20, 21, 27, 28, 40, 90, 105, 110, 1990];
  const inputs: readonly (readonly [format: string, labels: string])[] = [
    ["lowerRoman", "iv x xi xiv xix xx xxi xxvii xxviii xl xc cv cx mcmxc"],
    ["upperLetter", "D J K N S T U AA BB NN LLLL AAAAA FFFFF 1990"],
    [
      "chineseCounting",
      "四 十 十一 十四 十九 二十 二十一 二十七 二十八 四十 九十 一百〇五 一百一十 一千九百九十",
    ],
    [
      "koreanCounting",
      "사 십 십일 십사 십구 이십 이십일 이십칠 이십팔 사십 구십 일백영오 일백일십 일천구백구십",
    ],
    ["ordinal", "4th 10th 11th 14th 19th 20th 21st 27th 28th 40th 90th 105th 110th 1990th"],
    [
      "ordinalText",
      "Fourth Tenth Eleventh Fourteenth Nineteenth Twentieth Twenty-first Twenty-seventh Twenty-eighth Fortieth Ninetieth 105th 110th 1990th",
    ],
    ["unknown", numbers.join(" ")],
  ];
  for (const [format, labels] of inputs) {
    assertEquals(numbers.map((number) => formatOrdinal(number, format)).join(" "), labels);
  }
});

Deno.test("items below more levels than are shown are kept", async () => {
  const deep = Array.from(
    { length: 5_000 },
    (_, level) =>
      `<w:p><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:ind w:left="${level}"/></w:pPr><w:r><w:t>${level}</w:t></w:r></w:p>`,
  );
  const markdown = await read(kind("0", lvl(0, "bullet", "•")) + num("1", "0"), deep.join(""));
  assertEquals(markdown.match(/\d+/g)?.length, 5_000);
});
