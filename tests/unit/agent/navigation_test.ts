import { assertEquals, assertThrows } from "@std/assert";
import { documentPagesUri, documentUri, elementUri, pageUri } from "../../../src/agent/documents.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";

const DOCUMENT = "dpe://com.example.docs/rpt-2026";

Deno.test("documentUri() names the document alone, without what was asked of it before", () => {
  assertEquals(documentUri(DOCUMENT), DOCUMENT);
  assertEquals(documentUri(`${DOCUMENT}?depth=pages&offset=3&limit=2&format=text`), DOCUMENT);
});

Deno.test("documentUri() names the document of a page or an element", () => {
  assertEquals(documentUri(`${DOCUMENT}/pages/3?categories=table`), DOCUMENT);
  assertEquals(documentUri(`${DOCUMENT}/elements/tbl-001`), DOCUMENT);
});

// proves: guide-nav-pages
Deno.test("documentPagesUri() asks for offset 0 and limit 20 unless told otherwise", () => {
  assertEquals(documentPagesUri(DOCUMENT), `${DOCUMENT}?depth=pages&offset=0&limit=20`);
  assertEquals(
    documentPagesUri(DOCUMENT, { offset: 40, limit: 10 }),
    `${DOCUMENT}?depth=pages&offset=40&limit=10`,
  );
});

Deno.test("documentPagesUri() refuses an offset and a limit that no URI may carry", () => {
  assertEquals(assertThrows(() => documentPagesUri(DOCUMENT, { offset: -1 }), SmcpError).code, 4204);
  assertEquals(assertThrows(() => documentPagesUri(DOCUMENT, { limit: 101 }), SmcpError).code, 4204);
});

// proves: guide-nav-page
Deno.test("pageUri() names a page in JSON unless told otherwise", () => {
  assertEquals(pageUri(DOCUMENT, 0), `${DOCUMENT}/pages/0`);
  assertEquals(pageUri(DOCUMENT, 7, { format: "json" }), `${DOCUMENT}/pages/7`);
  assertEquals(pageUri(DOCUMENT, 7, { format: "markdown" }), `${DOCUMENT}/pages/7?format=markdown`);
});

Deno.test("pageUri() asks for the categories wanted", () => {
  assertEquals(
    pageUri(DOCUMENT, 0, { categories: ["table", "pivot_table"] }),
    `${DOCUMENT}/pages/0?categories=table%2Cpivot_table`,
  );
});

Deno.test("pageUri() refuses what is no page number", () => {
  for (const pageIndex of [-1, 1.5, NaN, Infinity]) {
    assertEquals(assertThrows(() => pageUri(DOCUMENT, pageIndex), SmcpError).code, 4204);
  }
});

// proves: guide-nav-element
Deno.test("elementUri() keeps an element id whole, whatever is in it", () => {
  assertEquals(elementUri(DOCUMENT, "a/b?c"), `${DOCUMENT}/elements/a%2Fb%3Fc`);
  assertEquals(
    elementUri(DOCUMENT, "tbl 001", { format: "text" }),
    `${DOCUMENT}/elements/tbl%20001?format=text`,
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
