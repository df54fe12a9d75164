import { assertEquals } from "@std/assert";
import { pptxOf, relationships } from "../../fixtures/office.ts";
import { markdownOf, openFile } from "./_open.ts";

const r = (text: string, attributes = "", more = "") =>
  `<a:r><a:rPr ${attributes}>${more}</a:rPr><a:t>${text}</a:t></a:r>`;
const p = (content: string, properties = "") => `<a:p>${properties}${content}</a:p>`;
const body = (content: string) => `<p:txBody>${content}</p:txBody>`;
const sp = (content: string, kind = "") =>
  `<p:sp><p:nvSpPr><p:nvPr>${kind && `<p:ph type="${kind}"/>`}</p:nvPr></p:nvSpPr>${body(content)}</p:sp>`;
const frame = (data: string, uri = "x/table") =>
  `<p:graphicFrame><a:graphic><a:graphicData uri="${uri}">${data}</a:graphicData></a:graphic></p:graphicFrame>`;
const table = (cell: string) =>
  frame(`<a:tbl><a:tr><a:tc><a:txBody>${cell}</a:txBody></a:tc></a:tr></a:tbl>`);
const math =
  '<a14:m xmlns:a14="a14"><m:oMathPara xmlns:m="m"><m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath></m:oMathPara></a14:m>';

async function read(
  shapes: string,
  notes = "",
): Promise<{ readonly markdown: string; readonly losses: readonly string[] }> {
  const parts: Record<string, string> = notes === "" ? {} : {
    "ppt/notesSlides/n.xml":
      `<p:notes xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>${notes}</p:spTree></p:cSld></p:notes>`,
  };
  const related = notes === "" ? [] : [["n", "notesSlide", "../notesSlides/n.xml"] as const];
  const document = await openFile("a.pptx", pptxOf([{ shapes, related }], parts));
  return { markdown: (await markdownOf(document)).join(), losses: document.facts.losses };
}

Deno.test("raised, lowered and struck text, signs and formulas of slides keep their meaning", async () => {
  const inputs: readonly (readonly [content: string, text: string, formula?: string])[] = [
    [r("10") + r("6", 'baseline="30000"') + r(" units"), "10⁶ units"],
    [r("H") + r("2", 'baseline="-25000"') + r("O", 'baseline="0"'), "H₂O"],
    [r("10") + r("3,4", 'baseline="30%"'), "10^(3,4)"],
    [r("100", 'strike="sngStrike"') + r(" 80", 'strike="noStrike"'), "~~100~~ 80"],
    [r("old", 'strike="dblStrike"'), "~~old~~"],
    [r("5 ") + r("\uf0b1", "", '<a:sym typeface="Symbol"/>') + r(" 1"), "5 ± 1"],
    [r("The value is ") + math + r(", always."), "The value is  x^(2) , always.", "$ x^(2) $"],
    [math, "x^(2)", "$ x^(2) $"],
  ];
  for (const [content, text, formula] of inputs) {
    const formulas = formula === undefined ? "" : `\n\n${formula}`;
    assertEquals((await read(sp(p(content)))).markdown, text + formulas);
    assertEquals(
      (await read(`<p:grpSp>${sp(p(content), "title")}</p:grpSp>`)).markdown,
      `# ${text.replace(/\s+/g, " ")}${formulas}`,
    );
    assertEquals((await read(table(p(content)))).markdown, `|  |\n| --- |\n| ${text} |${formulas}`);
    const choice = `<mc:AlternateContent><mc:Choice Requires="a14">${
      sp(p(content))
    }</mc:Choice><mc:Fallback>${sp(p(r("fallback")))}</mc:Fallback></mc:AlternateContent>`;
    assertEquals((await read(choice)).markdown, text + formulas);
    assertEquals(
      (await read("", sp(p(content), "body"))).markdown,
      `[annotation: Notes of the speaker: ${text}]`,
    );
  }
});

Deno.test("paragraphs of slides have the numbers that their author sees", async () => {
  const number = (type: string, startAt = "", level = 0) =>
    `<a:pPr lvl="${level}"><a:buAutoNum type="${type}" ${startAt && `startAt="${startAt}"`}/></a:pPr>`;
  const plain = "<a:pPr><a:buNone/></a:pPr>";
  const items = (...properties: readonly string[]) =>
    properties.map((each, index) => p(r("abcdef"[index] ?? ""), each)).join("");
  const inputs: readonly (readonly [content: string, markdown: string])[] = [
    [items(number("arabicPeriod"), number("arabicPeriod")), "1. a\n2. b"],
    [items(number("arabicPeriod", "3"), number("arabicPeriod", "3")), "3. a\n4. b"],
    [items(number("arabicPeriod"), plain, number("arabicPeriod")), "1. a\n\nb\n\n1. c"],
    [
      items(
        number("arabicPeriod"),
        number("alphaLcParenR", "", 1),
        number("alphaLcParenR", "", 1),
        number("arabicPeriod"),
      ),
      "1. a\n   - a) b\n   - b) c\n2. d",
    ],
    [
      items(number("alphaUcPeriod"), number("romanLcParenBoth"), number("romanUcPeriod", "5")),
      "- A. a\n- (i) b\n- V. c",
    ],
    [items(number("circleNumDbPlain"), number("circleNumDbPlain")), "- ① a\n- ② b"],
    [items(number("arabicPlain"), number("arabicParenR")), "1. a\n\n<!-- -->\n\n1. b"],
    [
      `<a:lstStyle><a:lvl1pPr><a:buAutoNum type="alphaLcPeriod" startAt="2"/></a:lvl1pPr></a:lstStyle>${
        items("", "")
      }`,
      "- b. a\n- c. b",
    ],
    [items("<a:pPr/>", '<a:pPr lvl="2"/>', '<a:pPr lvl="1"/>'), "- a\n  - b\n  - c"],
  ];
  for (const [content, markdown] of inputs) {
    assertEquals((await read(sp(content, "body"))).markdown, markdown);
  }
});

Deno.test("what a slide has and is not read is counted and named", async () => {
  const inputs: readonly (readonly [shapes: string, losses: readonly string[]])[] = [
    [sp(p(r("a"))) + "<p:contentPart/>", ["1 part of a kind that is not read: contentPart"]],
    [`<p:grpSp><p:grpSpPr/>${frame("<am3d:model3d/>", "http://x/2017/model3d")}</p:grpSp><p:newShape/>`, [
      "2 parts of kinds that are not read: frame of the kind model3d, newShape",
    ]],
    [`<p:sp><p:nvSpPr><p:cNvPr hidden="1"/></p:nvSpPr>${body(p(r("secret")))}</p:sp>`, [
      "1 part of a kind that is not read: hidden shape",
    ]],
    [table(p(r("a"))) + "<p:nvGrpSpPr/><p:extLst/>", []],
  ];
  for (const [shapes, losses] of inputs) assertEquals((await read(shapes)).losses, losses);
});

Deno.test("a diagram is read once, in the order of its tree", async () => {
  const point = (id: string, text: string, type = "node") =>
    `<dgm:pt modelId="${id}" type="${type}"><dgm:t>${p(text === "" ? "" : r(text))}</dgm:t></dgm:pt>`;
  const link = (from: string, to: string, order: number, type = "parOf") =>
    `<dgm:cxn type="${type}" srcId="${from}" destId="${to}" srcOrd="${order}"/>`;
  const data = '<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><dgm:ptLst>' +
    point("d", "", "doc") + point("3", "Check") + point("1", "Plan") + point("2", "Build") +
    point("4", "Draw") +
    point("t", "", "parTrans") + point("x", "10") + "</dgm:ptLst><dgm:cxnLst>" +
    link("d", "3", 2) + link("d", "2", 1) + link("d", "1", 0) + link("1", "4", 0) + link("4", "1", 0) +
    link("3", "x", 0, "presOf") + "</dgm:cxnLst></dgm:dataModel>";
  const slide = pptxOf(
    [{ shapes: frame('<dgm:relIds r:dm="g"/>', "x/diagram"), related: [["g", "diagramData", "../g.xml"]] }],
    { "ppt/g.xml": data, "ppt/_rels/g.xml.rels": relationships() },
  );
  const { elements } = await (await openFile("a.pptx", slide)).page(0);
  assertEquals(elements.map(({ content }) => content), [{ description: "Plan\n  Draw\nBuild\nCheck\n10" }]);
});
