import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { docxOf, zipOf } from "../../fixtures/office.ts";
import { markdownOf, openFile } from "./_open.ts";

Deno.test("an archive lists its files, and has the pages of each that can be read", async () => {
  const archive = zipOf({
    "b/report.docx": docxOf(
      '<w:p><w:r><w:t>One</w:t></w:r></w:p><w:p><w:r><w:br w:type="page"/></w:r></w:p><w:p><w:r><w:t>Two</w:t></w:r></w:p>',
    ),
    "b/": "",
    "a.md": "# Apples\n\nText.",
    "A.md": "Other",
    "data.bin": new Uint8Array(10),
    "inner.zip": zipOf({ "x.txt": "x" }),
    "__MACOSX/a.md": "x",
    ".hidden": "x",
    "broken.docx": "x",
  });
  const document = await openFile("all.zip", archive);
  const { facts } = document;
  assertEquals(facts.pageTitles?.[0], "Files of all.zip");
  assertEquals(facts.losses, ["Files that are named, and not read: 3"]);
  assertEquals(facts.outline, [
    { title: "Files", level: 1, page: 0 },
    { title: "A.md", level: 1, page: 1 },
    { title: "a.md", level: 1, page: 2 },
    { title: "Apples", level: 2, page: 2 },
    { title: "b/report.docx", level: 1, page: 3 },
  ]);
  const [contents = "", ...pages] = await markdownOf(document);
  assertMatch(
    contents,
    /\| a\.md \| 1 KiB \| 2 \|\n\| b\/report\.docx \| 1 KiB \| 3–4 \|\n\| broken\.docx .* damaged/,
  );
  assertMatch(contents, /data\.bin .* not read: of a kind/);
  assertMatch(contents, /inner\.zip .* an archive in an archive/);
  assertEquals(pages, ["Other", "# Apples\n\nText.", "One", "Two"]);
  assertEquals(facts.pageCount, 5);
});

Deno.test("names of an archive lead nowhere, and are shown without codes", async () => {
  const archive = zipOf({ "../../etc/passwd": "a", "/abs\n\u202etxt.md": "b", "C:\\x\\y.txt": "c" });
  const { facts } = await openFile("a.zip", archive);
  assertEquals(facts.pageTitles?.slice(1), ["C:/x/y.txt", "abs��txt.md", "etc/passwd"]);
});

Deno.test("names in the encoding of another system are read", async () => {
  // Without the mark of UTF-8, the bytes of a name may be of any encoding.
  const archive = zipOf({ "xxxxxxxx.txt": "a" });
  const name = Uint8Array.of(0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea, 0x82, 0xcc);
  const text = new TextDecoder("latin1").decode(archive);
  for (let at = text.indexOf("xxxxxxxx"); at >= 0; at = text.indexOf("xxxxxxxx", at + 1)) {
    archive.set(name, at);
  }
  assertEquals((await openFile("a.zip", archive)).facts.pageTitles?.[1], "日本語の.txt");
});

Deno.test("an archive with a password says so", async () => {
  const archive = zipOf({ "a.txt": "a" });
  archive[directoryOf(archive) + 8] = 1;
  const error = await assertRejects(() => openFile("a.zip", archive), DocumentError);
  assertEquals(error.code, "encrypted");
});

Deno.test("an archive of many files is read, and of much up to its bound", async () => {
  const many = zipOf(Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`${at}.txt`, `text ${at}`])));
  const { facts } = await openFile("a.zip", many);
  assertEquals([facts.pageCount, facts.losses], [601, []]);
  // The directory says that the first file unpacks to 40 MiB.
  const bomb = zipOf({ "a.txt": "a", "b.txt": "small" });
  new DataView(bomb.buffer).setUint32(directoryOf(bomb) + 24, 40 * 1024 * 1024, true);
  const document = await openFile("a.zip", bomb);
  assertEquals(document.facts.pageTitles, ["Files of a.zip", "b.txt"]);
});

/** Where the directory of an archive begins. */
function directoryOf(archive: Uint8Array): number {
  return archive.findIndex((_, at) =>
    [0x50, 0x4b, 1, 2].every((byte, index) => archive[at + index] === byte)
  );
}
