import { assertEquals } from "@std/assert";
import { pptxOf, relationships } from "../../../fixtures/documents/office.ts";
import { openFile, pagesOf } from "./_open.ts";

function shape(kind: string, paragraphs: readonly string[]): string {
  const texts = paragraphs.map((text) => {
    const level = /^\t*/.exec(text)?.[0].length ?? 0;
    return `<a:p><a:pPr lvl="${level}"/><a:r><a:t>${text.trim()}</a:t></a:r></a:p>`;
  });
  return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="${kind}"/></p:nvPr></p:nvSpPr><p:txBody>${
    texts.join("")
  }</p:txBody></p:sp>`;
}

Deno.test("a slide is a page with its title, lists, tables and notes", async () => {
  const table = '<p:graphicFrame><a:graphic><a:graphicData><a:tbl><a:tblPr firstRow="1"/>' +
    [["a", "b"], ["1", "2"]].map((row) =>
      `<a:tr>${
        row.map((cell) => `<a:tc><a:txBody><a:p><a:r><a:t>${cell}</a:t></a:r></a:p></a:txBody></a:tc>`).join(
          "",
        )
      }</a:tr>`
    ).join("") + "</a:tbl></a:graphicData></a:graphic></p:graphicFrame>";
  const notes = `<p:notes xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>${
    shape("body", ["Say hello"])
  }</p:spTree></p:cSld></p:notes>`;
  const document = await openFile(
    "talk.pptx",
    pptxOf([
      {
        shapes: shape("ctrTitle", ["The talk"]) + shape("body", ["one", "\tbelow", "two"]) +
          shape("sldNum", ["1"]) + table,
        related: [["n1", "notesSlide", "../notesSlides/notes1.xml"]],
      },
      { shapes: shape("body", ["Only text"]) },
    ], { "ppt/notesSlides/notes1.xml": notes, "ppt/notesSlides/_rels/notes1.xml.rels": relationships() }),
  );
  assertEquals(await pagesOf(document), [
    [
      "The talk",
      ["p0-heading-1", { level: 1, text: "The talk" }],
      ["p0-list-1", { items: [{ text: "one", items: ["below"] }, "two"] }],
      ["p0-table-1", { headers: ["a", "b"], rows: [["1", "2"]], total_rows: 1 }],
      ["p0-annotation-1", { text: "Say hello", kind: "notes" }],
    ],
    ["Slide 2", ["p1-text-1", { text: "Only text" }]],
  ]);
  assertEquals(document.facts.title, "The talk");
});

Deno.test("a presentation without slides is one empty page that says so", async () => {
  const { facts, page } = await openFile("empty.pptx", pptxOf([]));
  assertEquals([facts.pageCount, facts.losses], [1, ["The presentation has no slides"]]);
  assertEquals((await page(0)).elements, []);
});
