import { assertEquals, assertRejects } from "@std/assert";
import { readDocumentTree, toTreeJson } from "../../../../src/cli/answers/document_tree.ts";
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
  const read = tree.map(({ pages, failure }) => pages?.map(({ page }) => page.title) ?? failure);
  assertEquals(read, [["P0", "P1"], "Document not found", ["P0", "P1"]]);
});

// proves: guide-nav-page
Deno.test("readDocumentTree() reads the elements of each page, and tells in its place why it cannot", async () => {
  const tree = await readDocumentTree(documents.slice(0, 1), { computer, depth: "elements" });
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
