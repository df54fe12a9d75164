/** Proves that documents are found by the words of their text. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
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

Deno.test("words are found without their accents and endings, in scripts without spaces, and by their beginning", async () => {
  await using folder = await TestFolder.make({
    "cafe.md": "# Karte\n\nIm Café gibt es Mietverträge.",
    "toner.md": "# 打印机\n\n请更换东京都的墨盒。",
  });
  await using documents = await openIn(folder);
  const titles = async (query: string) => (await searchIn(documents, query)).hits.map(({ title }) => title);
  assertEquals(await titles("cafe"), ["Karte"]);
  assertEquals(await titles("Mietvert"), ["Karte"]);
  assertEquals(await titles("墨盒"), ["打印机"]);
  assertEquals(await titles("京东"), []);
});

Deno.test("the page that has all words comes first, then the one that has them in its title", async () => {
  const filler = "It says nothing of them here. ".repeat(40);
  await using folder = await TestFolder.make({
    "a.md": `# Trays\n\nA tray. ${filler}`,
    "b.md": `# Other\n\nThe mapping of a tray is set in the menu. ${filler}`,
    "c.md": `# Tray mapping\n\nMap each tray. ${filler}`,
  });
  await using documents = await openIn(folder);
  const { hits } = await searchIn(documents, "tray mapping");
  assertEquals(hits.map(({ title }) => title), ["Tray mapping", "Other"]);
});

Deno.test("a word that no page has pushes down none that has the others, though it begins another word", async () => {
  await using folder = await TestFolder.make({
    "a.md": "# Trays\n\nThe mapping of a tray is set in the menu.",
    "b.md": "# Trays\n\nThe tray and its cartridges.",
    "c.md": "# Tools\n\nWhich tool you need, and how to use it.",
    "d.md": "# Mapping\n\nA map.",
  });
  await using documents = await openIn(folder);
  const { hits: [first] } = await searchIn(documents, "tray mapping cart");
  assertStringIncludes(first?.snippet ?? "", "mapping of a tray");
  assertEquals((await searchIn(documents, "need a tool to use")).hits.map(({ title }) => title), ["Tools"]);
});

Deno.test("a file that has changed is found by its new text alone, and one that is gone not any more", async () => {
  await using folder = await TestFolder.make({ "a.md": "# A\n\nwalnuts", "b.md": "# B\n\nalmonds" });
  await using documents = await openIn(folder, { pollMs: 200 });
  assertEquals((await searchIn(documents, "walnuts")).total, 1);
  await folder.write("a.md", "# A\n\nchestnuts, and more of them");
  await Deno.remove(`${folder.path}/b.md`);
  const { signal } = new AbortController();
  const found = (query: string) => documents.search(query, { signal });
  await eventually(() => found("chestnuts"), ({ total }) => total === 1, "the new text to be found");
  assertEquals((await found("walnuts")).total, 0);
  await eventually(() => found("almonds"), ({ total }) => total === 0, "the removed file to be forgotten");
});

Deno.test("an index that is kept is used at the next start, and brought up to date", async () => {
  await using cache = await TestFolder.make();
  await using folder = await TestFolder.make({ "a.md": "# A\n\nwalnuts", "b.md": "# B\n\nalmonds" });
  {
    await using documents = await openIn(folder, { cacheFolder: cache.path });
    assertEquals((await searchIn(documents, "walnuts almonds")).total, 2);
  }
  await folder.write("b.md", "# B\n\nchestnuts, and more of them");
  await using documents = await openIn(folder, { cacheFolder: cache.path });
  const { hits } = await searchIn(documents, "walnuts chestnuts almonds");
  assertEquals(hits.map(({ title }) => title).sort(), ["A", "B"]);
  assertEquals((await searchIn(documents, "almonds")).total, 0);
});

Deno.test("a long document does not hide the others, and can be searched alone", async () => {
  const pages = Array.from({ length: 8 }, (_, page) => `# Page ${page}\n\nwalnuts walnuts walnuts`);
  await using folder = await TestFolder.make({
    "long.md": pages.join("\n\n"),
    "short.md": "# Short\n\nA cake with one of the walnuts and much else that is baked with it.",
  });
  await using documents = await openIn(folder);
  const all = await searchIn(documents, "walnuts");
  assertEquals(all.total, 9);
  const at = all.hits.findIndex(({ title }) => title === "Short");
  assert(at >= 0 && at <= 3);
  const docRef = all.hits.find(({ title }) => title !== "Short")?.docRef;
  const some = await searchIn(documents, "walnuts", { docRef, offset: 6, limit: 5 });
  assertEquals([some.total, some.hits.length], [8, 2]);
});

Deno.test("a search before all files are read says that it is not complete", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 40 }, (_, file) => [`${file}.md`, `# ${file}\n\nwalnuts`]),
  );
  await using folder = await TestFolder.make({ ...files, "broken.docx": "no zip file" });
  await using documents = await openIn(folder);
  const { signal } = new AbortController();
  const complete = async () => {
    const { total, notIndexed, notice } = await documents.search("walnuts", { signal });
    if (total === 40) return true;
    assertEquals(notIndexed > 0, true);
    assertStringIncludes(notice ?? "", "not searched yet");
    return false;
  };
  await eventually(complete, (isComplete) => isComplete, "all files to be searched");
  // What cannot be read is found by its name.
  const { hits: [hit] } = await searchIn(documents, "broken");
  assertEquals([hit?.title, hit?.snippet.startsWith("Cannot read ")], ["broken.docx", true]);
});
