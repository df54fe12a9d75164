import { assertEquals, assertThrows } from "@std/assert";
import { readDocument, readDocumentPages, readElement, readPage } from "../../../src/agent/documents.ts";
import type { DPEFormat } from "../../../src/protocol/dpe.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";
import type { ResourceContents } from "../../../src/protocol/resources.ts";

const DOCUMENT = "dpe://docs/rpt";
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
