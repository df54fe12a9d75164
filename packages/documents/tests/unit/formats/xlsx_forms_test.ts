import { assertEquals } from "@std/assert";
import { relationships, xlsxOf } from "../../fixtures/office.ts";
import { markdownOf, openFile } from "./_open.ts";

const cell = (name: string, value: string, more = "") => `<c r="${name}" ${more}>${value}</c>`;
const inline = (name: string, content: string) => cell(name, `<is>${content}</is>`, 't="inlineStr"');
const row = (number: number, cells: string, more = "") => `<row r="${number}" ${more}>${cells}</row>`;
const run = (text: string, properties = "") => `<r><rPr>${properties}</rPr><t>${text}</t></r>`;
const UP = '<vertAlign val="superscript"/>';

async function read(sheet: string, options: Parameters<typeof xlsxOf>[1] = {}): Promise<string> {
  const [markdown = ""] = await markdownOf(await openFile("a.xlsx", xlsxOf({ S: sheet }, options)));
  return markdown.replace(/^## S\n\n/, "");
}

Deno.test("raised, lowered and struck text of cells and comments keeps its meaning", async () => {
  const inputs: readonly (readonly [content: string, text: string])[] = [
    [`<t>10</t>${run("6", UP)}${run(" units")}`, "10⁶ units"],
    [run("H") + run("2", '<vertAlign val="subscript"/>') + run("O"), "H₂O"],
    [run("100", "<strike/>") + run(" 80", '<strike val="0"/>'), "~~100~~ 80"],
    [run("5 ") + run("\uf0b1", '<rFont val="Symbol"/>') + run("1"), "5 ±1"],
    [`<t>漢字</t><rPh><t>かんじ</t></rPh>`, "漢字"],
  ];
  const styles = "<fonts><font/><font><strike/></font></fonts><numFmts/>" +
    '<cellXfs><xf/><xf fontId="1" numFmtId="2"/></cellXfs>';
  for (const [content, text] of inputs) {
    assertEquals(
      await read(`<sheetData>${row(1, inline("A1", content))}</sheetData>`),
      `|  |\n| --- |\n| ${text} |`,
    );
    const markdown = await read("<sheetData/>", {
      parts: {
        "xl/worksheets/_rels/sheet0.xml.rels": relationships(["c1", "comments", "../comments1.xml"]),
        "xl/comments1.xml":
          `<comments><commentList><comment ref="A1"><text>${content}</text></comment></commentList></comments>`,
      },
    });
    assertEquals(markdown.split("\n\n").at(-1), `[annotation: Comment on cell A1: ${text}]`);
  }
  const struck = row(1, cell("A1", "<v>100</v>", 's="1"') + cell("B1", "<v>80</v>"));
  assertEquals(
    await read(`<sheetData>${struck}</sheetData>`, { styles }),
    "|  |  |\n| --- | --- |\n| ~~100.00~~ | 80 |",
  );
});

Deno.test("negative numbers keep their sign in formats with conditions", async () => {
  const formats: readonly (readonly [format: string, number: number, shown: string])[] = [
    ["[Red][&lt;=-25]General;[Blue][&gt;=25]General;[Green]General", -25, "-25"],
    ["[Red][&lt;=-25]General;[Blue][&gt;=25]General;[Green]General", -3, "-3"],
    ["[&lt;-10]0.0;0", -30, "-30.0"],
    ["[&lt;-10](0);0", -30, "(30)"],
    ['[&gt;=1000]0,"k";0', -5, "-5"],
    ["0;(0)", -5, "(5)"],
    ["0;0", -5, "5"],
    ["[&lt;0]0.0;0", -5, "5.0"],
    ["[Red]-0;0", -5, "5"],
    ['[&lt;=-25]"low";0', -30, "low"],
  ];
  for (const [format, number, shown] of formats) {
    const styles =
      `<numFmts><numFmt numFmtId="170" formatCode="${format.replaceAll('"', "&quot;")}"/></numFmts>` +
      '<cellXfs><xf numFmtId="170"/></cellXfs>';
    const markdown = await read(`<sheetData>${row(1, cell("A1", `<v>${number}</v>`, 's="0"'))}</sheetData>`, {
      styles,
    });
    assertEquals(markdown.split("\n").at(-1), `| ${shown} |`, format);
  }
});

Deno.test("formulas stand with their cells, and those that are filled down are one", async () => {
  const formula = (name: string, text: string) => cell(name, `<f>${text}</f><v>1</v>`);
  const rows = [1, 2, 3].map((n) =>
    row(
      n,
      formula(`A${n}`, `C${n}*$D$1`) + formula(`B${n}`, n === 3 ? "SUM(C1:C2)" : `IF(C${n}>1,"C1",'C1'!E$1)`),
    )
  );
  assertEquals((await read(`<sheetData>${rows.join("")}</sheetData>`)).split("\n\n").slice(1), [
    "$ A1:A3: =C1*$D$1, filled down $",
    `$ B1:B2: =IF(C1>1,"C1",'C1'!E$1), filled down $`,
    "$ B3: =SUM(C1:C2) $",
  ]);
});

Deno.test("merged cells and hidden rows and columns of a table are told", async () => {
  const rows = [1, 2, 3, 4, 5].map((n) =>
    row(
      n,
      cell(`B${n}`, `<v>${n}</v>`) + cell(`C${n}`, "<v>7</v>"),
      [2, 3, 5].includes(n) ? 'hidden="1"' : "",
    )
  );
  const sheet = '<cols><col min="3" max="9" hidden="1"/><col min="1" max="1" hidden="1"/></cols>' +
    `<sheetData>${rows.join("")}</sheetData><mergeCells><mergeCell ref="B1:C1"/></mergeCells>`;
  assertEquals((await read(sheet)).split("\n\n").slice(1), [
    "[annotation: Merged cells: B1:C1]",
    "[annotation: Hidden: column C, rows 2–3, row 5]",
  ]);
  const { elements } = await (await openFile("a.xlsx", xlsxOf({ S: sheet }))).page(0);
  assertEquals(elements[1]?.content["hidden"], ["column C", "rows 2–3", "row 5"]);
  assertEquals(elements[1]?.content["merged_ranges"], ["B1:C1"]);
});

Deno.test("boxes, diagrams and charts of a sheet are read, and parts of other kinds are named", async () => {
  const drawing =
    '<wsDr xmlns:a="a" xmlns:c="c" xmlns:r="r" xmlns:dgm="d"><grpSp><sp><txBody><a:p><a:r><a:t>10</a:t></a:r>' +
    '<a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r></a:p></txBody></sp></grpSp>' +
    '<graphicFrame><c:chart r:id="k"/></graphicFrame><graphicFrame><dgm:relIds r:dm="g"/></graphicFrame></wsDr>';
  const chart =
    "<chartSpace><chart><title><tx><rich><p><r><t>CO</t></r><r><rPr baseline='-25000'/><t>2</t></r></p></rich></tx></title>" +
    "<plotArea><lineChart><ser><val><pt><v>4.4000000000000004</v></pt><pt><v>2.5</v></pt><pt><v>1234.5600000000001</v></pt><pt><v>1.1000000000000001E-2</v></pt></val></ser></lineChart>" +
    "<valAx><title><tx><strRef><strCache><pt><v>tons</v></pt></strCache></strRef></tx></title></valAx></plotArea></chart></chartSpace>";
  const points = ["doc", "b", "a"].map((id) =>
    `<pt modelId="${id}" ${id === "doc" ? 'type="doc"' : ""}><dgm:t><a:p><a:r><a:t>${
      id === "doc" ? "" : id
    }</a:t></a:r></a:p></dgm:t></pt>`
  );
  const document = await openFile(
    "a.xlsx",
    xlsxOf({ S: "<sheetData/>" }, {
      parts: {
        "xl/worksheets/_rels/sheet0.xml.rels": relationships(
          ["d", "drawing", "../drawings/d.xml"],
          ["s", "slicer", "../slicers/s.xml"],
          ["p", "printerSettings", "../p.bin"],
        ),
        "xl/drawings/d.xml": drawing,
        "xl/drawings/_rels/d.xml.rels": relationships(["k", "chart", "../k.xml"], [
          "g",
          "diagramData",
          "../g.xml",
        ]),
        "xl/k.xml": chart,
        "xl/g.xml":
          `<dataModel><ptLst>${points.join("")}</ptLst><cxnLst><cxn srcId="doc" destId="b" srcOrd="1"/>` +
          '<cxn srcId="doc" destId="a" srcOrd="0"/></cxnLst></dataModel>',
      },
    }),
  );
  const { elements } = await document.page(0);
  assertEquals(elements.slice(1).map(({ category, content }) => [category, content]), [
    ["text", { text: "10⁶" }],
    ["chart", { title: "CO₂", chart_type: "line", data_summary: "axes: tons; 4.4, 2.5, 1234.56, 0.011" }],
    ["diagram", { description: "a\nb" }],
  ]);
  assertEquals(document.facts.losses, ["1 part of a kind that is not read: slicer"]);
});
