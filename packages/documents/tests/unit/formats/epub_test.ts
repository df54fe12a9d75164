import { assertEquals, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { zipOf } from "../../fixtures/office.ts";
import { openFile, pagesOf } from "./_open.ts";

const GIF = Uint8Array.fromBase64("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7");

/** A book with these chapters, a table of contents and what its package says of it. */
function bookOf(
  chapters: Readonly<Record<string, string>>,
  { items = "", metadata = "", spine = "", parts = {} }: {
    readonly items?: string;
    readonly metadata?: string;
    readonly spine?: string;
    readonly parts?: Readonly<Record<string, string | Uint8Array>>;
  } = {},
): Uint8Array<ArrayBuffer> {
  const names = Object.keys(chapters);
  const manifest = names.map((name, index) => `<item id="c${index}" href="${encodeURI(name)}"/>`).join("");
  const refs = names.map((_, index) => `<itemref idref="c${index}"/>`).join("");
  return zipOf({
    "META-INF/container.xml":
      '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    "OEBPS/book.opf":
      `<package xmlns:dc="dc"><metadata>${metadata}</metadata><manifest>${manifest}${items}</manifest>` +
      `<spine${spine}>${refs}<itemref idref="c0"/><itemref idref="missing"/></spine></package>`,
    ...Object.fromEntries(
      Object.entries(chapters).map(([name, body]) => [
        `OEBPS/${name}`,
        `<?xml version="1.0"?><html xmlns="x"><head><title>t</title></head><body>${body}</body></html>`,
      ]),
    ),
    ...parts,
  });
}

Deno.test("a book has a page for each chapter, with its name in the table of contents", async () => {
  const book = bookOf({
    "text/a 1.xhtml":
      '<h1>1</h1><p>Call me Ada. See <a href="b.xhtml#n">the notes</a>.</p><img src="../img/x.gif" alt="Whale"/>',
    "text/b.xhtml":
      '<h1>2</h1><p>Second.</p><p><a href="http://example.com/">Site</a></p><p><a href="a%201.xhtml">Back</a></p>',
  }, {
    metadata:
      "<dc:title>Whales</dc:title><dc:creator>Ada L</dc:creator><dc:creator>Bob</dc:creator><dc:language>en</dc:language>" +
      "<dc:date>1851-10-18</dc:date><dc:description>&lt;p&gt;A &lt;b&gt;sea&lt;/b&gt; story&lt;/p&gt;</dc:description>" +
      '<dc:subject>sea</dc:subject><meta property="dcterms:modified">2026-01-02T00:00:00Z</meta>',
    items: '<item id="nav" href="nav.xhtml" properties="nav"/>',
    parts: {
      "OEBPS/img/x.gif": GIF,
      "OEBPS/nav.xhtml":
        '<!DOCTYPE html><html><nav epub:type="landmarks"><ol><li><a href="x">Cover</a></li></ol></nav>' +
        '<nav epub:type="toc"><ol><li><a href="text/a%201.xhtml">Chapter <i>One</i></a><ol><li><a href="text/a%201.xhtml#s">Inner</a></li></ol></li>' +
        '<li><a href="text/b.xhtml">Chapter Two &amp; end</a></li></ol></nav></html>',
    },
  });
  const document = await openFile("whales.epub", book);
  const { title, keywords, about, outline, losses } = document.facts;
  assertEquals([title, keywords, losses], ["Whales", ["sea"], []]);
  assertEquals(about, {
    author: "Ada L, Bob",
    created: "1851-10-18",
    changed: "2026-01-02T00:00:00Z",
    language: "en",
    description: "A sea story",
  });
  assertEquals(outline, [
    { title: "Chapter One", level: 1, page: 0 },
    { title: "Inner", level: 2, page: 0 },
    { title: "Chapter Two & end", level: 1, page: 1 },
  ]);
  assertEquals(await pagesOf(document), [
    [
      "Chapter One",
      ["p0-heading-1", { level: 1, text: "1" }],
      ["p0-text-1", { text: "Call me Ada. See the notes." }],
      ["p0-image-1", {
        description: "Whale",
        mime_type: "image/gif",
        width: 1,
        height: 1,
        url: `data:image/gif;base64,${GIF.toBase64()}`,
      }],
    ],
    [
      "Chapter Two & end",
      ["p1-heading-1", { level: 1, text: "2" }],
      ["p1-text-1", { text: "Second." }],
      ["p1-link-1", { text: "Site", url: "http://example.com/" }],
      ["p1-text-2", { text: "Back" }],
    ],
  ]);
});

Deno.test("the table of contents of older books is read, also with a document type", async () => {
  const ncx =
    '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd"><ncx><navMap>' +
    '<navPoint><navLabel><text>First</text></navLabel><content src="a.html"/></navPoint></navMap></ncx>';
  const parts = { "OEBPS/toc.ncx": ncx };
  const options = { items: '<item id="ncx" href="toc.ncx"/>', spine: ' toc="ncx"', parts };
  const { facts } = await openFile("a.epub", bookOf({ "a.html": "<p>x</p>" }, options));
  assertEquals(facts.pageTitles, ["First"]);
  const hostile = { "OEBPS/toc.ncx": '<!DOCTYPE ncx [<!ENTITY a "aaaa">]><ncx>&a;</ncx>' };
  const { facts: others } = await openFile(
    "a.epub",
    bookOf({ "a.html": "<p>x</p>" }, { ...options, parts: hostile }),
  );
  assertEquals(others.pageTitles, ["a.epub"]);
});

Deno.test("a book that is protected against copying is refused, one with a protected font is read", async () => {
  const encrypted = (uri: string) => ({
    "META-INF/encryption.xml":
      `<encryption><EncryptedData><CipherData><CipherReference URI="${uri}"/></CipherData></EncryptedData></encryption>`,
  });
  const locked = bookOf({ "a.html": "xyz" }, { parts: encrypted("OEBPS/a.html") });
  const error = await assertRejects(() => openFile("a.epub", locked), DocumentError);
  assertEquals(error.code, "encrypted");
  const font = bookOf({ "a.html": "<p>xyz</p>" }, { parts: encrypted("OEBPS/f.otf") });
  assertEquals((await openFile("a.epub", font)).facts.opening, "xyz");
});

Deno.test("a chapter that leads out of the book, or is missing, costs nothing but itself", async () => {
  const book = bookOf(
    { "a.html": '<p>x</p><img src="../../../etc/passwd"/><img src="file:///etc/passwd"/>' },
    {
      items: '<item id="missing" href="../../../etc/passwd"/>',
    },
  );
  const document = await openFile("a.epub", book);
  assertEquals(document.facts.losses, ["A chapter is missing in the file"]);
  assertEquals((await document.page(0)).elements.map(({ category }) => category), ["text", "image", "image"]);
});
