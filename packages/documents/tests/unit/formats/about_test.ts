import { assertEquals } from "@std/assert";
import { aboutFile } from "../../../src/formats/about.ts";
import { docxOf } from "../../fixtures/office.ts";
import { openFile } from "./_open.ts";

async function aboutOf(fileName: string, content: string | Uint8Array<ArrayBuffer>): Promise<unknown> {
  return (await openFile(fileName, content)).facts.about;
}

Deno.test("dates are brought into ISO 8601, to the day where no time or no zone is given", () => {
  const created = (date: unknown) => aboutFile({ created: date }).created;
  assertEquals(
    [
      "2026",
      "2026-01-15",
      "2026-01-15T08:30:00+02:00",
      "Thu, 15 Jan 2026 08:30:00 +0100",
      "15 January 2026",
      "January 15, 2026 8:30",
      new Date(Date.UTC(2026, 0, 15, 8)),
    ].map(created),
    [
      "2026",
      "2026-01-15",
      "2026-01-15T08:30:00+02:00",
      "2026-01-15T07:30:00Z",
      "2026-01-15",
      "2026-01-15",
      "2026-01-15T08:00:00Z",
    ],
  );
  assertEquals(["", "soon", undefined, null, new Date(NaN)].map(created), Array(5).fill(undefined));
});

Deno.test("office files say who wrote them and when, and libraries that made them do not", async () => {
  const core = (creator: string) =>
    `<cp:coreProperties xmlns:cp="a" xmlns:dc="b" xmlns:dcterms="c"><dc:creator>${creator}</dc:creator>` +
    "<dc:subject>Yields</dc:subject><dc:language>en-GB</dc:language>" +
    "<dcterms:created>2026-01-15T08:30:00Z</dcterms:created><dcterms:modified>2026-02-01T09:00:00Z</dcterms:modified>" +
    "</cp:coreProperties>";
  const file = (creator: string) => docxOf("<w:p/>", { parts: { "docprops/core.xml": core(creator) } });
  assertEquals(await aboutOf("a.docx", file("Ada Byron;Mary Somerville")), {
    author: "Ada Byron, Mary Somerville",
    created: "2026-01-15T08:30:00Z",
    changed: "2026-02-01T09:00:00Z",
    description: "Yields",
    language: "en-GB",
  });
  assertEquals(await aboutOf("a.docx", file("python-docx")), { description: "Yields", language: "en-GB" });
});

Deno.test("HTML, Markdown, mails and pictures say who wrote them", async () => {
  const html =
    '<html lang="de"><head><meta name="author" content="Ada Byron"><meta name="description" content="Yields">' +
    '<meta property="article:published_time" content="2026-01-15T08:30:00Z"></head><body><p>x</p></body></html>';
  assertEquals(await aboutOf("a.html", html), {
    language: "de",
    author: "Ada Byron",
    description: "Yields",
    created: "2026-01-15T08:30:00Z",
  });
  const markdown = "---\nauthor: [Ada Byron, Mary Somerville]\ndate: 2026-01-15\nlang: en\n---\n# Yields\n";
  assertEquals(await aboutOf("a.md", markdown), {
    author: "Ada Byron, Mary Somerville",
    created: "2026-01-15",
    language: "en",
  });
  const mail =
    "From: Ada Byron <ada@example.com>\r\nDate: Thu, 15 Jan 2026 08:30:00 +0100\r\nSubject: Yields\r\n\r\nx\r\n";
  assertEquals(await aboutOf("a.eml", mail), {
    author: "Ada Byron <ada@example.com>",
    created: "2026-01-15T07:30:00Z",
  });
});
