import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { decode } from "jpeg-js";
import { DocumentError } from "../../../src/formats/format.ts";
import type { ElementContents } from "@a2c-smcp/sdk";
import { type PdfLine, pdfOf, type PdfTestPage } from "../../fixtures/pdf.ts";
import { openFile, pagesOf } from "./_open.ts";

/** Lines below each other, in one size. */
function lines(top: number, texts: readonly string[], { size = 10, x = 50 } = {}): PdfLine[] {
  return texts.map((text, index) => ({ size, x, y: top - index * 12, text }));
}

const BODY = [
  "The sales of the year rose in all regions and in all",
  "months, and nobody knows why that hap-",
  "pened.",
];

Deno.test("headings, paragraphs, lists and tables of a PDF page are found by their look", async () => {
  const document = await openFile(
    "report.pdf",
    pdfOf([{
      lines: [
        { size: 20, x: 50, y: 750, text: "Annual report" },
        ...lines(700, BODY),
        ...lines(640, ["1. first", "2. second and", "more of it"]),
        ...[["Region", "Sales"], ["North", "12"], ["South", "34"]].flatMap(([left = "", right = ""], row) => [
          { size: 10, x: 50, y: 560 - row * 14, text: left },
          { size: 10, x: 250, y: 560 - row * 14, text: right },
        ]),
      ],
    }], "/Title (The report) /Keywords (sales, regions)"),
  );
  assertEquals(await pagesOf(document), [[
    "Page 1: Annual report",
    ["p0-heading-1", { level: 1, text: "Annual report" }],
    ["p0-text-1", { text: `${BODY[0]} months, and nobody knows why that happened.` }],
    ["p0-list-1", { ordered: true, items: ["first", "second and more of it"] }],
    ["p0-table-1", { headers: ["Region", "Sales"], rows: [["North", "12"], ["South", "34"]], total_rows: 2 }],
  ]]);
  const { title, keywords, pageCount } = document.facts;
  assertEquals({ title, keywords, pageCount }, {
    title: "The report",
    keywords: ["sales", "regions"],
    pageCount: 1,
  });
});

/** A text of a table. */
function cell(x: number, y: number, text: string): PdfLine {
  return { size: 10, x, y, text };
}

/** A page with a table with lines. */
const RULED: PdfTestPage = {
  lines: [
    cell(55, 740, "The prices of this year:"),
    cell(55, 688, "Product"),
    cell(205, 688, "What it is for"),
    cell(355, 688, "Price"),
    cell(55, 668, "Nails"),
    cell(205, 668, "Holding two pieces"),
    cell(205, 656, "of wood together"),
    cell(355, 668, "12"),
    cell(55, 638, "Screws are not sold any longer"),
    cell(355, 638, "-"),
    cell(55, 590, "Ask for others."),
  ],
  rulings: [
    ...[700, 680, 650, 630].map((y) => [50, y, 450, y] as const),
    ...[50, 350, 450].map((x) => [x, 630, x, 700] as const),
    // The last row has one cell for the first two columns.
    [200, 650, 200, 700],
  ],
};

const RULED_ELEMENTS = [
  "Page 1",
  ["p0-text-1", { text: "The prices of this year:" }],
  ["p0-table-1", {
    headers: ["Product", "What it is for", "Price"],
    rows: [["Nails", "Holding two pieces of wood together", "12"], [
      "Screws are not sold any longer",
      "",
      "-",
    ]],
    total_rows: 2,
  }],
  ["p0-text-2", { text: "Ask for others." }],
];

Deno.test("a table of a PDF page with lines has cells of several lines, and merged ones", async () => {
  const document = await openFile(
    "ruled.pdf",
    pdfOf([RULED]),
  );
  assertEquals(await pagesOf(document), [RULED_ELEMENTS]);
});

Deno.test("a PDF page that is set sideways is read like an upright one", async () => {
  const link = { rect: [50, 580, 120, 600], url: "https://example.com/others" };
  const side = { rect: [200, 50, 220, 120], url: link.url };
  const [upright, sideways] = await Promise.all([
    openFile("upright.pdf", pdfOf([{ ...RULED, links: [link] }])),
    openFile("sideways.pdf", pdfOf([{ ...RULED, links: [side], isSideways: true }])),
  ]);
  assertEquals(await pagesOf(sideways), await pagesOf(upright));
});

Deno.test("a text that ends outside a table with lines is not lost", async () => {
  const { lines: texts = [] } = RULED;
  const wide = cell(300, 652, "and whatever else a shop must have to sell it to a farmer");
  const document = await openFile("wide.pdf", pdfOf([{ ...RULED, lines: [...texts, wide] }]));
  assertMatch(
    JSON.stringify(await pagesOf(document)),
    /and whatever else a shop must have to sell it to a farmer/,
  );
});

Deno.test("lines of a PDF page without texts between them are no table", async () => {
  const document = await openFile(
    "frame.pdf",
    pdfOf([{
      lines: [cell(55, 740, "A frame")],
      rulings: [
        ...[700, 680, 650].map((y) => [50, y, 450, y] as const),
        ...[50, 350, 450].map((x) => [x, 650, x, 700] as const),
      ],
    }]),
  );
  assertEquals(await pagesOf(document), [["Page 1", ["p0-text-1", { text: "A frame" }]]]);
});

Deno.test("two columns of a PDF page are read one after the other", async () => {
  const left = lines(700, ["The left column has", "two lines."]);
  const right = lines(700, ["The right column has", "other lines."], { x: 320 });
  const document = await openFile("columns.pdf", pdfOf([{ lines: [...left, ...right] }]));
  assertEquals(await pagesOf(document), [[
    "Page 1",
    ["p0-text-1", { text: "The left column has two lines." }],
    ["p0-text-2", { text: "The right column has other lines." }],
  ]]);
});

Deno.test("the texts of a tagged paragraph are joined by their places", async () => {
  const document = await openFile(
    "tagged.pdf",
    pdfOf([{
      lines: [
        { size: 10, x: 50, y: 700, text: "Farmers sow", paragraph: 0 },
        { size: 10, x: 110, y: 700, text: "wheat", paragraph: 0 },
        { size: 10, x: 136.1, y: 700, text: "s, and sell", paragraph: 0 },
        { size: 10, x: 50, y: 688, text: "them in au-", paragraph: 0 },
        { size: 10, x: 50, y: 676, text: "tumn.", paragraph: 0 },
        { size: 10, x: 50, y: 650, text: "Nobody else does.", paragraph: 1 },
      ],
    }]),
  );
  assertEquals(await pagesOf(document), [[
    "Page 1",
    ["p0-text-1", { text: "Farmers sow wheats, and sell them in autumn." }],
    ["p0-text-2", { text: "Nobody else does." }],
  ]]);
});

Deno.test("a Chinese text is read when the file does not say which letters its glyphs are", async () => {
  const document = await openFile(
    "chinese.pdf",
    pdfOf([{ lines: [{ size: 10, x: 50, y: 700, text: "", gbk: "D6D0CEC4" }] }]),
  );
  assertEquals(await pagesOf(document), [["Page 1", ["p0-text-1", { text: "中文" }]]]);
});

Deno.test("links and comments of a PDF page follow its text", async () => {
  const document = await openFile(
    "links.pdf",
    pdfOf([{
      lines: lines(700, ["See the manual"]),
      links: [{ rect: [40, 690, 300, 715], url: "https://example.com/manual" }],
      comments: ["Is this right?"],
    }]),
  );
  assertEquals(await pagesOf(document), [[
    "Page 1",
    ["p0-text-1", { text: "See the manual" }],
    ["p0-link-1", { text: "See the manual", url: "https://example.com/manual" }],
    ["p0-annotation-1", { text: "Is this right?", author: "Ada", created_at: "2026-01-02T03:04:05Z" }],
  ]]);
});

Deno.test("what a PDF file has beside its pages is counted or named", async () => {
  const file = (name: string) => `<< /Type /Filespec /F (${name}) /UF (${name}) /EF << /F 1 0 R >> >>`;
  const script = "<< /S /JavaScript /JS (1) >>";
  const catalog = `/Names << /EmbeddedFiles << /Names [(a) ${file("a.csv")} (b) ${file("b.csv")}] >> ` +
    `/JavaScript << /Names [(s) ${script}] >> >> /AcroForm << /SigFlags 3 /Fields [] /XFA [] >>`;
  const attached = `<< /Type /Annot /Subtype /FileAttachment /Rect [10 10 20 20] /FS ${file("c.csv")} >>`;
  const document = await openFile(
    "all.pdf",
    pdfOf([{ lines: lines(700, ["See there"]), notes: [attached] }], "", catalog),
  );
  assertEquals(document.facts.losses.map((loss) => loss.split(" ").slice(0, 2).join(" ")), [
    "Attached files",
    "Signatures are",
    "Scripts are",
  ]);
  assertMatch(document.facts.losses[0] ?? "", /: 2$/);
  assertEquals((await document.page(0)).elements[1]?.content, { text: "Attached file, not shown: c.csv" });
});

Deno.test("a page that is a picture says that it needs OCR, and the picture comes along", async () => {
  const document = await openFile("scan.pdf", pdfOf([{ hasPicture: true }]));
  const [image, ...others] = (await document.page(0)).elements;
  assertEquals(others, []);
  const { description = "", ...content } = image?.category === "image" ? image.content : {};
  assertMatch(description, /OCR/);
  assertGray(content);
});

Deno.test("a picture between the text of a page follows it", async () => {
  const document = await openFile(
    "figure.pdf",
    pdfOf([{ lines: lines(700, ["The harvest is shown below."]), hasPicture: true }]),
  );
  const { elements } = await document.page(0);
  assertEquals(elements.map(({ category }) => category), ["text", "image"]);
  assertGray(elements[1]?.category === "image" ? elements[1].content : {});
});

Deno.test("a picture that PDF.js delivers after the operators of the page is not lost", async () => {
  const document = await openFile(
    "late.pdf",
    pdfOf([{ hasLargePicture: true }, { hasPicture: true, hasLargePicture: true }]),
  );
  for (const index of [0, 1]) {
    const [image, ...others] = (await document.page(index)).elements;
    assertEquals(others, []);
    const { mime_type, width } = image?.category === "image" ? image.content : {};
    assertEquals({ mime_type, width }, { mime_type: "image/jpeg", width: 900 });
  }
});

/** The picture of the fixture: 40 × 40 pixels of one gray. */
function assertGray({ url = "", mime_type, width, height }: ElementContents["image"]): void {
  assertEquals({ mime_type, width, height }, { mime_type: "image/jpeg", width: 40, height: 40 });
  const jpeg = Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
  const { data } = decode(jpeg, { useTArray: true });
  assertEquals(data.length, 40 * 40 * 4);
  assert(data.every((value, at) => at % 4 === 3 || Math.abs(value - "x".charCodeAt(0)) < 4));
}

Deno.test("a PDF file that is damaged or empty is refused with the reason", async () => {
  for (const content of ["no PDF", ""]) {
    const error = await assertRejects(() => openFile("bad.pdf", content), DocumentError);
    assertEquals(error.code, "damaged");
  }
});

Deno.test("a damaged page at the beginning costs the pages beside it nothing", async () => {
  const page = (text: string) => ({ lines: [{ size: 10, x: 50, y: 700, text }] });
  const bytes = new TextDecoder("latin1").decode(pdfOf(["One", "Two", "Three"].map(page)));
  const damaged = bytes.replace(/(?<=\/Kids \[\d+ 0 R )\d+(?= 0 R)/, "0");
  const document = await openFile("damaged.pdf", Uint8Array.from(damaged, (letter) => letter.charCodeAt(0)));
  assertEquals((await document.page(0)).elements.map(({ content }) => content), [{ text: "One" }]);
  await assertRejects(async () => await document.page(1), DocumentError);
});
