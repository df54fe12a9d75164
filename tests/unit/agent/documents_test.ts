import { assertEquals, assertThrows } from "@std/assert";
import {
  documentPagesUri,
  documentUri,
  elementUri,
  pageUri,
  readDocument,
  readDocumentPages,
  readElement,
  readPage,
} from "../../../src/agent/documents.ts";
import type { DPEFormat } from "../../../src/protocol/dpe.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";
import type { ResourceContents } from "../../../src/protocol/resources.ts";

const DOCUMENT = "dpe://docs/rpt";
const REPORT = "dpe://com.example.docs/rpt-2026";
const PAGE = `${DOCUMENT}/pages/2`;
const ELEMENT = `${DOCUMENT}/elements/tbl`;

const metadata = {
  doc_ref: "rpt",
  uri: DOCUMENT,
  file_uri: "file:///rpt.xlsx",
  file_type: "xlsx",
  title: "Report",
  page_count: 3,
};

function answer(uri: string, contents: Partial<ResourceContents>, format?: DPEFormat) {
  return { uri, format, result: { contents: [{ uri, ...contents }] } };
}

Deno.test("readDocument() reads a document's metadata and keeps keys that it does not know", () => {
  const json = JSON.stringify({ ...metadata, author: "Ada" });
  const document: Record<string, unknown> = { ...readDocument(answer(DOCUMENT, { text: json })) };
  assertEquals([document["page_count"], document["author"]], [3, "Ada"]);
});

Deno.test("readDocument() takes the first contents with text", () => {
  const contents = [{ uri: DOCUMENT, blob: "AAAA" }, { uri: DOCUMENT, text: JSON.stringify(metadata) }];
  assertEquals(readDocument({ uri: DOCUMENT, result: { contents } }).title, "Report");
});

Deno.test("readDocumentPages() has an empty index where the MCP server wrote none", () => {
  assertEquals(readDocumentPages(answer(DOCUMENT, { text: JSON.stringify(metadata) })).pages, []);
});

Deno.test("readPage() reads a page with its elements", () => {
  const page = {
    page_index: 2,
    title: "Sales",
    elements: [{ element_id: "a", category: "text", content: {} }],
  };
  const mimeType = "application/json";
  assertEquals(readPage(answer(PAGE, { mimeType, text: JSON.stringify(page) })).elements[0]?.element_id, "a");
});

Deno.test("readPage() reads JSON that its MCP server calls text/plain", () => {
  const text = JSON.stringify({ page_index: 2, title: "Sales", elements: [] });
  assertEquals(readPage(answer(PAGE, { mimeType: "text/plain", text })).title, "Sales");
});

Deno.test("readPage() wraps a page that its MCP server rendered as Markdown", () => {
  assertEquals(
    readPage(answer(PAGE, { mimeType: "text/markdown; charset=utf-8", text: "# Sales" }, "markdown")),
    {
      page_index: 2,
      title: "",
      doc_ref: "rpt",
      uri: PAGE,
      elements: [],
      content_markdown: "# Sales",
    },
  );
});

Deno.test("readPage() wraps plain text under the member of the format that was asked for", () => {
  const contents = { mimeType: "text/plain", text: "Sales" };
  assertEquals(readPage(answer(PAGE, contents, "text")).content_text, "Sales");
  assertEquals(readPage(answer(PAGE, contents)).content_text, "Sales");
  assertEquals(readPage(answer(PAGE, contents, "markdown")).content_markdown, "Sales");
});

Deno.test("readPage() wraps plain text that happens to be JSON, but no page", () => {
  assertEquals(readPage(answer(PAGE, { mimeType: "text/plain", text: "42" }, "text")).content_text, "42");
});

Deno.test("readElement() wraps an element that its MCP server rendered itself", () => {
  assertEquals(readElement(answer(ELEMENT, { mimeType: "text/markdown", text: "| a |" }, "markdown")), {
    element_id: "tbl",
    category: "text",
    content: { text: "| a |" },
    doc_ref: "rpt",
    uri: ELEMENT,
    content_markdown: "| a |",
  });
});

Deno.test("what is neither JSON nor text is an error that names the URI", () => {
  for (
    const contents of [
      { mimeType: "application/json", text: "{" },
      { mimeType: "application/json", text: `{"title":"Sales"}` },
      { text: "hello" },
      { mimeType: "image/png", blob: "AAAA" },
    ]
  ) {
    const error = assertThrows(() => readPage(answer(PAGE, contents)), SmcpError);
    assertEquals([error.code, error.details], [500, { uri: PAGE }]);
  }
  assertThrows(
    () => readDocument(answer(DOCUMENT, { mimeType: "text/markdown", text: "# Report" })),
    SmcpError,
  );
});

Deno.test("documentUri() names the document alone, without what was asked of it before", () => {
  assertEquals(documentUri(REPORT), REPORT);
  assertEquals(documentUri(`${REPORT}?depth=pages&offset=3&limit=2&format=text`), REPORT);
});

Deno.test("documentUri() names the document of a page or an element", () => {
  assertEquals(documentUri(`${REPORT}/pages/3?categories=table`), REPORT);
  assertEquals(documentUri(`${REPORT}/elements/tbl-001`), REPORT);
});

// proves: guide-nav-pages
Deno.test("documentPagesUri() asks for offset 0 and limit 20 unless told otherwise", () => {
  assertEquals(documentPagesUri(REPORT), `${REPORT}?depth=pages&offset=0&limit=20`);
  assertEquals(
    documentPagesUri(REPORT, { offset: 40, limit: 10 }),
    `${REPORT}?depth=pages&offset=40&limit=10`,
  );
});

Deno.test("documentPagesUri() refuses an offset and a limit that no URI may carry", () => {
  assertEquals(assertThrows(() => documentPagesUri(REPORT, { offset: -1 }), SmcpError).code, 4204);
  assertEquals(assertThrows(() => documentPagesUri(REPORT, { limit: 101 }), SmcpError).code, 4204);
});

// proves: guide-nav-page
Deno.test("pageUri() names a page in JSON unless told otherwise", () => {
  assertEquals(pageUri(REPORT, 0), `${REPORT}/pages/0`);
  assertEquals(pageUri(REPORT, 7, { format: "json" }), `${REPORT}/pages/7`);
  assertEquals(pageUri(REPORT, 7, { format: "markdown" }), `${REPORT}/pages/7?format=markdown`);
});

Deno.test("pageUri() and elementUri() ask for a rendered text with some elements, or with none", () => {
  const format = "markdown";
  assertEquals(
    pageUri(REPORT, 0, { format, elements: [] }),
    `${REPORT}/pages/0?format=markdown&elements=none`,
  );
  assertEquals(
    elementUri(REPORT, "a", { format, elements: ["image", "chart"] }),
    `${REPORT}/elements/a?format=markdown&elements=image,chart`,
  );
  assertEquals(pageUri(REPORT, 0, { elements: [] }), `${REPORT}/pages/0`);
});

Deno.test("pageUri() asks for the categories wanted", () => {
  assertEquals(
    pageUri(REPORT, 0, { categories: ["table", "pivot_table"] }),
    `${REPORT}/pages/0?categories=table,pivot_table`,
  );
});

Deno.test("pageUri() refuses what is no page number", () => {
  for (const pageIndex of [-1, 1.5, NaN, Infinity]) {
    assertEquals(assertThrows(() => pageUri(REPORT, pageIndex), SmcpError).code, 4204);
  }
});

// proves: guide-nav-element
Deno.test("elementUri() keeps an element id whole, whatever is in it", () => {
  assertEquals(elementUri(REPORT, "a/b?c"), `${REPORT}/elements/a%2Fb%3Fc`);
  assertEquals(
    elementUri(REPORT, "tbl 001", { format: "text" }),
    `${REPORT}/elements/tbl%20001?format=text`,
  );
});

Deno.test("a document key with encoded characters stays one segment", () => {
  assertEquals(pageUri("dpe://docs/reports%2F2026?format=markdown", 1), "dpe://docs/reports%2F2026/pages/1");
});

Deno.test("parameters without a meaning stay with the document", () => {
  assertEquals(pageUri("dpe://docs/rpt?version=3&depth=pages", 1), "dpe://docs/rpt/pages/1?version=3");
  assertEquals(
    pageUri("dpe://docs/rpt?version=3", 1, { format: "text" }),
    "dpe://docs/rpt/pages/1?version=3&format=text",
  );
});

Deno.test("a URI that names no document is refused", () => {
  const error = assertThrows(() => documentUri("dpe://com.example.docs"), SmcpError);
  assertEquals([error.code, error.details], [4204, { uri: "dpe://com.example.docs" }]);
  assertEquals(assertThrows(() => pageUri("window://host/doc", 0), SmcpError).code, 4204);
});

Deno.test("documentUri() asks for an outline, and the URIs of its parts forget it", () => {
  const asked = documentUri("dpe://host/doc/pages/3", { outline: { first: 20, last: 39 } });
  assertEquals(asked, "dpe://host/doc?outline=20-39");
  assertEquals(documentUri(asked), "dpe://host/doc");
  assertEquals(documentUri(asked, { outline: "all" }), "dpe://host/doc?outline=all");
});
