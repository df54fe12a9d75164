import { assertEquals, assertRejects } from "@std/assert";
import { DocumentError } from "../../../../src/documents/formats/format.ts";
import { type PdfLine, pdfOf } from "../../../fixtures/documents/pdf.ts";
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

Deno.test("a page that is a picture says that it needs OCR", async () => {
  const document = await openFile("scan.pdf", pdfOf([{ hasPicture: true }]));
  const [image] = (await document.page(0)).elements;
  assertEquals(image?.category, "image");
  assertEquals(JSON.stringify(image?.content).includes("OCR"), true);
});

Deno.test("a PDF file that is damaged or empty is refused with the reason", async () => {
  for (const content of ["no PDF", ""]) {
    const error = await assertRejects(() => openFile("bad.pdf", content), DocumentError);
    assertEquals(error.code, "damaged");
  }
});
