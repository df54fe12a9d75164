import { assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { renderElementMarkdown, renderPageMarkdown } from "../../../src/dpe/markdown.ts";
import { type DPEElementDetail, ELEMENT_CATEGORIES } from "../../../src/protocol/dpe.ts";
import MarkdownIt, { type Token } from "markdown-it";
import { sized } from "../../fixtures/test_size.ts";

function render(category: string, content: unknown): string {
  // Strangers send what the types do not allow
  return renderElementMarkdown({ element_id: "e", category, summary: "S", content } as DPEElementDetail);
}

// proves: dpe-markdown-heading
Deno.test("A heading has as many # as its level, from 1 to 6", () => {
  assertEquals(render("heading", { level: 1, text: "2026 年度总结" }), "# 2026 年度总结");
  assertEquals(render("heading", { level: 3, text: "T" }), "### T");
  assertEquals([0, -5, 7, 99, NaN, 2.4].map((level) => render("heading", { level, text: "T" })), [
    "# T",
    "# T",
    "###### T",
    "###### T",
    "# T",
    "## T",
  ]);
});

// proves: dpe-markdown-heading
Deno.test("A heading without a level is of level 1, and one of several lines becomes one line", () => {
  assertEquals(render("heading", { text: "one\n two\r\n" }), "# one two");
});

// proves: dpe-markdown-text
Deno.test("A text is as it is, with its paragraphs", () => {
  assertEquals(render("text", { text: "one\n\n*two* |\n" }), "one\n\n*two* |\n");
  assertEquals(render("text", { text: "" }), "");
});

// proves: dpe-markdown-table
Deno.test("A table has a header, a rule and its rows", () => {
  const content = { headers: ["季度", "收入"], rows: [["Q1", "1,250"], ["Q2", 1380], [null, true]] };
  assertEquals(
    render("table", content),
    "| 季度 | 收入 |\n| --- | --- |\n| Q1 | 1,250 |\n| Q2 | 1380 |\n|  | true |",
  );
});

// proves: dpe-markdown-table
Deno.test("A table's cells have their pipes and line breaks escaped", () => {
  const rows = [["a|b", "c\\|d", "e\nf\r\ng", "C:\\x"]];
  assertEquals(
    render("table", { headers: ["h"], rows }),
    "| h |  |  |  |\n| --- | --- | --- | --- |\n| a\\|b | c\\\\\\|d | e<br>f<br>g | C:\\x |",
  );
});

// proves: dpe-markdown-table
Deno.test("A table's cell that is no simple value is its JSON, or nothing when that is impossible", () => {
  const cyclic: unknown[] = [];
  cyclic.push(cyclic);
  assertEquals(
    render("table", { headers: ["h"], rows: [[{ a: 1 }], [cyclic]] }),
    '| h |\n| --- |\n| {"a":1} |\n|  |',
  );
});

// proves: dpe-markdown-list
Deno.test("A list has 1. when ordered and - when not", () => {
  assertEquals(render("list", { ordered: true, items: ["a", "b"] }), "1. a\n2. b");
  assertEquals(render("list", { ordered: false, items: ["a", 2] }), "- a\n- 2");
  assertEquals(render("list", { items: ["a"] }), "- a");
});

// proves: dpe-markdown-list
Deno.test("A list inside an item is indented by the width of the item's marker", () => {
  const items = [{ text: "a", items: ["b", { text: "c\nd", ordered: true, items: ["e"] }] }, ["f"], "g"];
  assertEquals(
    render("list", { ordered: true, items }),
    "1. a\n   - b\n   - c\n     d\n     1. e\n2. 1. f\n3. g",
  );
});

// proves: dpe-markdown-list
Deno.test("A list nested without end is cut, not followed", () => {
  let items: unknown = ["deepest"];
  for (let depth = 0; depth < 5_000; depth++) items = [{ text: "deep", items }];
  assertEquals(render("list", { items }).split("\n").length, 32);
});

// proves: dpe-markdown-code
Deno.test("Code is fenced, with its language", () => {
  assertEquals(render("code", { language: "ts", code: "let a;\n" }), "```ts\nlet a;\n```");
  assertEquals(render("code", { text: "a", language: "not a\nword" }), "```\na\n```");
});

// proves: dpe-markdown-code
Deno.test("Code with backticks has a fence longer than any run of them", () => {
  assertEquals(render("code", { code: "`````\n``" }), "``````\n`````\n``\n``````");
});

// proves: dpe-markdown-chart
Deno.test("A chart has its title and what its data say", () => {
  const content = { chart_type: "line", title: "季度收入趋势", data_summary: "呈上升趋势" };
  assertEquals(render("chart", content), "[图表: 季度收入趋势] 呈上升趋势");
});

// proves: dpe-markdown-image
Deno.test("An image with a URL is a Markdown image", () => {
  assertEquals(
    render("image", { url: "https://h/a.png", description: "A [cat]" }),
    "![A \\[cat\\]](https://h/a.png)",
  );
  assertEquals(render("image", { src: "a b.png", alt: "cat" }), "![cat](<a b.png>)");
});

// proves: dpe-markdown-image
Deno.test("An image without a URL is its description", () => {
  assertEquals(render("image", { description: "公司徽标" }), "[图片: 公司徽标]");
});

// proves: dpe-markdown-link
Deno.test("A link has its text and its URL", () => {
  assertEquals(render("link", { text: "Deno", url: "https://deno.com" }), "[Deno](https://deno.com)");
  assertEquals(render("link", { text: "a]b", href: "/x_(y)" }), "[a\\]b](</x_(y)>)");
});

// proves: dpe-markdown-formula
Deno.test("A formula stands between dollar signs", () => {
  assertEquals(render("formula", { expression: "E = mc^2" }), "$ E = mc^2 $");
  assertEquals(render("formula", { expression: "=C2*2", cell: "D2" }), "$ D2: =C2*2 $");
  assertEquals(
    render("formula", { expression: "=C2*2", cell: "D2", cells: "D2:D9" }),
    "$ D2:D9: =C2*2, filled down $",
  );
});

// proves: dpe-markdown-other
Deno.test("Every other category is its name and the summary", () => {
  const rendered = ["heading", "text", "table", "list", "code", "chart", "image", "link", "formula"];
  for (const category of ELEMENT_CATEGORIES.filter((category) => !rendered.includes(category))) {
    assertEquals(render(category, { text: "t", headers: [], rows: [] }), `[${category}: S]`);
  }
  assertEquals(render("hologram", {}), "[hologram: S]");
});

// proves: dpe-markdown-other
Deno.test("Content that is not what its category promises leaves the summary", () => {
  const malformed: [string, unknown][] = [
    ["heading", { level: 1 }],
    ["text", { text: 5 }],
    ["text", null],
    ["text", "text"],
    ["table", { headers: "h", rows: [] }],
    ["table", { headers: ["h"] }],
    ["table", { headers: ["h"], rows: ["r"] }],
    ["table", { headers: [], rows: [[]] }],
    ["list", { items: [] }],
    ["list", { items: "a" }],
    ["code", { language: "ts" }],
    ["chart", { title: "T" }],
    ["chart", { data_summary: "D" }],
    ["image", { url: 5 }],
    ["link", { url: "u" }],
    ["link", { text: "t" }],
    ["formula", { expression: ["x"] }],
  ];
  for (const [category, content] of malformed) assertEquals(render(category, content), `[${category}: S]`);
});

// proves: dpe-markdown-other
Deno.test("An element without a summary is its category alone", () => {
  assertEquals(renderElementMarkdown({ element_id: "e", category: "video", content: {} }), "[video]");
});

// proves: dpe-markdown-heading, dpe-markdown-text, dpe-markdown-other
Deno.test("renderPageMarkdown() renders the elements in order, one blank line between them", () => {
  const elements: DPEElementDetail[] = [
    { element_id: "h", category: "heading", content: { level: 2, text: "Sales" } },
    { element_id: "t", category: "text", content: { text: "They rose." } },
    { element_id: "v", category: "video", summary: "Why", content: {} },
  ];
  assertEquals(renderPageMarkdown({ elements }), "## Sales\n\nThey rose.\n\n[video: Why]");
  assertEquals(renderPageMarkdown({ elements: [] }), "");
});

// proves: dpe-markdown-other
Deno.test("renderPageMarkdown() never throws, whatever the page holds", () => {
  const anything = fc.anything({ withNullPrototype: true, withBigInt: true });
  const keys = [
    "text",
    "level",
    "headers",
    "rows",
    "items",
    "ordered",
    "code",
    "url",
    "title",
    "data_summary",
    "alt",
  ];
  const content = fc.dictionary(fc.constantFrom(...keys), fc.oneof(anything, fc.array(fc.array(anything))));
  const element = fc.record({
    category: fc.oneof(fc.constantFrom(...ELEMENT_CATEGORIES), anything),
    summary: anything,
    content: fc.oneof(content, anything),
  });
  fc.assert(fc.property(fc.oneof(fc.array(fc.oneof(element, anything)), anything), (elements) => {
    assertEquals(typeof renderPageMarkdown({ elements: elements as DPEElementDetail[] }), "string");
  }));
});

// What Markdown means is told by those who read it: each rendering is read back with a Markdown parser.
/** Text with more of what Markdown has a meaning for than chance would give. */
const marks = fc.string({
  unit: fc.constantFrom(..."[]()<>`\\|#-+*>_~!&;:.=$1a b中", "\n", "&amp;", "](", "```", "<br>", "- "),
  maxLength: 24,
});

const runs: fc.Parameters<unknown> = { numRuns: sized({ reduced: 200, full: 5_000 }) };

function element(category: string, content: Record<string, unknown>): DPEElementDetail {
  return { element_id: "e", category, summary: "S", content };
}

const parser = new MarkdownIt({ html: true });
parser.normalizeLink = (url) => url;
parser.validateLink = () => true;

/** The tokens that begin something right in a list of tokens. */
function outermost(tokens: readonly Token[], level = 0): Token[] {
  return tokens.filter((token) => token.level === level && token.nesting >= 0);
}

/** The tokens of the only block that a rendering is read as. */
function readBlock(category: string, content: Record<string, unknown>): Token[] {
  const tokens = parser.parse(renderElementMarkdown(element(category, content)), {});
  assertEquals(outermost(tokens).length, 1);
  return tokens;
}

function countOf(tokens: readonly Token[], type: string): number {
  return tokens.filter((token) => token.type === type).length;
}

/** The only thing in a rendering's only paragraph. */
function readInline(category: string, content: Record<string, unknown>): Token | undefined {
  const [paragraph, inline] = readBlock(category, content);
  const tokens = paragraph?.type === "paragraph_open" ? outermost(inline?.children ?? []) : [];
  assertEquals(tokens.length, 1);
  return tokens[0];
}

function oneLine(text: string): string {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "").join(" ");
}

// proves: dpe-markdown-link
Deno.test("A link is read back as one link to the same URL, whatever its text and URL hold", () => {
  fc.assert(
    fc.property(marks, marks, (text, url) => {
      const link = readInline("link", { text: `a${text}`, url: `/${url}` });
      assertEquals([link?.type, link?.attrGet("href")], ["link_open", oneLine(`/${url}`)]);
    }),
    runs,
  );
});

Deno.test("A link whose text has brackets before a parenthesis is read back as one link", () => {
  const link = readInline("link", { text: "a[]()", url: "/" });
  assertEquals([link?.type, link?.attrGet("href")], ["link_open", "/"]);
});

// proves: dpe-markdown-image
Deno.test("An image is read back as one image of the same URL, whatever its description holds", () => {
  fc.assert(
    fc.property(marks, marks, (description, url) => {
      const image = readInline("image", { description, url: `/${url}` });
      assertEquals([image?.type, image?.attrGet("src")], ["image", oneLine(`/${url}`)]);
    }),
    runs,
  );
});

// proves: dpe-markdown-image, dpe-markdown-chart, dpe-markdown-other
Deno.test("What stands in our own brackets never becomes a link", () => {
  const hostile = "a](/evil)[b";
  for (
    const [category, content] of [
      ["image", { description: hostile }],
      ["chart", { title: hostile, data_summary: "(/evil)" }],
      ["video", { title: hostile }],
    ] as const
  ) {
    const [, inline] = parser.parse(renderElementMarkdown({ element_id: "e", category, content }), {});
    assertEquals(countOf(inline?.children ?? [], "link_open"), 0);
  }
});

// proves: dpe-markdown-heading
Deno.test("A heading is read back as one heading with all of its words", () => {
  for (const text of ["F #", "#", "# #", "one\ntwo", "C# ##", "a \\#"]) {
    const [heading, inline] = readBlock("heading", { level: 2, text });
    assertEquals([heading?.type, heading?.tag], ["heading_open", "h2"]);
    assertEquals(inline?.content.replaceAll("\\#", "#"), oneLine(text).replaceAll("\\#", "#"));
  }
});

// proves: dpe-markdown-table
Deno.test("A table is read back with the same number of rows and columns, whatever its cells hold", () => {
  const table = fc.integer({ min: 1, max: 4 }).chain((width) =>
    fc.record({
      headers: fc.array(marks, { minLength: width, maxLength: width }),
      rows: fc.array(fc.array(marks, { minLength: width, maxLength: width }), { maxLength: 3 }),
    })
  );
  fc.assert(
    fc.property(table, ({ headers, rows }) => {
      const read = readBlock("table", { headers, rows });
      assertEquals([read[0]?.type, countOf(read, "th_open")], ["table_open", headers.length]);
      assertEquals(countOf(read, "tr_open"), rows.length + 1);
      assertEquals(countOf(read, "td_open"), rows.length * headers.length);
    }),
    runs,
  );
});

// proves: dpe-markdown-code
Deno.test("Code is read back as it was, whatever fences it holds", () => {
  fc.assert(
    fc.property(marks, (rest) => {
      const code = `a${rest}`;
      const [read] = readBlock("code", { language: "ts", code });
      assertEquals([read?.type, read?.info], ["fence", "ts"]);
      // The page shows the code with a line feed at its end.
      assertEquals(read?.content, code.endsWith("\n") ? code : `${code}\n`);
    }),
    runs,
  );
});

// proves: dpe-markdown-list
Deno.test("Items that begin like a list, a heading, a quote or a rule are read back as items", () => {
  const items = ["- 5 °C", "1. first", "2) second", "# 3", "> 4", "*", "---", "* * *", "___"];
  const list = readBlock("list", { items });
  assertEquals(outermost(list, 1).length, items.length);
  assertEquals(outermost(list, 2).filter(({ type }) => type !== "paragraph_open"), []);
});

// proves: dpe-markdown-list
Deno.test("A numbered list keeps its first number, and its lists below are read back as such", () => {
  const items = ["a", { text: "b", items: ["c", { text: "d", ordered: true, start: 7, items: ["e"] }] }];
  const markdown = renderElementMarkdown(element("list", { ordered: true, start: 9, items }));
  assertEquals(markdown, "9. a\n10. b\n    - c\n    - d\n      7. e");
  const tokens = parser.parse(markdown, {});
  assertEquals(outermost(tokens).length, 1);
  assertEquals(outermost(tokens, 2).filter(({ type }) => type === "bullet_list_open").length, 1);
  assertEquals(outermost(tokens, 3).filter(({ type }) => type === "list_item_open").length, 2);
});

// proves: dpe-markdown-list
Deno.test("Two lists after each other stay two lists", () => {
  const list = element("list", { items: ["a"] });
  const numbered = element("list", { ordered: true, items: ["a"] });
  const markdown = renderPageMarkdown({ elements: [list, list, numbered] });
  assertEquals(markdown, "- a\n\n<!-- -->\n\n- a\n\n1. a");
  assertEquals(
    outermost(parser.parse(markdown, {})).filter(({ type }) => type.endsWith("list_open")).length,
    3,
  );
});

// proves: dpe-markdown-image
Deno.test("An image that is a data: URL, or has an empty one, is its description", () => {
  const url = "data:image/png;base64,AAAA";
  assertEquals(renderElementMarkdown(element("image", { url, description: "cat" })), "[图片: cat]");
  assertEquals(renderElementMarkdown(element("image", { url: "", description: "cat" })), "[图片: cat]");
});

// proves: dpe-markdown-formula
Deno.test("A formula of several lines stands on one", () => {
  const expression = "\\frac{a}{b} \\\n+ c";
  assertEquals(renderElementMarkdown(element("formula", { expression })), "$ \\frac{a}{b} \\ + c $");
  assertEquals(
    renderElementMarkdown(element("formula", { expression: "=SUM($A$1:A4)" })),
    "$ =SUM($A$1:A4) $",
  );
});

// proves: dpe-markdown-other
Deno.test("An element without a summary tells its own first words", () => {
  const render = (category: string, content: Record<string, unknown>) =>
    renderElementMarkdown({ element_id: "e", category, content });
  assertEquals(render("annotation", { text: "Check\nthis" }), "[annotation: Check this]");
  assertEquals(render("form", { title: "Order", fields: [] }), "[form: Order]");
  assertEquals(render("footer", { text: "x".repeat(5_000) }).length, "[footer: …]".length + 4_000);
});
