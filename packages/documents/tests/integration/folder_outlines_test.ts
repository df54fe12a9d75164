import { assertEquals } from "@std/assert";
import type { DPEDocument } from "@a2c-smcp/sdk";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { manualPdf, TEXT } from "../fixtures/manual.ts";
import { pdfOf } from "../fixtures/pdf.ts";
import { DocumentsClient, TestFolder } from "./_folder_documents.ts";

Deno.test("a manual of 464 pages is read from its chapters to a page in three reads", async () => {
  await using folder = await TestFolder.make({ "manual.pdf": manualPdf() });
  await using client = await DocumentsClient.open(folder.path);
  const { uri } = await client.untilListed("manual.pdf");
  const { outline = [] } = await client.readObject<DPEDocument>(`${uri}?outline=all`);
  assertEquals(outline.slice(15, 17), [
    { title: "Section 2.7 of it", level: 2, page_index: 28, section_count: 6 },
    { title: "Chapter 3", level: 1, page_index: 32 },
  ]);
  assertEquals(outline.length, 232);
  const part = await client.readObject<DPEDocument>(`${uri}?outline=28-31`);
  assertEquals(part.outline?.at(-1), { title: "Step 6", level: 2, page_index: 28 });
  assertEquals((await client.page(uri, 29)).title, "Page 30: Step 6 (continued)");
});

Deno.test("the outline of other documents are their headings or the names of their pages", async () => {
  await using folder = await TestFolder.make({
    "a.md": "# Report\n\nBoth.\n\n## North\n\nWell.\n\n### Yield\n\n## South\n\nWell.\n",
    "b.csv": `field,tons\n${Array.from({ length: 900 }, (_, row) => `${row},1`).join("\n")}\n`,
  });
  await using client = await DocumentsClient.open(folder.path);
  const documents = await client.untilRead();
  const outlineOf = async (name: string) => {
    const { outline = [] } = await client.readObject<DPEDocument>(`${documents[name]?.uri}?outline=all`);
    return outline.map(({ title, level, page_index }) => `${level} ${title} ${page_index}`);
  };
  assertEquals(await outlineOf("a.md"), ["1 Report 0", "2 North 1", "3 Yield 1", "2 South 2"]);
  assertEquals(await outlineOf("b.csv"), ["1 Rows 1–500 0", "1 Rows 501–900 1"]);
});

Deno.test("what a file says of itself is metadata of its document, and its author is found", async () => {
  const html =
    '<html lang="de"><head><title>Yields</title><meta name="author" content="Ada Byron"></head><p>x</p></html>';
  await using folder = await TestFolder.make({ "a.html": html, "b.md": "x" });
  await using client = await DocumentsClient.open(folder.path);
  const { uri } = await client.untilListed("a.html");
  const { metadata } = await client.readObject<DPEDocument>(uri);
  assertEquals(metadata, { author: "Ada Byron", language: "de" });
  const found = await client.readObject<{ total_count: number }>(
    "dpe://local.documents?keywords=ada%20byron",
  );
  assertEquals(found.total_count, 1);
});

Deno.test("the outline of a PDF file without bookmarks are the headings of its pages, when they have been read", async () => {
  const line = (size: number, y: number, text: string) => ({ size, x: 50, y, text });
  const pages = Array.from({ length: 9 }, (_, page) => ({
    lines: [...(page % 4 === 0 ? [line(16, 720, `About field ${page}`)] : []), line(10, 700, TEXT.text)],
  }));
  await using folder = await TestFolder.make({ "a.pdf": pdfOf(pages) });
  await using client = await DocumentsClient.open(folder.path);
  const { uri } = await client.untilListed("a.pdf");
  const { outline } = await eventually(
    () => client.readObject<DPEDocument>(`${uri}?outline=all`),
    ({ outline = [] }) => outline.length === 3,
    "the titles of all pages",
  );
  assertEquals(outline?.at(-1), { title: "About field 8", level: 1, page_index: 8 });
});
