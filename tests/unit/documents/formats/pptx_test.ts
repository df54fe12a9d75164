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

Deno.test("a title that PowerPoint has set itself gives way to that of the first slide", async () => {
  const titleOf = async (title: string) => {
    const core = `<cp:coreProperties xmlns:cp="cp" xmlns:dc="dc"><dc:title>${title}</dc:title>` +
      "<dc:description>generated using python-pptx</dc:description></cp:coreProperties>";
    const slides = [{ shapes: shape("title", ["Roadmap"]) + shape("body", ["Text."]) }];
    const { facts } = await openFile("a.pptx", pptxOf(slides, { "docProps/core.xml": core }));
    return [facts.title, facts.opening];
  };
  for (const title of ["PowerPoint Presentation", "PowerPoint-Präsentation", "Presentación de PowerPoint"]) {
    assertEquals(await titleOf(title), ["Roadmap", "Text."]);
  }
  assertEquals(await titleOf("How we left PowerPoint"), ["How we left PowerPoint", "Text."]);
});

Deno.test("objects of slides are named as lost, and the workbooks of charts are not", async () => {
  const lossesOf = async (shapes: string) =>
    (await openFile("a.pptx", pptxOf([{ shapes }], { "ppt/embeddings/sheet1.xlsx": "x" }))).facts.losses;
  const object =
    "<p:graphicFrame><a:graphic><a:graphicData><p:oleObj/></a:graphicData></a:graphic></p:graphicFrame>";
  assertEquals(await lossesOf(shape("title", ["Chart"])), []);
  assertEquals(await lossesOf(object), ["Embedded objects are not shown"]);
});
