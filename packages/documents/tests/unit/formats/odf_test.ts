import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { zipOf } from "../../fixtures/office.ts";
import { markdownOf, openFile, pagesOf } from "./_open.ts";

const NAMES = [
  "office",
  "text",
  "table",
  "draw",
  "style",
  "fo",
  "xlink",
  "dc",
  "svg",
  "presentation",
  "number",
  "meta",
]
  .map((name) => `xmlns:${name}="${name}"`).join(" ");

/** A file of OpenDocument with this body and these styles. */
function odfOf(
  body: string,
  { kind = "text", styles = "", shared = "", meta = "", parts = {} }: {
    readonly kind?: string;
    readonly styles?: string;
    readonly shared?: string;
    readonly meta?: string;
    readonly parts?: Readonly<Record<string, string | Uint8Array>>;
  } = {},
): Uint8Array<ArrayBuffer> {
  return zipOf({
    "content.xml":
      `<office:document-content ${NAMES}><office:automatic-styles>${styles}</office:automatic-styles>` +
      `<office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    "styles.xml": `<office:document-styles ${NAMES}>${shared}</office:document-styles>`,
    "meta.xml": `<office:document-meta ${NAMES}><office:meta>${meta}</office:meta></office:document-meta>`,
    ...parts,
  });
}

const p = (text: string, style = "") => `<text:p text:style-name="${style}">${text}</text:p>`;

Deno.test("a text of OpenDocument has its headings, paragraphs, links, notes and comments", async () => {
  const document = await openFile(
    "a.odt",
    odfOf(
      '<text:h text:outline-level="1">Goals</text:h>' +
        p(
          'The<text:s text:c="2"/>yield   of 10<text:span text:style-name="up">6</text:span> <text:a xlink:href="http://example.com/">apples</text:a>' +
            '<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>' +
            p("A note.") +
            "</text:note-body></text:note><office:annotation><dc:creator>Ada</dc:creator><dc:date>2026-01-02</dc:date>" +
            p("Why?") +
            "</office:annotation>.",
        ) +
        '<text:h text:outline-level="2">Code</text:h>' + p("x = 1", "Code") +
        p("<text:tab/>y<text:line-break/>", "Code") + p(""),
      {
        styles:
          '<style:style style:name="up"><style:text-properties style:text-position="super 58%"/></style:style>' +
          '<style:style style:name="Code" style:parent-style-name="Preformatted_20_Text"/>',
        shared: '<office:styles><style:style style:name="Preformatted_20_Text"/></office:styles>',
        meta:
          "<dc:title>Plan</dc:title><meta:initial-creator>Ada</meta:initial-creator><meta:creation-date>2026-01-01T10:00:00</meta:creation-date>" +
          "<meta:keyword>fruit</meta:keyword><dc:description>What we plan</dc:description>",
      },
    ),
  );
  const { title, keywords, about } = document.facts;
  assertEquals([title, keywords], ["Plan", ["fruit"]]);
  assertEquals(about, { author: "Ada", created: "2026-01-01T10:00:00", description: "What we plan" });
  assertEquals(await markdownOf(document), [
    "# Goals\n\nThe yield of 10⁶ apples[1].\n\n[apples](http://example.com/)\n\n[annotation: footnote 1: A note.]\n\n" +
    "[annotation: Comment by Ada: Why?]\n\n## Code\n\n```\nx = 1\n y\n```",
  ]);
});

Deno.test("lists and headings have the numbers that their author sees", async () => {
  const level = (n: number, format: string, more = "") =>
    `<text:list-level-style-number text:level="${n}" style:num-format="${format}" style:num-suffix="." ${more}/>`;
  const item = (inner: string, more = "") => `<text:list-item ${more}>${inner}</text:list-item>`;
  const list = (inner: string, more = "") => `<text:list text:style-name="L1" ${more}>${inner}</text:list>`;
  const document = await openFile(
    "a.odt",
    odfOf(
      '<text:h text:outline-level="1">One</text:h><text:h text:outline-level="2">Inner</text:h><text:h text:outline-level="2">Next</text:h>' +
        '<text:h text:outline-level="1">Two</text:h><text:h text:outline-level="1" text:is-list-header="true">Annex</text:h>' +
        list(
          item(p("a") + p("more") + list(item(p("i")) + item(p("ii")))) +
            item(p("b"), 'text:start-value="5"'),
        ) +
        p("between") + list(item(p("c")), 'text:continue-numbering="true"') +
        '<text:list text:style-name="L2">' + item(p("dot")) + "</text:list>",
      {
        styles:
          `<text:list-style style:name="L1">${level(1, "1")}${
            level(2, "a", 'text:display-levels="2"')
          }</text:list-style>` +
          '<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>',
        shared:
          '<office:styles><text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/>' +
          '<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/></text:outline-style></office:styles>',
      },
    ),
  );
  const markdown = (await markdownOf(document)).join("\n\n");
  assertEquals(
    markdown,
    "# 1 One\n\n## 1.1 Inner\n\n## 1.2 Next\n\n# 2 Two\n\n# Annex\n\n1. a\n   more\n   - 1.a. i\n   - 1.b. ii\n\n<!-- -->\n\n" +
      "5. b\n\nbetween\n\n6. c\n\n- dot",
  );
});

Deno.test("a paragraph in the style of a title is a heading without a number, and no paragraph counts as one", async () => {
  const level = '<text:outline-level-style text:level="1" style:num-format="1"/>';
  const heading = (text: string) => `<text:h text:outline-level="1">${text}</text:h>`;
  const document = await openFile(
    "a.odt",
    odfOf(p("Plan", "P1") + p("before") + heading("One") + p("between") + heading("Two"), {
      styles: '<style:style style:name="P1" style:parent-style-name="Title"/>',
      shared:
        `<office:styles><style:style style:name="Title"/><text:outline-style>${level}</text:outline-style></office:styles>`,
    }),
  );
  assertEquals(document.facts.headings, ["Plan", "1 One", "2 Two"]);
});

Deno.test("tables, merged cells and what stands in cells are read, and repeated cells have a bound", async () => {
  const cell = (inner: string, more = "") => `<table:table-cell ${more}>${inner}</table:table-cell>`;
  const document = await openFile(
    "a.odt",
    odfOf(
      "<table:table><table:table-header-rows><table:table-row>" + cell(p("Name")) + cell(p("Tons")) +
        "</table:table-row></table:table-header-rows>" +
        "<table:table-row>" +
        cell(
          p("Hill") + "<text:list><text:list-item>" + p("x") + "</text:list-item></text:list>",
          'table:number-columns-spanned="2"',
        ) +
        "<table:covered-table-cell/></table:table-row></table:table>" +
        '<table:table><table:table-row table:number-rows-repeated="1048576">' +
        cell(p("y"), 'table:number-columns-repeated="16384"') +
        "</table:table-row></table:table>",
    ),
  );
  const tables = [];
  for (let page = 0; page < document.facts.pageCount; page++) {
    for (const { category, content } of (await document.page(page)).elements) {
      if (category === "table") tables.push(content);
    }
  }
  const [table, ...repeated] = tables;
  assertEquals([table?.headers, table?.rows], [["Name", "Tons"], [["Hill\nx", null]]]);
  assertEquals(table?.["merged_ranges"], ["A2:B2"]);
  assertEquals(repeated.reduce((sum, { rows }) => sum + rows.length, 0), 99);
  assertEquals(repeated[0]?.headers.length, 256);
});

Deno.test("page breaks divide a text, and its headers and footers stand on the first page", async () => {
  const document = await openFile(
    "a.odt",
    odfOf(p("One") + p("Two", "P1") + p("Three", "P2"), {
      styles:
        '<style:style style:name="P1"><style:paragraph-properties fo:break-before="page" fo:break-after="page"/></style:style>',
      shared: '<office:master-styles><style:master-page style:name="Standard"><style:header>' + p("Draft") +
        "</style:header><style:footer>" + p("3") +
        "</style:footer></style:master-page></office:master-styles>",
    }),
  );
  assertEquals(await markdownOf(document), ["[header: Draft]\n\nOne", "Two", "Three"]);
});

Deno.test("deletions, formulas, pictures and boxes are read, others are named", async () => {
  const gif = Uint8Array.fromBase64("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7");
  const frame = (inner: string) => `<draw:frame draw:name="n">${inner}</draw:frame>`;
  const document = await openFile(
    "a.odt",
    odfOf(
      '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion><office:change-info><dc:creator>Bob</dc:creator>' +
        "<dc:date>2026-02-03T00:00:00</dc:date></office:change-info>" + p("120") +
        "</text:deletion></text:changed-region></text:tracked-changes>" +
        p('Price<text:change text:change-id="c1"/>') +
        p(
          frame('<draw:image xlink:href="Pictures/a.gif"/><svg:desc>Map</svg:desc>') +
            frame("<draw:text-box>" + p("Boxed") + "</draw:text-box>"),
        ) +
        p(
          frame('<draw:object xlink:href="./F/"/>') +
            frame('<draw:object xlink:href="./C"/><draw:image xlink:href="x"/>') +
            frame('<draw:object-ole xlink:href="./O"/>'),
        ),
      {
        parts: {
          "Pictures/a.gif": gif,
          "F/content.xml":
            '<math><semantics><mi>E</mi><annotation encoding="StarMath 5.0">E = m c^2</annotation></semantics></math>',
        },
      },
    ),
  );
  const [page] = await pagesOf(document);
  assertEquals((page as unknown[]).slice(1), [
    ["p0-text-1", { text: "Price" }],
    ["p0-annotation-1", { text: "120", kind: "deletion", author: "Bob", created_at: "2026-02-03T00:00:00" }],
    ["p0-image-1", {
      description: "Map",
      mime_type: "image/gif",
      width: 1,
      height: 1,
      url: `data:image/gif;base64,${gif.toBase64()}`,
    }],
    ["p0-text-2", { text: "Boxed" }],
    ["p0-formula-1", { expression: "E = m c^2" }],
    // What shows a chart to programs that do not draw it.
    ["p0-image-2", { description: "n", mime_type: "image/x" }],
  ]);
  assertEquals(document.facts.losses, ["2 parts of kinds that are not read: embedded object or chart (2)"]);
});

Deno.test("a slide of OpenDocument is a page with its title, its lists and its notes", async () => {
  const frame = (kind: string, inner: string) =>
    `<draw:frame presentation:class="${kind}"><draw:text-box>${inner}</draw:text-box></draw:frame>`;
  const document = await openFile(
    "a.odp",
    odfOf(
      '<draw:page draw:name="page1">' + frame("title", p("Harvest") + p("2026")) +
        frame("outline", "<text:list><text:list-item>" + p("apples") + "</text:list-item></text:list>") +
        frame("page-number", p("7")) +
        "<draw:custom-shape>" + p("In a shape") + "</draw:custom-shape><presentation:notes>" +
        frame("notes", p("Say hello")) +
        '</presentation:notes></draw:page><draw:page draw:name="Hidden one" draw:style-name="h"/>',
      {
        kind: "presentation",
        styles:
          '<style:style style:name="h"><style:drawing-page-properties presentation:visibility="hidden"/></style:style>',
      },
    ),
  );
  assertEquals(document.facts.pageTitles, ["Harvest 2026", "Hidden one (hidden)"]);
  assertEquals(await markdownOf(document), [
    "# Harvest 2026\n\n- apples\n\nIn a shape\n\n[annotation: Notes of the speaker: Say hello]",
    "",
  ]);
});

Deno.test("a flat file of OpenDocument is read; an encrypted one, one with a DTD and one without end are refused", async () => {
  const flat =
    `<?xml version="1.0"?><office:document ${NAMES}><office:meta><dc:title>Flat</dc:title></office:meta><office:body><office:text>` +
    p("x<draw:frame><draw:image><office:binary-data>R0lGOD==</office:binary-data></draw:image></draw:frame>") +
    "</office:text></office:body></office:document>";
  const { facts } = await openFile("a.fodt", flat);
  assertEquals([facts.title, facts.opening.trim()], ["Flat", "x"]);
  const refused = async (content: Uint8Array<ArrayBuffer> | string, name = "a.odt") =>
    (await assertRejects(() => openFile(name, content), DocumentError)).code;
  const manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>";
  assertEquals(await refused(odfOf(p("x"), { parts: { "META-INF/manifest.xml": manifest } })), "encrypted");
  assertEquals(await refused('<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>', "a.fodt"), "damaged");
  assertEquals(
    await refused(odfOf("<text:section>".repeat(5_000) + "</text:section>".repeat(5_000))),
    "too_large",
  );
  assertEquals(await refused(odfOf("x", { kind: "spreadsheet" })), "damaged");
  const bomb =
    '<table:table><table:table-row table:number-rows-repeated="99"><table:table-cell table:number-columns-repeated="99">';
  const end = "</table:table-cell></table:table-row></table:table>";
  assertEquals(await refused(odfOf(bomb.repeat(4) + p("x") + end.repeat(4))), "too_large");
});

Deno.test("a spreadsheet of OpenDocument is read as a workbook, with its formulas", async () => {
  const cell = (value: number, more = "") =>
    `<table:table-cell office:value-type="float" office:value="${value}" ${more}>${
      p(String(value))
    }</table:table-cell>`;
  const text = (value: string) =>
    `<table:table-cell office:value-type="string">${p(value)}</table:table-cell>`;
  const body =
    `<table:table table:name="Yields"><table:table-row>${text("Region")}${text("Tons")}</table:table-row>` +
    `<table:table-row>${text("East")}${cell(7)}</table:table-row>` +
    `<table:table-row>${text("Sum")}${
      cell(7, 'table:formula="of:=SUM([.B2:.B2])"')
    }</table:table-row></table:table>`;
  const names = NAMES.replace(
    'xmlns:office="office"',
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"',
  );
  const flat =
    `<?xml version="1.0"?><office:document ${names} office:mimetype="application/vnd.oasis.opendocument.spreadsheet">` +
    `<office:body><office:spreadsheet>${body}</office:spreadsheet></office:body></office:document>`;
  const files = {
    "a.ods": odfOf(body, { kind: "spreadsheet", parts: { "META-INF/manifest.xml": "<manifest/>" } }),
    "a.fods": flat,
  };
  for (const [name, content] of Object.entries(files)) {
    const [markdown = ""] = await markdownOf(await openFile(name, content));
    assertMatch(markdown, /\| Region \| Tons \|\n\| --- \| --- \|\n\| East \| 7 \|\n\| Sum \| 7 \|/, name);
    assertMatch(markdown, /B3: =SUM\(B2:B2\)/, name);
  }
});
