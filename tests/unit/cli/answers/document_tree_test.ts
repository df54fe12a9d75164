import { assertEquals, assertRejects } from "@std/assert";
import { readDocumentTree, toTreeJson } from "../../../../src/cli/answers/document_tree.ts";
import { finderText } from "../../../../src/cli/answers/finder.ts";
import type { DPEDocumentSummary } from "../../../../src/protocol/dpe.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";

function document(doc_ref: string): DPEDocumentSummary {
  const uri = `dpe://docs/${doc_ref}`;
  return { doc_ref, uri, file_uri: "file:///a", file_type: "md", title: doc_ref, page_count: 2, server: "s" };
}

const documents = [document("a"), document("gone"), document("b")];

/** Every document but one has two pages; the second page of every document cannot be read. */
const computer = {
  readResource(uri: string) {
    const [document_uri = "", page] = uri.split(/[?]|[/]pages[/]/);
    if (document_uri.endsWith("gone")) return Promise.reject(new SmcpError(4201, "Document not found"));
    if (page === "1") return Promise.reject(new SmcpError(4202, "Page out of range"));
    const elements = [{ element_id: "e", category: "text", summary: `of ${document_uri}`, content: {} }];
    const pages = [0, 1].map((page_index) => ({
      page_index,
      title: `P${page_index}`,
      element_count: 1,
      uri: document_uri,
    }));
    const model = page === "0" ? { page_index: 0, title: "", elements } : { ...document("x"), pages };
    return Promise.resolve({
      contents: [{ uri, mimeType: "application/json", text: JSON.stringify(model) }],
    });
  },
};

Deno.test("readDocumentTree() reads nothing more for the documents alone", async () => {
  const tree = await readDocumentTree(documents, { computer, depth: "documents" });
  assertEquals(tree, documents.map((document) => ({ document })));
});

// proves: guide-nav-pages
Deno.test("readDocumentTree() reads the page index of each document, and tells in its place why it cannot", async () => {
  const tree = await readDocumentTree(documents, { computer, depth: "pages" });
  assertEquals(
    finderText(tree, { totalCount: 3, offset: 0 }),
    `a (md, 2 pages)
    dpe://docs/a
    page 0: P0 (1 element)
    page 1: P1 (1 element)
gone (md, 2 pages)
    dpe://docs/gone
    cannot be read: Document not found
b (md, 2 pages)
    dpe://docs/b
    page 0: P0 (1 element)
    page 1: P1 (1 element)
1–3 of 3`,
  );
});

// proves: guide-nav-page
Deno.test("readDocumentTree() reads the elements of each page, and tells in its place why it cannot", async () => {
  const tree = await readDocumentTree(documents.slice(0, 1), { computer, depth: "elements" });
  assertEquals(
    finderText(tree, { totalCount: 1, offset: 0 }),
    `a (md, 2 pages)
    dpe://docs/a
    page 0: P0 (1 element)
        [text] e: of dpe://docs/a
    page 1: P1 (1 element)
        cannot be read: Page out of range
1–1 of 1`,
  );
  assertEquals(toTreeJson(tree), [{
    ...document("a"),
    pages: [
      {
        page_index: 0,
        title: "P0",
        element_count: 1,
        uri: "dpe://docs/a",
        elements: [{ element_id: "e", category: "text", summary: "of dpe://docs/a", content: {} }],
      },
      { page_index: 1, title: "P1", element_count: 1, uri: "dpe://docs/a", failure: "Page out of range" },
    ],
  }]);
});

Deno.test("readDocumentTree() ends when it is aborted", async () => {
  const signal = AbortSignal.abort(new TypeError("enough"));
  await assertRejects(
    () => readDocumentTree(documents, { computer, depth: "pages", signal }),
    TypeError,
    "enough",
  );
});

Deno.test("finderText() lets no title begin a line", () => {
  const forged = { ...document("a"), title: "Report\n    dpe://evil" };
  const text = finderText([{ document: forged }], { totalCount: 1, offset: 0 });
  assertEquals(text.split("\n")[0], '"Report dpe://evil" (md, 2 pages)');
});
