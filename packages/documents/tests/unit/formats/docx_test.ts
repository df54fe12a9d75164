import { assertEquals, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { docxOf } from "../../fixtures/office.ts";
import { openFile, pagesOf } from "./_open.ts";

const STYLES = '<w:styles xmlns:w="w"><w:style w:styleId="H1"><w:name w:val="heading 1"/></w:style>' +
  '<w:style w:styleId="Mine"><w:basedOn w:val="H1"/></w:style><w:style w:styleId="Code"><w:name w:val="Source Code"/></w:style></w:styles>';
const NUMBERING =
  '<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl>' +
  '<w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>';

function p(text: string, { style = "", level = -1 } = {}): string {
  const list = level < 0 ? "" : `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr>`;
  return `<w:p><w:pPr><w:pStyle w:val="${style}"/>${list}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
}

const styled = {
  related: [["st", "styles", "styles.xml"], ["nu", "numbering", "numbering.xml"]] as const,
  parts: { "word/styles.xml": STYLES, "word/numbering.xml": NUMBERING },
};

Deno.test("headings, paragraphs, lists, code and tables of a document are elements", async () => {
  const table =
    "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr>" +
    '<w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr></w:tbl>';
  const body = p("Report", { style: "Mine" }) + p("Text.") + p("one", { level: 0 }) +
    p("below", { level: 1 }) +
    p("two", { level: 0 }) + p("x = 1", { style: "Code" }) + p("y = 2", { style: "Code" }) + table;
  assertEquals(await pagesOf(await openFile("report.docx", docxOf(body, styled))), [[
    "Report",
    ["p0-heading-1", { level: 1, text: "Report" }],
    ["p0-text-1", { text: "Text." }],
    ["p0-list-1", { ordered: true, items: [{ text: "one", items: ["below"] }, "two"] }],
    ["p0-code-1", { code: "x = 1\ny = 2" }],
    ["p0-table-1", { headers: ["a", "b"], rows: [["wide", null]], total_rows: 1, merged_ranges: ["A2:B2"] }],
  ]]);
});

Deno.test("page breaks and top headings divide a document into pages", async () => {
  const pageBreak = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>';
  const body = p("Cover") + pageBreak + p("One", { style: "H1" }) + p("1") + p("Two", { style: "H1" }) +
    p("2");
  const { facts } = await openFile("pages.docx", docxOf(body, styled));
  assertEquals(facts.pageTitles, ["One", "One", "Two"]);
});

Deno.test("links, notes, comments, formulas and changes of a document are shown", async () => {
  const body =
    '<w:p><w:hyperlink r:id="l1"><w:r><w:t>here</w:t></w:r></w:hyperlink><w:r><w:t> and</w:t></w:r>' +
    '<w:r><w:footnoteReference w:id="2"/></w:r><w:r><w:commentReference w:id="0"/></w:r>' +
    '<w:del w:author="Bo" w:date="2026-01-03T00:00:00Z"><w:r><w:delText>gone</w:delText></w:r></w:del>' +
    "<w:ins><w:r><w:t> new</w:t></w:r></w:ins></w:p>" +
    "<w:p><m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></m:oMathPara></w:p>";
  const note = (tag: string, attributes: string, text: string) =>
    `<w:${tag}s xmlns:w="w"><w:${tag} ${attributes}><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:${tag}></w:${tag}s>`;
  const document = await openFile(
    "notes.docx",
    docxOf(body, {
      related: [
        ["l1", "hyperlink", "https://example.com/"],
        ["f", "footnotes", "footnotes.xml"],
        ["c", "comments", "comments.xml"],
      ],
      parts: {
        "word/footnotes.xml": note("footnote", 'w:id="2"', "A note"),
        "word/comments.xml": note("comment", 'w:id="0" w:author="Ada" w:date="2026-01-02T03:04:05Z"', "Why?"),
      },
    }),
  );
  assertEquals(await pagesOf(document), [[
    "notes.docx",
    ["p0-text-1", { text: "here and[2] new" }],
    ["p0-link-1", { text: "here", url: "https://example.com/" }],
    ["p0-annotation-1", { text: "A note", kind: "footnote", mark: "2" }],
    ["p0-annotation-2", { text: "Why?", author: "Ada", created_at: "2026-01-02T03:04:05Z" }],
    ["p0-annotation-3", {
      ...{ text: "gone", kind: "deletion", author: "Bo", created_at: "2026-01-03T00:00:00Z" },
    }],
    ["p0-formula-1", { expression: "(a)/(b)" }],
  ]]);
  assertEquals(document.facts.losses, []);
});

Deno.test("a document with a DTD, or nested without end, is refused", async () => {
  const bomb =
    '<!DOCTYPE x [<!ENTITY a "aaaa">]><w:document xmlns:w="w"><w:body><w:p>&a;</w:p></w:body></w:document>';
  const withBomb = docxOf("", { parts: { "word/document.xml": bomb } });
  assertEquals((await assertRejects(() => openFile("a.docx", withBomb), DocumentError)).code, "damaged");
  const deep = docxOf("<w:ins>".repeat(300) + "</w:ins>".repeat(300));
  assertEquals((await assertRejects(() => openFile("a.docx", deep), DocumentError)).code, "too_large");
});

Deno.test("top headings of a document begin pages also where only one follows a page break", async () => {
  const pageBreak = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>';
  const body = p("One", { style: "H1" }) + p("1") + pageBreak + p("Annex") + p("Two", { style: "H1" });
  const { facts } = await openFile("pages.docx", docxOf(body, styled));
  assertEquals(facts.pageTitles, ["One", "One", "Two"]);
});

Deno.test("the header and the footer of a document are on its first page", async () => {
  const margin = (text: string) => `<w:hdr xmlns:w="w"><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:hdr>`;
  const section = '<w:sectPr><w:headerReference r:id="h1"/><w:footerReference r:id="f1"/></w:sectPr>';
  const body = p("One", { style: "H1" }) + p("1") + p("Two", { style: "H1" }) + section;
  const document = await openFile(
    "margins.docx",
    docxOf(body, {
      related: [...styled.related, ["h1", "header", "header1.xml"], ["f1", "footer", "footer1.xml"]],
      parts: {
        ...styled.parts,
        "word/header1.xml": margin("Confidential"),
        "word/footer1.xml": margin("Nordic"),
      },
    }),
  );
  assertEquals(await pagesOf(document), [
    [
      "One",
      ["p0-header-1", { text: "Confidential" }],
      ["p0-heading-1", { level: 1, text: "One" }],
      ["p0-text-1", { text: "1" }],
      ["p0-footer-1", { text: "Nordic" }],
    ],
    ["Two", ["p1-heading-1", { level: 1, text: "Two" }]],
  ]);
});

Deno.test("a list of a style that is indented further is below the item before it", async () => {
  const level = (id: number, indent: number) =>
    `<w:abstractNum w:abstractNumId="${id}"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>` +
    `<w:pPr><w:ind w:left="${indent}"/></w:pPr></w:lvl></w:abstractNum>`;
  const num = (id: number) => `<w:num w:numId="${id}"><w:abstractNumId w:val="${id}"/></w:num>`;
  const numbering = `<w:numbering xmlns:w="w">${level(1, 360)}${level(2, 643)}${num(1)}${
    num(2)
  }</w:numbering>`;
  const style = (id: number) =>
    `<w:style w:styleId="B${id}"><w:name w:val="List Bullet ${id}"/><w:pPr><w:numPr><w:numId w:val="${id}"/></w:numPr></w:pPr></w:style>`;
  const parts = {
    "word/styles.xml": `<w:styles xmlns:w="w">${style(1)}${style(2)}</w:styles>`,
    "word/numbering.xml": numbering,
  };
  const body = p("one", { style: "B1" }) + p("below", { style: "B2" }) + p("two", { style: "B1" });
  assertEquals(await pagesOf(await openFile("lists.docx", docxOf(body, { ...styled, parts }))), [[
    "lists.docx",
    ["p0-list-1", { items: [{ text: "one", items: ["below"] }, "two"] }],
  ]]);
});
