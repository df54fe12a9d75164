/** Proves that documents are found by the words of their text. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type FolderDocuments, type FolderDocumentsOptions, openFolderDocuments } from "../../mod.ts";
import type { SearchOptions, SearchResult } from "../../src/search/search.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { TestFolder } from "./_folder_documents.ts";

async function openIn(folder: TestFolder, options: Partial<FolderDocumentsOptions> = {}) {
  const documents = await openFolderDocuments({ folders: [folder.path], parsers: 1, ...options });
  await documents.listed;
  return documents;
}

/** The result of a search when all documents are searched. */
function searchIn(documents: FolderDocuments, query: string, options: Partial<SearchOptions> = {}) {
  const { signal } = new AbortController();
  return eventually(
    () => documents.search(query, { signal, ...options }),
    ({ notIndexed }: SearchResult) => notIndexed === 0,
    "every document to be indexed",
  );
}

Deno.test("a page is found by a word of its text, with the element and the words around it", async () => {
  await using folder = await TestFolder.make({
    "printer.md":
      "# Printer\n\n## Paper\n\nPut it in.\n\n# Care\n\nTake the old *toner cartridge* out first.",
    "bread.md": "# Bread\n\nFlour and water.",
  });
  await using documents = await openIn(folder);
  const { hits, total, notice } = await searchIn(documents, "toner cartridges");
  assertEquals(total, 1);
  assertEquals(notice, undefined);
  assertEquals(hits.map(({ title, page, pageTitle, elementId }) => ({ title, page, pageTitle, elementId })), [
    { title: "Printer", page: 1, pageTitle: "Care", elementId: "p1-text-1" },
  ]);
  assertStringIncludes(hits[0]?.snippet ?? "", "old *toner cartridge* out");
});

Deno.test("a row of a table is shown with the names of its columns", async () => {
  const rows = Array.from({ length: 2_000 }, (_, row) => `${row},SO-2025-${10_000 + row},${row % 7}`);
  await using folder = await TestFolder.make({ "orders.csv": `row,order,crates\n${rows.join("\n")}\n` });
  await using documents = await openIn(folder);
  const { hits: [hit] } = await searchIn(documents, "SO-2025-11234");
  assertEquals(hit?.page, 2);
  assertEquals(hit?.snippet, "row | order | crates\n1234 | SO-2025-11234 | 2");
});
