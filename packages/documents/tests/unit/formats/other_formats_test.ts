import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { DocumentError, type ParsedDocument } from "../../../src/formats/format.ts";
import type { ElementContents } from "@a2c-smcp/sdk";
import { zipOf } from "../../fixtures/office.ts";
import { markdownOf, openFile, pagesOf } from "./_open.ts";

Deno.test("a CSV file is a table with numbers, in pages of 500 rows", async () => {
  const document = await openFile("t.csv", 'name;amount\n"Smith; J.";007\nLee;12.5\n"two\nlines";3\n');
  assertEquals(await pagesOf(document), [[
    "t.csv",
    ["p0-table-1", {
      headers: ["name", "amount"],
      rows: [["Smith; J.", "007"], ["Lee", 12.5], ["two\nlines", 3]],
      total_rows: 3,
      total_columns: 2,
      first_row: 1,
    }],
  ]]);
  const long = await openFile(
    "long.csv",
    `id,twice\n${Array.from({ length: 1_200 }, (_, id) => `${id},${id * 2}`).join("\n")}`,
  );
  assertEquals(long.facts.pageTitles, ["Rows 1–500", "Rows 501–1000", "Rows 1001–1200"]);
  const { headers, rows, ...others } = await tableOf(long, 2);
  assertEquals(headers, ["id", "twice"]);
  assertEquals(rows?.[0], [1_000, 2_000]);
  assertEquals(others, { total_rows: 1_200, total_columns: 2, first_row: 1_001 });
});

Deno.test("a quote within a cell, and empty lines, move no row of a CSV file to another page", async () => {
  const lines = Array.from({ length: 600 }, (_, id) => id === 3 ? `${id},5" pipe` : `${id},pipe\r\n`);
  const document = await openFile("pipes.csv", lines.join("\r\n"));
  assertEquals(document.facts.pageTitles, ["Rows 1–500", "Rows 501–600"]);
  assertEquals((await tableOf(document, 0)).rows?.[3], [3, '5" pipe']);
  assertEquals(
    (await tableOf(document, 1)).rows?.map(([id]) => id),
    lines.slice(500).map((_, at) => at + 500),
  );
});

Deno.test("rows of a CSV file that are long make shorter pages", async () => {
  const long = "x".repeat(300_000);
  const document = await openFile(
    "notes.csv",
    Array.from({ length: 8 }, (_, id) => `${id},${long}`).join("\n"),
  );
  assertEquals(document.facts.pageTitles, ["Rows 1–3", "Rows 4–6", "Rows 7–8"]);
});

Deno.test("a CSV file may name its delimiter in a line of its own", async () => {
  for (const [line, delimiter] of [["sep=;", ";"], ["SEP=|", "|"], ['"sep=\t"', "\t"], ["sep=,", ","]]) {
    const document = await openFile("a.csv", `${line}\r\na${delimiter}b\r\n1${delimiter}"x"\r\n`);
    assertEquals(document.facts.headings, ["a", "b"]);
    assertEquals((await tableOf(document, 0)).rows, [[1, "x"]]);
  }
});

async function tableOf(document: ParsedDocument, page: number): Promise<Partial<ElementContents["table"]>> {
  const [table] = (await document.page(page)).elements;
  return table?.category === "table" ? table.content : {};
}

Deno.test("a file of a format that is not read says what to do", async () => {
  for (
    const [name, advice] of [["old.wpd", /\.docx/], ["talk.mp3", /as text/], ["all.7z", /unpack/]] as const
  ) {
    const error = await assertRejects(() => openFile(name, "x"), DocumentError);
    assertEquals(error.code, "unsupported");
    assertMatch(error.reason, advice);
  }
});

Deno.test("a message has its headers, its text and the pages of its attachments", async () => {
  const mail =
    "From: Ada <ada@example.com>\r\nTo: bob@example.com\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n" +
    'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello.\r\n\r\nBye.\r\n' +
    '--b\r\nContent-Type: text/csv; name="a.csv"\r\nContent-Disposition: attachment; filename="a.csv"\r\n\r\n1,2\r\n--b--\r\n';
  const document = await openFile("m.eml", mail);
  assertEquals(await pagesOf(document), [[
    "Grüße",
    ["p0-heading-1", { level: 1, text: "Grüße" }],
    ["p0-table-1", {
      headers: ["header", "value"],
      rows: [["From", "Ada <ada@example.com>"], ["To", "bob@example.com"]],
      total_rows: 2,
    }],
    ["p0-text-1", { text: "Hello." }],
    ["p0-text-2", { text: "Bye." }],
    ["p0-list-1", { items: ["a.csv (4 bytes): page index 1"] }],
  ], [
    "a.csv",
    ["p1-table-1", { headers: [], rows: [[1, 2]], total_rows: 1, total_columns: 2, first_row: 1 }],
  ]]);
  assertEquals(document.facts.losses, []);
});

/** A message with attachments, in Base64. */
function mailWith(attachments: Readonly<Record<string, string | Uint8Array>>): Uint8Array<ArrayBuffer> {
  const parts = Object.entries(attachments).map(([name, content]) => {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    return `--b\r\nContent-Type: application/octet-stream; name="${name}"\r\nContent-Transfer-Encoding: base64\r\n` +
      `Content-Disposition: attachment; filename="${name}"\r\n\r\n${btoa(String.fromCharCode(...bytes))}\r\n`;
  });
  return new TextEncoder().encode(
    'Subject: All\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nHello.\r\n' +
      `${parts.join("")}--b--\r\n`,
  );
}

Deno.test("attachments of a message have pages with their names, also those of an archive, and end at a depth", async () => {
  const report = "# North\n\nWell.\n\n# South\n\nWell.\n";
  const inner = mailWith({ "deep.zip": zipOf({ "c.eml": mailWith({ "d.md": "x" }) }) });
  const document = await openFile(
    "m.eml",
    mailWith({
      "report.md": report,
      "old.doc": "x",
      "all.zip": zipOf({ "a.txt": "One" }),
      "inner.eml": inner,
    }),
  );
  const { facts } = document;
  assertEquals(facts.pageTitles, [
    "All",
    ...["report.md: North", "report.md: South"],
    ...["all.zip: Files of all.zip", "all.zip: a.txt"],
    ...["inner.eml: All", "inner.eml: deep.zip: Files of deep.zip", "inner.eml: deep.zip: c.eml"],
  ]);
  assertEquals(facts.losses, ["Attachments are named, and not shown: 1"]);
  assertEquals(facts.outline?.slice(1, 4), [
    { title: "report.md", level: 1, page: 1 },
    { title: "North", level: 2, page: 1 },
    { title: "South", level: 2, page: 2 },
  ]);
  const [first = ""] = await markdownOf(document);
  assertMatch(first, /- report\.md \(\d+ bytes\): page indices 1–2\n- old\.doc \(1 bytes\): not read/);
});

/** The elements of a message, as their category and content. */
async function mailElements(lines: readonly string[]): Promise<readonly (readonly [string, unknown])[]> {
  const bytes = Uint8Array.from(lines.join("\r\n"), (letter) => letter.charCodeAt(0));
  const document = await openFile("m.eml", bytes);
  return (await document.page(0)).elements.map(({ category, content }) => [category, content]);
}

Deno.test("encoded words that cut a character, and are padded each, are one text", async () => {
  const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
  const bytes = new TextEncoder().encode("会议纪要 ünd");
  for (const cut of [1, 2, 4, 5, 7]) {
    const word = (part: Uint8Array) => `=?utf-8?B?${base64(part)}?=`;
    const words = [bytes.subarray(0, cut), bytes.subarray(cut, cut + 5), bytes.subarray(cut + 5)].map(word);
    for (const gap of [" ", "\r\n ", ""]) {
      const mail = ["From: a@example.com", `Subject: ${words.join(gap)}`, "", "x"];
      assertEquals((await mailElements(mail))[0], ["heading", { level: 1, text: "会议纪要 ünd" }]);
    }
  }
});

Deno.test("a message is read in the encoding of its HTML where its headers name none, and its HTML where the text is a stub", async () => {
  const html = `<meta charset="windows-1252"><p>Caf\xe9 for se\xf1or</p><p>${"Long. ".repeat(20)}</p>`;
  const elements = await mailElements([
    "From: a@example.com",
    "Subject: x",
    'Content-Type: multipart/alternative; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "See the HTML.",
    "--b",
    "Content-Type: text/html",
    "",
    html,
    "--b--",
    "",
  ]);
  assertEquals(elements[2], ["text", { text: "Café for señor" }]);
  const wide = "\ufeffFrom: a@example.com\r\nSubject: Gr\u00fc\u00dfe\r\n\r\nx";
  const bytes = new Uint8Array(
    [...wide].flatMap((letter) => [letter.charCodeAt(0) & 255, letter.charCodeAt(0) >> 8]),
  );
  assertEquals((await openFile("m.eml", bytes)).facts.title, "Grüße");
});

Deno.test("a picture tells its size, and comes along when it is small", async () => {
  const gif = Uint8Array.from(
    atob("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"),
    (letter) => letter.charCodeAt(0),
  );
  const [image] = (await (await openFile("dot.gif", gif)).page(0)).elements;
  assertEquals(image?.content, {
    description: "dot.gif",
    mime_type: "image/gif",
    width: 1,
    height: 1,
    url: "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  });
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"><title>A bridge</title><text>River</text></svg>';
  const drawing = await openFile("bridge.svg", svg);
  const elements = (await drawing.page(0)).elements;
  assertEquals(elements.slice(1).map(({ content }) => content), [{ text: "A bridge" }, { text: "River" }]);
  const error = await assertRejects(() => openFile("bad.png", "no picture"), DocumentError);
  assertEquals(error.code, "damaged");
});

Deno.test("source code is divided at its top definitions, with the comments above them", async () => {
  const code =
    "// Adds numbers.\nimport x;\n\n/** One. */\nexport function one(a: number): number {\n  return a;\n}\n\nclass Two {\n}\n";
  assertEquals(await pagesOf(await openFile("a.ts", code)), [[
    "a.ts",
    ["p0-code-1", { language: "ts", code: "// Adds numbers.\nimport x;" }],
    ["p0-heading-1", { level: 2, text: "export function one(a: number): number" }],
    ["p0-code-2", {
      language: "ts",
      code: "/** One. */\nexport function one(a: number): number {\n  return a;\n}",
    }],
    ["p0-heading-2", { level: 2, text: "class Two" }],
    ["p0-code-3", { language: "ts", code: "class Two {\n}" }],
  ]]);
});

Deno.test("of many attachments of a message the first 1,000 are named, and all are read", async () => {
  const files = Object.fromEntries(Array.from({ length: 1_100 }, (_, at) => [`${at}.txt`, "x"]));
  const { facts, page } = await openFile("m.eml", mailWith(files));
  const { elements } = await page(0);
  const list = elements.at(-1)?.content as ElementContents["list"];
  assertEquals([facts.pageCount, list.items.length, list.items.at(-1)], [1_101, 1_001, "and 100 more"]);
});
