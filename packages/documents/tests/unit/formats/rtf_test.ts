import { assertEquals, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { markdownOf, openFile } from "./_open.ts";

/** The Markdown of the pages of a file with this body. */
async function markdownFor(body: string, head = "\\ansi\\ansicpg1252\\deff0"): Promise<string[]> {
  return await markdownOf(await openFile("a.rtf", `{\\rtf1${head}${body}}`));
}

Deno.test("a Rich Text file has its headings, paragraphs, links, notes and forms of letters", async () => {
  const document = await openFile(
    "a.rtf",
    "{\\rtf1\\ansi{\\fonttbl{\\f0\\fcharset204 Times;}}{\\stylesheet{\\s1\\outlinelevel0 heading 1;}}" +
      "{\\info{\\title Plan}{\\author Ada}{\\keywords fruit, yield}{\\creatim\\yr2026\\mo1\\dy2\\hr10\\min5}}" +
      "{\\header\\pard Draft\\par}{\\footer {\\field{\\*\\fldinst PAGE}{\\fldrslt 3}}}" +
      "\\pard\\s1 Goals\\par\\pard The yield of 10{\\super 6} {\\strike pears}{\\v secret} \\u8364?5\\~000{\\f0 \\'c0\\'e1}.\\line Next" +
      '{\\field{\\*\\fldinst HYPERLINK "http://example.com/a"}{\\fldrslt {\\ul site}}}{\\footnote\\pard {\\super\\chftn} A note.}' +
      "{\\*\\atnauthor Bob}{\\*\\annotation\\pard Why?}\\par{\\*\\unknown lost}\\pard\\page Second\\par}",
  );
  const { title, keywords, about, losses } = document.facts;
  assertEquals([title, keywords], ["Plan", ["fruit", "yield"]]);
  assertEquals(about, { author: "Ada", created: "2026-01-02T10:05" });
  assertEquals(losses, ["1 part of a kind that is not read: hidden text"]);
  assertEquals(await markdownOf(document), [
    "[header: Draft]\n\n# Goals\n\nThe yield of 10⁶ ~~pears~~ €5 000Аб.\nNextsite[1]\n\n[site](http://example.com/a)\n\n" +
    "[annotation: footnote 1: A note.]\n\n[annotation: Comment by Bob: Why?]",
    "Second",
  ]);
});

Deno.test("lists of Rich Text have the numbers that their author sees, written apart or in their text", async () => {
  const item = (mark: string, level: number, text: string) =>
    `{\\listtext ${mark}\\tab}\\pard\\ls1\\ilvl${level} ${text}\\par`;
  assertEquals(
    await markdownFor(
      item("1.", 0, "one") + item("(a)", 1, "inner") + item("2.", 0, "two") + "\\pard text\\par",
    ),
    ["1. one\n   - (a) inner\n2. two\n\ntext"],
  );
  assertEquals(
    await markdownFor(
      "{\\pard\\li360\\fi-360 \\bullet \\tx360\\tab one\\par}{\\pard\\li720\\bullet\\tab below\\par}{\\pard 1.\\tab no item\\par}",
    ),
    ["- one\n  - below\n\n1. no item"],
  );
});

Deno.test("tables of Rich Text are read, and tables in their cells as text", async () => {
  const row = (...cells: readonly string[]) =>
    `\\trowd\\cellx1\\cellx2 ${cells.map((cell) => `\\pard\\intbl ${cell}\\cell`).join("")}\\row`;
  assertEquals(
    await markdownFor(
      row("Name", "Tons") + row("Hill\\par x", "12") + "\\pard after\\par" + row("alone", ""),
    ),
    ["| Name | Tons |\n| --- | --- |\n| Hill<br>x | 12 |\n\nafter\n\n|  |  |\n| --- | --- |\n| alone |  |"],
  );
  const nested =
    "\\pard\\intbl\\itap2 A\\nestcell B\\nestcell{\\*\\nesttableprops\\nestrow}{\\nonesttables no}";
  assertEquals(await markdownFor(row(`${nested}end`, "x")), [
    "|  |  |\n| --- | --- |\n| A \\| B \\|<br>end | x |",
  ]);
});

Deno.test("pictures and boxes of Rich Text are read, others are named", async () => {
  const png = "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489";
  const document = await openFile(
    "a.rtf",
    `{\\rtf1{\\*\\shppict{\\pict\\pngblip\\picw1 ${png}}}{\\nonshppict{\\pict\\wmetafile8 00}}` +
      "{\\shp{\\*\\shpinst{\\sp{\\sn x}{\\sv y}}{\\shptxt\\pard Boxed\\par}}}{\\object{\\*\\objdata 00ff}{\\result Shown}}" +
      "{\\pict\\emfblip 0000}{\\upr{ansi}{\\*\\ud{unicode}}}\\par}",
  );
  const { elements } = await document.page(0);
  assertEquals(elements.map(({ category }) => category).sort(), ["image", "text", "text"]);
  assertEquals(document.facts.losses, ["2 parts of kinds that are not read: embedded object, picture (emf)"]);
  const text = JSON.stringify(elements);
  assertEquals(["Boxed", "Shown", "unicode", "ansi", "00ff"].map((word) => text.includes(word)), [
    true,
    true,
    true,
    false,
    false,
  ]);
});

Deno.test("hostile Rich Text is refused or read, whatever it opens and never closes", async () => {
  const refused = async (content: string) =>
    (await assertRejects(() => openFile("a.rtf", content), DocumentError)).code;
  assertEquals(await refused("plain text"), "damaged");
  assertEquals(await refused("{\\rtf1" + "{".repeat(100_000)), "too_large");
  assertEquals(await markdownFor("}}}}a\\par\\cell\\row\\cell\\fldrslt}{\\fldinst}"), ["a"]);
  assertEquals(await markdownFor("a\\bin99999999999 b"), ["a"]);
  assertEquals(await markdownFor("a\\bin-5 b\\u-10179?\\u-8704?\\uc99999 \\u65?"), ["ab\u{1f600}A"]);
  assertEquals(
    await markdownFor("{\\pict\\pngblip zz}{\\fonttbl{\\f99999999999}}<b>&amp;</b><img src=element:0>\\'"),
    [
      "<b>&amp;</b><img src=element:0>",
    ],
  );
  assertEquals((await markdownFor("\\pard\\ls1\\ilvl99999{\\listtext 1.}x\\par".repeat(3))).length, 1);
});
