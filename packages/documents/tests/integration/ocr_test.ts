import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { join } from "@std/path";
import type { ParsedDocument } from "../../src/formats/format.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { openFolderDocuments } from "../../mod.ts";
import { openFile } from "../../src/formats/kinds.ts";
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
  const texts = database.prepare("SELECT text FROM pictures").all().map(({ text }) => text);
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
  const [left] = (await document.page(1, { isPlain: true, isTextOnly: true })).elements;
  assertStringIncludes(JSON.stringify(left), "reading it exceeds the limits");
  assertEquals(document.takeScanTexts?.(), {});
});

/** A PNG file of black pixels: some hundred thousand bytes that become as many million. */
async function bombOf(side: number): Promise<Uint8Array> {
  const chunk = (type: string, data: Uint8Array) => {
    const body = new Uint8Array(4 + data.length);
    body.set(new TextEncoder().encode(type));
    body.set(data, 4);
    const [length, check] = [new Uint8Array(4), new Uint8Array(4)];
    new DataView(length.buffer).setUint32(0, data.length);
    new DataView(check.buffer).setUint32(0, crc32(body));
    return [length, body, check];
  };
  const head = new DataView(new ArrayBuffer(13));
  head.setUint32(0, side);
  head.setUint32(4, side);
  head.setUint8(8, 8);
  const rows = ReadableStream.from(Array.from({ length: side }).values().map(() => new Uint8Array(1 + side)));
  const packed = await new Response(rows.pipeThrough(new CompressionStream("deflate"))).bytes();
  const parts = [
    chunk("IHDR", new Uint8Array(head.buffer)),
    chunk("IDAT", packed),
    chunk("IEND", new Uint8Array()),
  ];
  return await new Blob([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10), ...parts.flat()]).bytes();
}

Deno.test("a picture whose text exceeds the limits is shown, and says so; others are read as before", async () => {
  await using folder = await TestFolder.make({ "bomb.png": await bombOf(22_000), ...await files() });
  await using client = await DocumentsClient.open(folder.path, {
    ocr: "eng",
    maxParserBytes: 400 * 1024 * 1024,
  });
  const { uri } = await client.untilListed("bomb.png");
  const { elements } = await client.page(uri);
  assertEquals(elements.map(({ category }) => category), ["image", "annotation"]);
  assertStringIncludes(JSON.stringify(elements[1]), "reading it exceeds the limits");
  const scan = await client.page((await client.untilListed("scan.png")).uri);
  assertStringIncludes(JSON.stringify(scan.elements), "The price is 120.50 EUR per ton,");
});

Deno.test("each picture of a TIFF file is a page with its text, but a smaller copy and one that comes again", async () => {
  // Each has one entry: the first picture and the third one begin anew, the second is a copy.
  const frame = (at: number, kind: number, next: number) => {
    const view = new DataView(tiff.buffer, at);
    view.setUint16(0, 3, true);
    for (const [index, [tag, value]] of [[254, kind], [256, 8], [257, 8]].entries()) {
      view.setUint16(2 + index * 12, tag ?? 0, true);
      view.setUint16(4 + index * 12, 4, true);
      view.setUint32(6 + index * 12, 1, true);
      view.setUint32(10 + index * 12, value ?? 0, true);
    }
    view.setUint32(38, next, true);
  };
  const tiff = new Uint8Array(200);
  tiff.set([0x49, 0x49, 42, 0, 8]);
  frame(8, 0, 60);
  frame(60, 1, 120);
  frame(120, 0, 8);
  const recognize = (picture: Uint8Array) => Promise.resolve(`Frame at ${picture[4]}`);
  const limits = { maxUnpackedBytes: 1_000, maxPageBytes: 1_000, maxDepth: 10 };
  const { facts, page } = await openFile("image", { bytes: tiff, fileName: "fax.tif", limits, recognize });
  assertEquals(facts.pageTitles, ["fax.tif", "Picture 2 of 2"]);
  const texts = await Promise.all(
    [0, 1].map(async (index) => JSON.stringify((await page(index)).elements.at(-1))),
  );
  assertEquals(texts.map((text) => /Frame at \d+/.exec(text)?.[0]), ["Frame at 8", "Frame at 120"]);
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
