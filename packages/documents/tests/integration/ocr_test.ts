import { DatabaseSync } from "node:sqlite";
import { join } from "@std/path";
import type { ParsedDocument } from "../../src/formats/format.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openFolderDocuments } from "../../mod.ts";
import { OCR_LANGUAGES, withScans } from "../../src/formats/ocr.ts";
import { DocumentsClient, TestFolder } from "./_folder_documents.ts";

const fixture = (name: string) => Deno.readFile(new URL(`../fixtures/files/${name}`, import.meta.url));
const files = async () => ({ "scan.png": await fixture("scan.png"), "scan.pdf": await fixture("scan.pdf") });

Deno.test("with a language, the text of pictures and of scanned pages is read", async () => {
  await using folder = await TestFolder.make(await files());
  await using client = await DocumentsClient.open(folder.path, { ocr: "eng" });
  for (const [name, { uri }] of Object.entries(await client.untilRead())) {
    const { elements } = await client.page(uri);
    assertEquals(elements.map(({ category }) => category), ["image", "text"], name);
    assertStringIncludes(JSON.stringify(elements[1]), "The price is 120.50 EUR per ton,");
  }
});

Deno.test("the text of scans is found, and kept between runs", async () => {
  await using folder = await TestFolder.make(await files());
  await using cache = await TestFolder.make();
  const options = { ocr: "eng", cacheFolder: cache.path };
  for (const run of [1, 2]) {
    await using documents = await openFolderDocuments({ folders: [folder.path], parsers: 1, ...options });
    await eventually(
      () => documents.search("payable thirty days", { signal: new AbortController().signal }),
      ({ hits }) => hits.length === 2,
      `both scans to be found in run ${run}`,
    );
  }
  const names = Array.from(Deno.readDirSync(cache.path), ({ name }) => name);
  assert(names.includes("documents-eng.sqlite"), names.join());
  using database = new DatabaseSync(join(cache.path, "documents-eng.sqlite"));
  const texts = database.prepare("SELECT text FROM scans").all().map(({ text }) => text);
  assertEquals(texts.length, 2);
  assertStringIncludes(String(texts[0]), "within thirty days");
});

Deno.test("what is known of scans is not read again, and what cannot be read says so", async () => {
  const scanned: ParsedDocument = {
    facts: { pageCount: 2, headings: [], opening: "", losses: [] },
    page: () => ({ title: "", elements: [] }),
    scans: (index) => Promise.resolve([Uint8Array.of(index)]),
  };
  const recognize = () => Promise.reject(new TypeError("no picture"));
  const document = withScans(scanned, { recognize, scanTexts: { 0: "One.\n\nTwo.\n" } });
  const textsOf = async (index: number) =>
    (await document.page(index)).elements.map(({ category, content }) => [category, content]);
  assertEquals(await textsOf(0), [["text", { text: "One." }], ["text", { text: "Two." }]]);
  assertEquals(await textsOf(1), [["annotation", { text: "Text in this picture is not read: no picture" }]]);
  assertEquals((await document.page(1, { isPlain: true, isTextOnly: true })).elements, []);
  assertEquals(document.takeScanTexts?.(), {});
});

Deno.test("without a language, a scanned page says that it needs OCR", async () => {
  await using folder = await TestFolder.make(await files());
  await using client = await DocumentsClient.open(folder.path);
  const { uri } = await client.untilListed("scan.pdf");
  const { elements } = await client.page(uri);
  assertEquals(elements.length, 1);
  assertStringIncludes(JSON.stringify(elements), "reading it needs OCR");
});

Deno.test("a language that has no name of a model is refused", async () => {
  await using folder = await TestFolder.make();
  for (const ocr of ["", "english", "eng/../../x", "eng+", "ENG"]) {
    assert(!OCR_LANGUAGES.test(ocr), ocr);
    await assertRejects(() => openFolderDocuments({ folders: [folder.path], ocr }), TypeError, ocr);
  }
});
