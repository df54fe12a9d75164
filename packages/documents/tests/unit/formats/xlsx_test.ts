import { assertEquals, assertThrows } from "@std/assert";
import { unzipSync } from "fflate";
import { DocumentError } from "../../../src/formats/format.ts";
import { ZipParts } from "../../../src/formats/zip.ts";
import { relationships, xlsxOf, zipOf } from "../../fixtures/office.ts";
import { openFile, pagesOf } from "./_open.ts";

const STYLES = '<numFmts><numFmt numFmtId="170" formatCode="0.0%"/></numFmts><cellXfs>' +
  '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs>';

Deno.test("a sheet is a page with a table, as it is displayed, with raw values and formulas", async () => {
  const rows =
    '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><t>Share</t></is></c></row>' +
    '<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2" s="1"><v>45000</v></c><c r="C2" s="2"><v>0.256</v></c></row>' +
    '<row r="3"><c r="A3" t="b"><v>1</v></c><c r="C3" s="2"><f>C2*2</f><v>0.512</v></c></row>';
  const document = await openFile(
    "sales.xlsx",
    xlsxOf({ Sales: `<sheetData>${rows}</sheetData>` }, { styles: STYLES, texts: ["Name", "Date", "Ada"] }),
  );
  assertEquals(await pagesOf(document), [[
    "Sales",
    ["p0-heading-1", { level: 2, text: "Sales" }],
    ["p0-table-1", {
      headers: ["Name", "Date", "Share"],
      rows: [["Ada", "2023-03-15", "25.6%"], [true, null, "51.2%"]],
      total_rows: 2,
      total_columns: 3,
      source_range: "A1:C3",
      has_formulas: true,
      raw_rows: [["Ada", "2023-03-15", 0.256], [true, null, 0.512]],
    }],
    ["p0-formula-1", { expression: "=C2*2", result: "51.2%", cell: "C3" }],
  ]]);
  assertEquals(document.facts.headings, ["Sales", "Name", "Date", "Share"]);
});

Deno.test("empty rows divide a sheet into tables, and a hidden sheet is named so", async () => {
  const number = (name: string) => `<c r="${name}"><v>${name.slice(1)}</v></c>`;
  const row = (at: number) => `<row r="${at}">${number(`A${at}`)}${number(`B${at}`)}</row>`;
  const bytes = xlsxOf({ One: `<sheetData>${row(1)}${row(2)}${row(9)}</sheetData>`, Two: "<sheetData/>" });
  const document = await openFile("two.xlsx", bytes);
  assertEquals(document.facts.pageTitles, ["One", "Two"]);
  const ranges = (await document.page(0)).elements.map(({ content }) =>
    "source_range" in content && content["source_range"]
  );
  assertEquals(ranges, [false, "A1:B2", "A9:B9"]);
  assertEquals((await document.page(1)).elements.length, 1);
});

Deno.test("a long sheet has a page for each 500 rows, with the names of the columns on each", async () => {
  const rows = Array.from(
    { length: 1_201 },
    (_, index) =>
      index === 0
        ? '<row r="1"><c r="A1" t="inlineStr"><is><t>Id</t></is></c><c r="B1" t="inlineStr"><is><t>Twice</t></is></c></row>'
        : `<row r="${index + 1}"><c r="A${index + 1}"><v>${index}</v></c><c r="B${index + 1}"><v>${
          index * 2
        }</v></c></row>`,
  );
  const document = await openFile("long.xlsx", xlsxOf({ Long: `<sheetData>${rows.join("")}</sheetData>` }));
  assertEquals(document.facts.pageTitles, [
    "Long, rows 1–500",
    "Long, rows 501–1000",
    "Long, rows 1001–1201",
  ]);
  const [, table] = (await document.page(2)).elements;
  assertEquals(
    table?.category === "table" && [table.content.headers, table.content.rows[0], table.content.rows.length],
    [
      ["Id", "Twice"],
      [1_000, 2_000],
      201,
    ],
  );
});

Deno.test("links, comments, merged cells and charts of a sheet are elements", async () => {
  const sheet = '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>Home</t></is></c></row></sheetData>' +
    '<mergeCells><mergeCell ref="A1:B1"/></mergeCells><hyperlinks><hyperlink ref="A1" r:id="h1"/></hyperlinks>';
  const document = await openFile(
    "notes.xlsx",
    xlsxOf({ Notes: sheet }, {
      parts: {
        "xl/worksheets/_rels/sheet0.xml.rels": relationships(
          ["h1", "hyperlink", "https://example.com/"],
          ["c1", "comments", "../comments1.xml"],
          ["d1", "drawing", "../drawings/drawing1.xml"],
        ),
        "xl/comments1.xml":
          '<comments><authors><author>Ada</author></authors><commentList><comment ref="A1" authorId="0"><text><t>Why?</t></text></comment></commentList></comments>',
        "xl/drawings/drawing1.xml":
          '<wsDr xmlns:c="c" xmlns:r="r"><graphicFrame><c:chart r:id="k1"/></graphicFrame></wsDr>',
        "xl/drawings/_rels/drawing1.xml.rels": relationships(["k1", "chart", "../charts/chart1.xml"]),
        "xl/charts/chart1.xml":
          "<chartSpace><chart><title><tx><rich><p><r><t>Sales</t></r></p></rich></tx></title><plotArea><barChart><ser>" +
          "<tx><v>2026</v></tx><cat><pt><v>North</v></pt></cat><val><pt><v>3</v></pt></val></ser></barChart></plotArea></chart></chartSpace>",
      },
    }),
  );
  const elements = (await document.page(0)).elements.slice(3).map((
    { category, content },
  ) => [category, content]);
  assertEquals(elements, [
    ["chart", { title: "Sales", chart_type: "bar", data_summary: "2026: North: 3" }],
    ["link", { text: "Home", url: "https://example.com/", cell: "A1" }],
    ["annotation", { text: "Why?", author: "Ada", cell: "A1" }],
  ]);
});

Deno.test("threads of comments, named tables, charts of two kinds and sizes of pictures are read", async () => {
  const row = (at: number, text: string) =>
    `<row r="${at}"><c r="A${at}" t="inlineStr"><is><t>${text}</t></is></c><c r="B${at}"><v>${at}</v></c></row>`;
  const pixel = Uint8Array.fromBase64(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAAAAACcgYFdAAAAC0lEQVR4nGNggAIAAAkAAftSuKkAAAAASUVORK5CYII=",
  );
  const workbook = xlsxOf({ Sales: `<sheetData>${row(1, "North")}${row(2, "South")}</sheetData>` }, {
    related: [["p1", "person", "persons/person.xml"]],
    parts: {
      "xl/persons/person.xml": '<personList><person displayName="Ada" id="{1}"/></personList>',
      "xl/worksheets/_rels/sheet0.xml.rels": relationships(
        ["c1", "comments", "../comments1.xml"],
        ["c2", "threadedComment", "../threadedComments/threadedComment1.xml"],
        ["t1", "table", "../tables/table1.xml"],
        ["d1", "drawing", "../drawings/drawing1.xml"],
      ),
      "xl/comments1.xml": "<comments><authors><author>tc={9}</author></authors><commentList>" +
        '<comment ref="A1" authorId="0"><text><t>[Threaded comment] Update. Comment: Why?</t></text></comment>' +
        '<comment ref="A2" authorId="0"><text><t>A note</t></text></comment></commentList></comments>',
      "xl/threadedComments/threadedComment1.xml": "<ThreadedComments>" +
        '<threadedComment ref="A1" personId="{1}" id="{9}"><text>Why?</text></threadedComment>' +
        '<threadedComment ref="A1" personId="{2}" id="{8}" parentId="{9}"><text>Rain.</text></threadedComment>' +
        "</ThreadedComments>",
      "xl/tables/table1.xml": '<table displayName="Yields" ref="A1:B2"/>',
      "xl/drawings/drawing1.xml":
        '<wsDr xmlns:a="a" xmlns:c="c" xmlns:r="r"><graphicFrame><c:chart r:id="k1"/></graphicFrame>' +
        '<pic><nvPicPr><cNvPr descr="Tree"/></nvPicPr><blipFill><a:blip r:embed="i1"/></blipFill></pic></wsDr>',
      "xl/drawings/_rels/drawing1.xml.rels": relationships(
        ["k1", "chart", "../charts/chart1.xml"],
        ["i1", "image", "../media/tree.png"],
      ),
      "xl/charts/chart1.xml":
        "<chartSpace><chart><plotArea><bar3DChart/><lineChart/></plotArea></chart></chartSpace>",
      "xl/media/tree.png": pixel,
    },
  });
  const { elements } = await (await openFile("sales.xlsx", workbook)).page(0);
  const [, table, ...others] = elements;
  assertEquals(table?.summary, 'A1:B2: 2 rows and 2 columns; the table "Yields" is A1:B2');
  assertEquals(
    others.map((
      { category, content: { url: _url, data_summary: _data, ...content } },
    ) => [category, content]),
    [
      ["chart", { title: "Chart", chart_type: "bar and line" }],
      ["image", { description: "Tree", mime_type: "image/png", width: 2, height: 3 }],
      ["annotation", { text: "Why?", author: "Ada", cell: "A1" }],
      ["annotation", { text: "Rain.", cell: "A1" }],
      ["annotation", { text: "A note", author: "tc={9}", cell: "A2" }],
    ],
  );
});

Deno.test("the names of a sheet may have a prefix, and a part may be in UTF-16", async () => {
  const sheet = (p: string) =>
    `<${p}worksheet xmlns${
      p && ":x"
    }="s"><${p}sheetData><${p}row r="3"><${p}c r="B3"><${p}v>7</${p}v></${p}c></${p}row>` +
    `</${p}sheetData></${p}worksheet>`;
  const bytes = new Uint8Array(
    Uint16Array.from(`\ufeff${sheet("")}`, (letter) => letter.charCodeAt(0)).buffer,
  );
  const workbook = xlsxOf({ One: "", Two: "" }, {
    parts: { "xl/worksheets/sheet0.xml": sheet("x:"), "xl/worksheets/sheet1.xml": bytes },
  });
  const table = {
    headers: [],
    rows: [[7]],
    total_rows: 1,
    total_columns: 1,
    source_range: "B3:B3",
    has_formulas: false,
  };
  assertEquals(await pagesOf(await openFile("x.xlsx", workbook)), [
    ["One", ["p0-heading-1", { level: 2, text: "One" }], ["p0-table-1", table]],
    ["Two", ["p1-heading-1", { level: 2, text: "Two" }], ["p1-table-1", table]],
  ]);
});

Deno.test("the case of the names of parts does not matter, and they may have backslashes", async () => {
  const parts = unzipSync(
    xlsxOf({ One: '<sheetData><row><c t="s"><v>0</v></c></row></sheetData>' }, { texts: ["a"] }),
  );
  const renamed = Object.entries(parts).map((
    [name, part],
  ) => [name.replaceAll("/", "\\").toLowerCase(), part]);
  const document = await openFile("old.xlsx", zipOf(Object.fromEntries(renamed)));
  const [, table] = (await document.page(0)).elements;
  assertEquals(table?.category === "table" && table.content.rows, [["a"]]);
});

Deno.test("numbers have 15 digits, and dates in the words of East Asian versions are dates", async () => {
  const sheet =
    '<sheetData><row r="1"><c><v>0.30000000000000004</v></c><c s="1"><v>45000</v></c></row></sheetData>';
  const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="31"/></cellXfs>';
  const document = await openFile("n.xlsx", xlsxOf({ One: sheet }, { styles }));
  const [, table] = (await document.page(0)).elements;
  assertEquals(table?.category === "table" && table.content.rows, [[0.3, "2023-03-15"]]);
});

Deno.test("pages of a sheet are titled by the numbers that its rows have", async () => {
  const rows = Array.from({ length: 600 }, (_, at) => `<row r="${at * 2 + 1}"><c><v>${at}</v></c></row>`);
  const document = await openFile("sparse.xlsx", xlsxOf({ Odd: `<sheetData>${rows.join("")}</sheetData>` }));
  assertEquals(document.facts.pageTitles, ["Odd, rows 1–999", "Odd, rows 1001–1199"]);
});

Deno.test("sheets whose cells are missing are named", async () => {
  const bytes = zipOf({
    "_rels/.rels": relationships(["r1", "officeDocument", "xl/workbook.xml"]),
    "xl/workbook.xml":
      '<workbook xmlns:r="r"><sheets><sheet name="Here" r:id="a"/><sheet name="Gone" r:id="b"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": relationships(["a", "worksheet", "a.xml"], ["b", "worksheet", "b.xml"]),
    "xl/a.xml": "<worksheet><sheetData/></worksheet>",
  });
  const { facts } = await openFile("gone.xlsx", bytes);
  assertEquals(facts.pageTitles, ["Here"]);
  assertEquals(facts.losses, ["Sheets without cells, or whose cells are missing, are not shown: Gone"]);
});

Deno.test("office files with a password, of old formats and damaged ones are refused with the reason", async () => {
  const code = async (bytes: Uint8Array<ArrayBuffer>) => {
    try {
      await openFile("a.xlsx", bytes);
    } catch (error) {
      return error instanceof DocumentError ? error.code : error;
    }
  };
  assertEquals(await code(new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1])), "encrypted");
  assertEquals(await code(new Uint8Array([1, 2, 3])), "damaged");
  assertEquals(await code(zipOf({ "a.txt": "a" })), "damaged");
});

Deno.test("all parts of a zip file together unpack to no more than the limit, and each counts once", () => {
  const part = new Uint8Array(1024 * 1024);
  const small = part.subarray(0, part.length / 2);
  const parts = new ZipParts(zipOf({ a: part, b: part, c: small, d: small, e: small }), {
    maxUnpackedBytes: 3 * part.length,
  });
  for (const name of ["a", "b", "c", "d", "a", "b", "c", "d", "a"]) parts.bytes(name);
  assertThrows(() => parts.bytes("e"), DocumentError, "unpacks to more than 3 MiB");
});

Deno.test("a zip file that unpacks to more than the limit is refused before it is unpacked", () => {
  const parts = new ZipParts(zipOf({ "a.xml": "x".repeat(2_000_000) }), { maxUnpackedBytes: 1_000_000 });
  assertThrows(() => parts.bytes("a.xml"), DocumentError, "unpacks to more than");
});

Deno.test("formulas that no program has calculated are counted, and those with an empty result are not", async () => {
  const rows = '<row r="1"><c r="A1"><f>1+1</f></c><c r="B1" t="str"><f>""</f><v></v></c></row>';
  const document = await openFile("new.xlsx", xlsxOf({ One: `<sheetData>${rows}</sheetData>` }));
  const [, table] = (await document.page(0)).elements;
  assertEquals(
    table?.summary,
    "A1:B1: 1 row and 2 columns; 1 formula without a result, because no program has calculated the file",
  );
});

Deno.test("the raw value of a duration or a time of a day is its number, and of a date its date", async () => {
  const styles =
    '<numFmts><numFmt numFmtId="170" formatCode="[h]:mm"/><numFmt numFmtId="171" formatCode="mmm"/>' +
    '</numFmts><cellXfs><xf numFmtId="170"/><xf numFmtId="18"/><xf numFmtId="171"/><xf numFmtId="22"/></cellXfs>';
  const rows = '<row r="1"><c r="A1" s="0"><v>1.25</v></c><c r="B1" s="1"><v>1.25</v></c>' +
    '<c r="C1" s="2"><v>45000</v></c><c r="D1" s="3"><v>45000.5</v></c></row>';
  const document = await openFile(
    "times.xlsx",
    xlsxOf({ One: `<sheetData>${rows}</sheetData>` }, { styles }),
  );
  const [, table] = (await document.page(0)).elements;
  const { rows: shown, raw_rows } = table?.content as Record<string, unknown>;
  assertEquals(shown, [["30:00", "6:00 AM", "Mar", "2023-03-15 12:00"]]);
  assertEquals(raw_rows, [[1.25, 1.25, "2023-03-15", "2023-03-15T12:00:00"]]);
});

Deno.test("rows that have more text than a page may have are named", async () => {
  const row = (at: number) =>
    `<row r="${at}"><c r="A${at}" t="inlineStr"><is><t>${"x".repeat(1_000)}</t></is></c></row>`;
  const bytes = xlsxOf({ One: `<sheetData>${row(1)}${row(2)}${row(3)}</sheetData>` });
  const noteOf = async (maxPageBytes: number) => {
    const { elements } = await (await openFile("long.xlsx", bytes, { maxPageBytes })).page(0);
    return elements.filter(({ category }) => category === "annotation").map(({ content }) => content);
  };
  assertEquals(await noteOf(1_000), [
    { text: "The rows from 1 on are left out: they have more text than a page may have" },
  ]);
  assertEquals(await noteOf(5_000), [
    { text: "The rows from 3 on are left out: they have more text than a page may have" },
  ]);
  assertEquals(await noteOf(50_000), []);
});

Deno.test("columns beyond those that a page shows are named", async () => {
  const row = (columns: number) =>
    `<sheetData><row r="1">${"<c><v>1</v></c>".repeat(columns)}</row></sheetData>`;
  const document = await openFile("wide.xlsx", xlsxOf({ Fits: row(256), Wide: row(257) }));
  assertEquals((await document.page(0)).elements.length, 2);
  const [, table, note] = (await document.page(1)).elements;
  assertEquals(table?.content["total_columns"], 256);
  assertEquals(
    note?.content["text"],
    "The columns from IW on are left out: a page has no room for more",
  );
});

const inline = (name: string, text: string) => `<c r="${name}" t="inlineStr"><is><t>${text}</t></is></c>`;

Deno.test("the names above the columns of a page are those of the table that begins on a page before", async () => {
  const rows = [
    `<row r="1">${inline("A1", "Key")}${inline("B1", "Value")}</row>`,
    `<row r="2">${inline("A2", "Year")}<c r="B2"><v>2024</v></c></row>`,
    `<row r="3"><c r="A3" s="1"/></row>`,
    `<row r="4">${inline("A4", "Id")}${inline("B4", "Twice")}</row>`,
    ...Array.from(
      { length: 600 },
      (_, n) =>
        `<row r="${n + 5}"><c r="A${n + 5}"><v>${n}</v></c><c r="B${n + 5}"><v>${n * 2}</v></c></row>`,
    ),
    `<row r="700"><c r="A700"><v>1</v></c><c r="B700"><v>2</v></c></row>`,
  ];
  const document = await openFile("long.xlsx", xlsxOf({ Long: `<sheetData>${rows.join("")}</sheetData>` }));
  const { elements } = await document.page(1);
  assertEquals(elements.slice(1).map(({ content }) => "headers" in content ? content.headers : content), [
    ["Id", "Twice"],
    [],
  ]);
});

Deno.test("comments on cells without a value, and outside of the tables, are shown on the page of their row", async () => {
  const rows = Array.from(
    { length: 600 },
    (_, n) => `<row r="${n + 1}"><c r="A${n + 1}"><v>${n}</v></c></row>`,
  );
  const comment = (cell: string) =>
    `<comment ref="${cell}" authorId="0"><text><t>at ${cell}</t></text></comment>`;
  const document = await openFile(
    "notes.xlsx",
    xlsxOf({ Notes: `<sheetData>${rows.join("")}</sheetData>` }, {
      parts: {
        "xl/worksheets/_rels/sheet0.xml.rels": relationships(["c1", "comments", "../comments1.xml"]),
        "xl/comments1.xml": `<comments><authors><author>Ada</author></authors><commentList>${
          ["C3", "A500", "A501", "Z900"].map(comment).join("")
        }</commentList></comments>`,
      },
    }),
  );
  const textsOf = async (page: number) =>
    (await document.page(page)).elements.flatMap(({ content }) => "cell" in content ? [content["cell"]] : []);
  assertEquals(await textsOf(0), ["C3", "A500"]);
  assertEquals(await textsOf(1), ["A501", "Z900"]);
});

Deno.test("characters that XML has no form for are read from their escapes", async () => {
  const document = await openFile(
    "escapes.xlsx",
    xlsxOf({
      Escapes:
        `<sheetData><row r="1"><c r="A1" t="s"><v>0</v></c>${inline("B1", "_x0041_ _x005F_x0042_ _x00_")}` +
        '<c r="C1" t="str"><f>A1</f><v>a_x000D_b</v></c></row></sheetData>',
    }, { texts: ["one_x000D_\ntwo"] }),
  );
  const [, table] = (await document.page(0)).elements;
  assertEquals(table?.content && "rows" in table.content && table.content.rows, [[
    "one\ntwo",
    "A _x0042_ _x00_",
    "a\nb",
  ]]);
});

Deno.test("formulas that are filled down count, and say which cells they fill", async () => {
  const rows = Array.from({ length: 600 }, (_, n) => {
    const formula = n === 0 ? '<f t="shared" ref="B1:B600" si="0">A1*2</f>' : '<f t="shared" si="0"/>';
    return `<row r="${n + 1}"><c r="A${n + 1}"><v>${n}</v></c><c r="B${n + 1}">${formula}<v>${
      n * 2
    }</v></c></row>`;
  });
  const document = await openFile("fill.xlsx", xlsxOf({ Fill: `<sheetData>${rows.join("")}</sheetData>` }));
  const [, first, formula] = (await document.page(0)).elements;
  assertEquals(formula?.summary, "Cell B1; filled into B1:B600");
  const [, second] = (await document.page(1)).elements;
  for (const table of [first, second]) {
    assertEquals(table?.content && "has_formulas" in table.content && table.content.has_formulas, true);
  }
});
