import { assert, assertEquals, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { within } from "../../../../../tests/fixtures/within.ts";
import { openFile, pagesOf } from "./_open.ts";

Deno.test("a text is divided into pages at its top headings", async () => {
  const text =
    "Report\n======\n\nSales rose.\n\nNorth\n-----\n\nWell.\n\nSouth\n-----\n\n- one\n- two\n  and more\n";
  const document = await openFile("report.txt", text);
  assertEquals(await pagesOf(document), [
    ["Report", ["p0-heading-1", { level: 1, text: "Report" }], ["p0-text-1", { text: "Sales rose." }]],
    ["North", ["p1-heading-1", { level: 2, text: "North" }], ["p1-text-1", { text: "Well." }]],
    ["South", ["p2-heading-1", { level: 2, text: "South" }], ["p2-list-1", {
      items: ["one", "two\nand more"],
    }]],
  ]);
  assertEquals(document.facts.title, "Report");
  assertEquals(document.facts.headings, ["Report", "North", "South"]);
});

Deno.test("chapters that are numbered in words divide a text, in Chinese also without empty lines", async () => {
  const novel = await openFile(
    "novel.txt",
    "第一卷　海\n第一章 港口\n　　那天下雨。\n　　第二天也是。\n第二章 船\n　　第三章讲述了他的回忆。\n第二卷　山\n第12节总则\n　　完。\n",
  );
  assertEquals(novel.facts.headings, ["第一卷　海", "第一章 港口", "第二章 船", "第二卷　山", "第12节总则"]);
  assertEquals(novel.facts.pageTitles, ["第一卷　海", "第二卷　山"]);

  const book = await openFile(
    "book.txt",
    "PART I\n\nChapter 1: The Sea\n\nIt rained.\n\nChapter 2 tells it all.\n\nPart II of it\nwas long.\n\nPart II\n\nThe end.\n",
  );
  assertEquals(book.facts.headings, ["PART I", "Chapter 1: The Sea", "Part II"]);
});

Deno.test("neither a wrapped sentence nor an entry of a table of contents is a heading in Chinese", async () => {
  const line = "这份报告的读者若想了解本项目的来龙去脉，可以先读";
  const { facts } = await openFile(
    "report.txt",
    `第一章总则........1\n第二章 附则 …… 13\n第三章\t20\n\n第一章总则\n${line}\n第三章的开头\n几段。\n第二章附则\n${line}。\n第三章尾声\n`,
  );
  assertEquals(facts.headings, ["第一章总则", "第二章附则", "第三章尾声"]);
  const long = `${"第一章".repeat(50_000)}\n第一章的`;
  assertEquals((await openFile("long.txt", long.repeat(20))).facts.headings, []);
});

Deno.test("a text without headings is one page with the name of the file", async () => {
  const document = await openFile("notes.txt", "First.\n\nSecond\nline.\n");
  assertEquals(await pagesOf(document), [
    ["notes.txt", ["p0-text-1", { text: "First." }], ["p0-text-2", { text: "Second\nline." }]],
  ]);
});

Deno.test("form feeds divide a text into pages", async () => {
  const document = await openFile("old.txt", "One\f= Two\n\nMore");
  assertEquals(await pagesOf(document), [
    ["Page 1", ["p0-text-1", { text: "One" }]],
    ["Two", ["p1-heading-1", { level: 1, text: "Two" }], ["p1-text-1", { text: "More" }]],
  ]);
});

Deno.test("blocks of AsciiDoc and indented lines are code", async () => {
  const document = await openFile(
    "a.adoc",
    "----\nx = 1\n\ny = 2\n----\n\n    indented\n\n3. three\n4. four\n",
  );
  assertEquals(await pagesOf(document), [
    ["a.adoc", ["p0-code-1", { code: "x = 1\n\ny = 2" }], ["p0-code-2", { code: "indented" }], [
      "p0-list-1",
      { ordered: true, start: 3, items: ["three", "four"] },
    ]],
  ]);
});

Deno.test("Org and reStructuredText have their headings, and the rest as it is written", async () => {
  const org = await openFile("plan.org", "* Goals\nText.\n** Yield\n| a | b |\n* Risks\n- frost\n");
  assertEquals(org.facts.outline?.map(({ title, level }) => [title, level]), [
    ["Goals", 1],
    ["Yield", 2],
    ["Risks", 1],
  ]);
  const rst = await openFile(
    "guide.rst",
    "=====\nGuide\n=====\n\nOne\n---\n\n==  ==\na   b\n==  ==\n\nTwo\n---\n\n.. note:: x\n",
  );
  assertEquals(rst.facts.headings, ["Guide", "One", "Two"]);
});

Deno.test("a long section is continued on further pages", async () => {
  const paragraph = "word ".repeat(1_000);
  const document = await openFile("long.txt", Array(30).fill(paragraph).join("\n\n"));
  assertEquals(document.facts.pageTitles, ["long.txt", "long.txt (2)", "long.txt (3)"]);
});

Deno.test("texts of other encodings are decoded, and a guess is named", async () => {
  const latin = await openFile("latin.txt", new Uint8Array([...new TextEncoder().encode("caf"), 0xe9]));
  assertEquals(await pagesOf(latin), [["latin.txt", ["p0-text-1", { text: "café" }]]]);
  assertEquals(latin.facts.losses.length, 1);

  const utf16 = new Uint8Array([
    0xff,
    0xfe,
    ...[..."日本語"].flatMap((c) => [c.charCodeAt(0) & 255, c.charCodeAt(0) >> 8]),
  ]);
  const marked = await openFile("utf16.txt", utf16);
  assertEquals(await pagesOf(marked), [["utf16.txt", ["p0-text-1", { text: "日本語" }]]]);
  assertEquals(marked.facts.losses, []);
});

Deno.test("a file with zero bytes is no text", async () => {
  const error = await assertRejects(() => openFile("a.txt", new Uint8Array([65, 0, 66])), DocumentError);
  assertEquals(error.code, "unsupported");
});

Deno.test("a guess of a rare encoding gives way to windows-1252 where the letters are the same", async () => {
  const text = 'Müller;Bäckerweg 3;1.234,50\n"Groß; Söhne";99,00;24.12.2025\nJörg;x;1;2\n';
  const document = await openFile("kunden.csv", Uint8Array.from(text, (letter) => letter.charCodeAt(0)));
  assertEquals(document.facts.losses, [
    'The encoding "windows-1252" is a guess; some characters may be wrong',
  ]);
});

Deno.test("a long text without empty lines, such as a log, is divided into pages, and no line is lost", async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `12:00:00 INFO request ${n} took ${n % 7} ms`);
  const document = await openFile("server.log", lines.join("\n"));
  const texts: string[] = [];
  for (let index = 0; index < document.facts.pageCount; index++) {
    const { elements } = await document.page(index);
    assert(JSON.stringify(elements).length < 100_000, `page ${index} is too long`);
    for (const { content } of elements) texts.push(String(content["text"]));
  }
  assertEquals(texts.join("\n").split("\n"), lines);
});

Deno.test("marks of code that is never ended cost no more time than other lines", async () => {
  const text = "```js\n".repeat(200_000) + "```" + " ".repeat(200_000) + "!\n";
  const opened = Promise.resolve().then(() => openFile("marks.txt", text));
  const { facts } = await within(opened, "the text to be read");
  assertEquals(facts.losses, []);
});
