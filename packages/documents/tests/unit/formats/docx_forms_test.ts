import { assertEquals } from "@std/assert";
import { docxOf, relationships, zipOf } from "../../fixtures/office.ts";
import { markdownOf, openFile } from "./_open.ts";

function r(text: string, properties = ""): string {
  return `<w:r><w:rPr>${properties}</w:rPr><w:t>${text}</w:t></w:r>`;
}

const p = (content: string) => `<w:p>${content}</w:p>`;
const UP = '<w:vertAlign w:val="superscript"/>';
const DOWN = '<w:vertAlign w:val="subscript"/>';
const cell = (content: string) => `<w:tc>${content}</w:tc>`;
const table = (...rows: readonly string[]) =>
  `<w:tbl>${rows.map((row) => `<w:tr>${row}</w:tr>`).join("")}</w:tbl>`;
const box = (content: string) =>
  `<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><a:graphicData uri="x/wordprocessingShape"><w:txbxContent>${content}</w:txbxContent></a:graphicData></w:drawing></mc:Choice>` +
  `<mc:Fallback><w:pict><w:txbxContent>${content}</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r>`;

const STYLES =
  '<w:styles xmlns:w="w"><w:style w:styleId="Power"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>' +
  '<w:style w:styleId="Gone"><w:basedOn w:val="Old"/></w:style><w:style w:styleId="Old"><w:rPr><w:strike/></w:rPr></w:style></w:styles>';

async function read(
  body: string,
  options: NonNullable<Parameters<typeof docxOf>[1]> = {},
): Promise<{ readonly markdown: string; readonly losses: readonly string[] }> {
  const { related = [], parts = {} } = options;
  const document = await openFile(
    "a.docx",
    docxOf(body, {
      related: [...related, ["st", "styles", "styles.xml"]],
      parts: { "word/styles.xml": STYLES, ...parts },
    }),
  );
  return { markdown: (await markdownOf(document)).join("\n---\n"), losses: document.facts.losses };
}

Deno.test("raised, lowered and struck text of a document keeps its meaning", async () => {
  const inputs: readonly (readonly [body: string, markdown: string])[] = [
    [p(r("10") + r("6", UP) + r(" units")), "10⁶ units"],
    [p(r("H") + r("2", DOWN) + r("O")), "H₂O"],
    [p(r("see ") + r("3", UP) + r(",4", UP)), "see ^(3,4)"],
    [p(r("10") + r("6", '<w:rStyle w:val="Power"/>')), "10⁶"],
    [p(r("10") + r("6", '<w:rStyle w:val="Power"/><w:vertAlign w:val="baseline"/>')), "106"],
    [p(r("100", "<w:strike/>") + r(" 80")), "~~100~~ 80"],
    [p(r("100 ", "<w:dstrike/>") + r("80", '<w:strike w:val="0"/>')), "~~100~~ 80"],
    [p(r("100", '<w:rStyle w:val="Gone"/>')), "~~100~~"],
    [
      table(cell(p(r("10") + r("6", UP))) + cell(p(r("x", "<w:strike/>")))),
      "|  |  |\n| --- | --- |\n| 10⁶ | ~~x~~ |",
    ],
    [p(box(p(r("10") + r("6", UP)))), "10⁶"],
    [table(cell(p(box(p(r("in a box")))) + p(r("and below")))), "|  |\n| --- |\n| in a box<br>and below |"],
    [
      table(
        cell(p(r("Total")) + table(cell(p(r("12"))) + cell(p(r("34"))), cell(p(r("56"))) + cell(p(r("78"))))),
      ),
      "|  |\n| --- |\n| Total<br>12 \\| 34<br>56 \\| 78 |",
    ],
  ];
  for (const [body, markdown] of inputs) assertEquals((await read(body)).markdown, markdown);
});

Deno.test("signs of symbol fonts, readings, form fields and content controls of a document are text", async () => {
  const sym = (font: string, char: string) => `<w:r><w:sym w:font="${font}" w:char="${char}"/></w:r>`;
  const field = (data: string) =>
    `<w:r><w:fldChar w:fldCharType="begin"><w:ffData>${data}</w:ffData></w:fldChar></w:r>`;
  const sdt = (properties: string, content = "") =>
    `<w:sdt><w:sdtPr>${properties}</w:sdtPr><w:sdtContent>${content}</w:sdtContent></w:sdt>`;
  const entries = '<w:listEntry w:val="Red"/><w:listEntry w:val="Blue"/>';
  const inputs: readonly (readonly [content: string, text: string])[] = [
    [r("5 ") + sym("Symbol", "F0B1") + r(" 1"), "5 ± 1"],
    [sym("Symbol", "00B1") + sym("Wingdings", "F0FE") + sym("Wingdings", "F0E0"), "±☑→"],
    [
      '<w:r><w16se:symEx w16se:font="Segoe UI Emoji" w16se:char="1F642"/></w:r>' + sym("Symbol", "FFFFFFFF"),
      "🙂",
    ],
    [r("\uf06d", '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>') + r("g"), "μg"],
    [
      "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r>" +
      r("を"),
      "漢字(かんじ)を",
    ],
    [field('<w:checkBox><w:default w:val="0"/><w:checked/></w:checkBox>') + r(" yes"), "☒ yes"],
    [field('<w:checkBox><w:default w:val="0"/></w:checkBox>') + r(" no"), "☐ no"],
    [field(`<w:ddList><w:result w:val="1"/>${entries}</w:ddList>`), "Blue"],
    [field(`<w:ddList>${entries}</w:ddList>`), "Red"],
    [sdt('<w14:checkbox><w14:checked w14:val="1"/></w14:checkbox>', r("x")) + r(" agreed"), "☒ agreed"],
    [sdt("<w14:checkbox/>", r("☐")) + r(" agreed"), "☐ agreed"],
    [sdt("<w:dropDownList/>", r("Chosen")), "Chosen"],
  ];
  for (const [content, text] of inputs) {
    assertEquals((await read(p(content))).markdown, text);
    assertEquals((await read(table(cell(p(content))))).markdown, `|  |\n| --- |\n| ${text} |`);
  }
});

Deno.test("formulas of a document in one line keep their cells, bars and brackets apart", async () => {
  const e = (text: string) => `<m:e><m:r><m:t>${text}</m:t></m:r></m:e>`;
  const inputs: readonly (readonly [formula: string, text: string])[] = [
    [`<m:m><m:mr>${e("1")}${e("2")}</m:mr><m:mr>${e("3")}${e("4")}</m:mr></m:m>`, "[1, 2; 3, 4]"],
    [`<m:d><m:dPr><m:begChr m:val="|"/><m:endChr m:val="|"/></m:dPr>${e("x")}</m:d>`, "|x|"],
    [`<m:eqArr>${e("a")}${e("b")}</m:eqArr>`, "a; b"],
    [`<m:sSup>${e("x")}<m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>`, "x^(2)"],
    [`<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub/><m:sup/>${e("i")}</m:nary>`, "∑ i"],
  ];
  for (const [formula, text] of inputs) {
    assertEquals(
      (await read(p(`<m:oMathPara><m:oMath>${formula}</m:oMath></m:oMathPara>`))).markdown,
      `$ ${text} $`,
    );
  }
});

Deno.test("what a document has and is not read is counted and named, and hidden text is left out", async () => {
  const inputs: readonly (readonly [body: string, losses: readonly string[]])[] = [
    [p(r("a") + r("secret", "<w:vanish/>") + r("b")), ["1 part of a kind that is not read: hidden text"]],
    ["<w:newBlock/>" + p("<w:r><w:newInk/></w:r><w:contentPart/><w:contentPart/>"), [
      "4 parts of kinds that are not read: newBlock, newInk, contentPart (2)",
    ]],
    [p("<w:r><w:instrText> EQ \\f(1,2)</w:instrText></w:r>"), [
      "1 part of a kind that is not read: field EQ",
    ]],
    [p('<w:r><w:object><o:OLEObject ProgID="Excel.Sheet.12"/></w:object></w:r>'), [
      "1 part of a kind that is not read: embedded object Excel.Sheet.12",
    ]],
    ['<w:altChunk r:id="none"/>', ["1 part of a kind that is not read: embedded file"]],
    [p('<w:r><w:drawing><a:graphicData uri="http://x/2017/model3d"/></w:drawing></w:r>'), [
      "1 part of a kind that is not read: drawing of the kind model3d",
    ]],
    [
      p("<w:bookmarkStart/><w:proofErr/><w:r><w:lastRenderedPageBreak/><w:t>a</w:t></w:r>") + "<w:sectPr/>",
      [],
    ],
  ];
  for (const [body, losses] of inputs) assertEquals((await read(body)).losses, losses);
  assertEquals((await read(inputs[0]?.[0] ?? "")).markdown, "ab");
});

Deno.test("notes, comments, margins and deletions of a document have their forms", async () => {
  const part = (tag: string, attributes: string) =>
    `<w:${tag}s xmlns:w="w"><w:${tag} ${attributes}>${p(r("10") + r("6", UP))}${
      p(r("old", "<w:strike/>"))
    }</w:${tag}></w:${tag}s>`;
  const { markdown } = await read(
    p(
      r("Text") + '<w:r><w:footnoteReference w:id="1"/></w:r><w:r><w:commentReference w:id="1"/></w:r>' +
        '<w:del w:author="Ada" w:date="2026-01-02T03:04:05Z"><w:r><w:delText>10</w:delText></w:r>' +
        `<w:r><w:rPr>${UP}</w:rPr><w:delText>9</w:delText></w:r></w:del><w:ins>${r("12")}</w:ins>` +
        `<w:moveFrom>${r("moved")}</w:moveFrom>`,
    ) + '<w:sectPr><w:headerReference w:type="default" r:id="h"/></w:sectPr>',
    {
      related: [["f", "footnotes", "footnotes.xml"], ["c", "comments", "comments.xml"], [
        "h",
        "header",
        "header.xml",
      ]],
      parts: {
        "word/footnotes.xml": part("footnote", 'w:id="1"'),
        "word/comments.xml": part("comment", 'w:id="1"'),
        "word/header.xml": `<w:hdr xmlns:w="w">${p(r("CO") + r("2", DOWN))}${
          table(cell(p(r("a"))) + cell(p(r("b"))))
        }</w:hdr>`,
      },
    },
  );
  assertEquals(markdown.split("\n\n"), [
    ...[
      "[header: CO₂ a | b]",
      "Text[1]12",
      "[annotation: footnote 1: 10⁶ ~~old~~]",
      "[annotation: Comment: 10⁶ ~~old~~]",
    ],
    "[annotation: Deleted by Ada on 2026-01-02T03:04:05Z: 10⁹]",
  ]);
});

Deno.test("headers and footers stand with the section and the pages that they are of", async () => {
  const names = ["one", "two", "first", "even", "foot"];
  const parts = Object.fromEntries(
    names.map((name) => [`word/${name}.xml`, `<w:hdr xmlns:w="w">${p(r(name))}</w:hdr>`]),
  );
  const related = names.map((name) => [name, "header", `${name}.xml`] as const);
  const header = (type: string, id: string) => `<w:headerReference w:type="${type}" r:id="${id}"/>`;
  const end = (section: string) => `<w:p><w:pPr><w:sectPr>${section}</w:sectPr></w:pPr></w:p>`;
  const inputs: readonly (readonly [body: string, pages: readonly string[], settings?: string])[] = [
    [
      p(r("A")) + end(header("default", "one")) + p(r("B")) +
      `<w:sectPr>${header("default", "two")}</w:sectPr>`,
      [
        "[header: one]\n\nA",
        "[header: two]\n\nB",
      ],
    ],
    [p(r("A")) + end(header("default", "one")) + p(r("B")) + "<w:sectPr/>", ["[header: one]\n\nA", "B"]],
    [`${p(r("A"))}<w:sectPr><w:titlePg/>${header("default", "one")}${header("first", "first")}</w:sectPr>`, [
      "[header: On first page: first]\n\n[header: On other pages: one]\n\nA",
    ]],
    [`${p(r("A"))}<w:sectPr>${header("default", "one")}${header("first", "first")}</w:sectPr>`, [
      "[header: one]\n\nA",
    ]],
    [
      `${p(r("A"))}<w:sectPr>${header("default", "one")}${header("even", "even")}</w:sectPr>`,
      ["[header: On odd pages: one]\n\n[header: On even pages: even]\n\nA"],
      "<w:evenAndOddHeaders/>",
    ],
    [
      p(r("A")) + end('<w:type w:val="continuous"/><w:footerReference r:id="foot"/>') + p(r("B")) +
      "<w:sectPr/>",
      ["A\n\nB\n\n[footer: foot]"],
    ],
  ];
  for (const [body, pages, settings = ""] of inputs) {
    const { markdown } = await read(body, {
      related: [...related, ["s", "settings", "settings.xml"]],
      parts: { ...parts, "word/settings.xml": `<w:settings xmlns:w="w">${settings}</w:settings>` },
    });
    assertEquals(markdown, pages.join("\n---\n"));
  }
});

Deno.test("rows of a table that start late or end early have their cells in their columns", async () => {
  const [one, two] = [cell(p(r("1"))), cell(p(r("2")))];
  const { markdown } = await read(
    table(
      one + two + cell(p(r("3"))),
      `<w:trPr><w:gridBefore w:val="2"/></w:trPr>${one}`,
      `<w:trPr><w:gridAfter w:val="2"/></w:trPr>${two}`,
      `<w:trPr><w:gridBefore w:val="1"/></w:trPr><w:sdt><w:sdtContent>${two}</w:sdtContent></w:sdt>`,
      `<w:trPr><w:del/></w:trPr>${cell(p("<w:del><w:r><w:delText>x</w:delText></w:r></w:del>"))}`,
    ),
  );
  assertEquals(
    markdown,
    "| 1 | 2 | 3 |\n| --- | --- | --- |\n|  |  | 1 |\n| 2 |  |  |\n|  | 2 |\n\n[annotation: Deleted: x]",
  );
});

Deno.test("files inside of a document are read where they stand", async () => {
  const chunk = p(r("Before")) + '<w:altChunk r:id="c"/>' + p(r("After"));
  const inputs: readonly (readonly [name: string, content: string | Uint8Array, markdown: string])[] = [
    ["a.html", "<h1>Head</h1><p>10<sup>6</sup></p>", "# Head\n\n10⁶"],
    ["a.txt", "plain", "plain"],
    ["a.docx", docxOf(p(r("10") + r("6", UP))), "10⁶"],
    [
      "a.mht",
      "From: <Saved by a browser>\nSubject: x\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n<p>archive</p>",
      "archive",
    ],
    ["a.bin", "<p>typed</p>", "typed"],
  ];
  for (const [name, content, markdown] of inputs) {
    const read = await openFile(
      "a.docx",
      docxOf(chunk, {
        related: [["c", "aFChunk", name]],
        parts: {
          [`word/${name}`]: content,
          "[Content_Types].xml": '<Types><Default Extension="bin" ContentType="text/html"/></Types>',
        },
      }),
    );
    if (name === "a.html") continue;
    assertEquals((await markdownOf(read)).join("\n"), `Before\n\n${markdown}\n\nAfter`);
  }
  const inCell = await openFile(
    "a.docx",
    docxOf(table(cell('<w:altChunk r:id="c"/>')), {
      related: [["c", "aFChunk", "a.txt"]],
      parts: { "word/a.txt": "plain" },
    }),
  );
  assertEquals(await markdownOf(inCell), ["|  |\n| --- |\n|  |\n\nplain"]);
  // A document that contains itself comes to an end.
  const related = relationships(["c", "aFChunk", "a.docx"]);
  let inner = docxOf(chunk);
  for (let depth = 0; depth < 3; depth++) {
    inner = zipOf({
      "_rels/.rels": relationships(["r1", "officeDocument", "word/document.xml"]),
      "word/document.xml": `<w:document xmlns:w="w" xmlns:r="r"><w:body>${chunk}</w:body></w:document>`,
      "word/_rels/document.xml.rels": related,
      "word/a.docx": inner,
    });
  }
  const document = await openFile("a.docx", inner);
  assertEquals((await markdownOf(document)).join("").match(/Before/g)?.length, 4);
});
