import { assertEquals } from "@std/assert";
import { docxOf, pptxOf, relationships } from "../../fixtures/office.ts";
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

/** Pictures of these sizes in KiB, by the ids `i0`, `i1`, …, with the drawings that show them. */
function photos(sizes: readonly number[], folder: string) {
  const ids = sizes.map((_, at) => `i${at}`);
  return {
    drawings: ids.map((id) =>
      `<p:pic><p:nvPicPr><p:cNvPr descr="${id}"/></p:nvPicPr><p:blipFill><a:blip r:embed="${id}"/></p:blipFill></p:pic>`
    ),
    related: ids.map((id) => [id, "image", `${folder}media/${id}.jpeg`] as const),
    parts: (root: string) =>
      Object.fromEntries(
        sizes.map((size, at) => [`${root}/media/i${at}.jpeg`, new Uint8Array(size * 1024)]),
      ),
  };
}

/** What is said of each picture: its description, and the KiB that are sent along. */
async function toldOf(file: string, bytes: Uint8Array<ArrayBuffer>): Promise<unknown[]> {
  const { facts, page } = await openFile(file, bytes);
  const told: unknown[] = [];
  for (let index = 0; index < facts.pageCount; index++) {
    for (const { category, content } of (await page(index)).elements) {
      if (category !== "image") continue;
      const data = content.url?.split(",")[1];
      told.push([content.description, data === undefined ? 0 : Uint8Array.fromBase64(data).length / 1024]);
    }
  }
  return told;
}

Deno.test("pictures come along up to 2 MiB while a page has room, and larger ones say that they do not", async () => {
  const sizes = [200, 7_000, 2_048, 2_049, 2_048, 2_048, 257, 256];
  const said = (at: number) => `i${at} (${sizes[at]} KiB, which is too large to be sent along)`;
  const first = [["i0", 200], [said(1), 0], ["i2", 2_048], [said(3), 0], ["i4", 2_048], ["i5", 2_048]];
  const { drawings, related, parts } = photos(sizes, "../");
  const slide = { shapes: drawings.join(""), related };
  const slides = pptxOf([slide, slide], parts("ppt"));
  const onSlide = [...first, [said(6), 0], ["i7", 256]];
  assertEquals(await toldOf("a.pptx", slides), [...onSlide, ...onSlide]);
  const inWord = photos(sizes, "");
  const body = inWord.drawings.map((drawing) => `<w:p><w:r><w:drawing>${drawing}</w:drawing></w:r></w:p>`);
  const document = docxOf(body.join(""), { related: inWord.related, parts: inWord.parts("word") });
  assertEquals(await toldOf("a.docx", document), [...first, ["i6", 257], ["i7", 256]]);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"><!--${
    "x".repeat(3 << 20)
  }--></svg>`;
  assertEquals(await toldOf("a.svg", new TextEncoder().encode(svg)), [
    ["a.svg (3073 KiB, which is too large to be sent along)", 0],
  ]);
});
