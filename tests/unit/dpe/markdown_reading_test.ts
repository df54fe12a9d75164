// What Markdown means is told by those who read it: each rendering is read back with a Markdown parser.

import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { marked, type Token, type Tokens } from "marked";
import { renderElementMarkdown, renderPageMarkdown } from "../../../src/dpe/markdown.ts";
import type { DPEElementDetail } from "../../../src/protocol/dpe.ts";
import { sized } from "../../fixtures/test_size.ts";

/** Text with more of what Markdown has a meaning for than chance would give. */
const marks = fc.string({
  unit: fc.constantFrom(..."[]()<>`\\|#-+*>_~!&;:.=$1a b中", "\n", "&amp;", "](", "```", "<br>", "- "),
  maxLength: 24,
});

const runs: fc.Parameters<unknown> = { seed: 20260, numRuns: sized({ reduced: 200, full: 5_000 }) };

function element(category: string, content: Record<string, unknown>): DPEElementDetail {
  return { element_id: "e", category, summary: "S", content };
}

/** The only block that a rendering is read as. */
function readBlock(category: string, content: Record<string, unknown>): Token | undefined {
  const tokens = marked.lexer(renderElementMarkdown(element(category, content)));
  assertEquals(tokens.length, 1);
  return tokens[0];
}

/** The only thing in a rendering's only paragraph. */
function readInline(category: string, content: Record<string, unknown>): Token | undefined {
  const block = readBlock(category, content);
  const tokens = block?.type === "paragraph" ? (block as Tokens.Paragraph).tokens : [];
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
      assertEquals([link?.type, (link as Tokens.Link).href], ["link", oneLine(`/${url}`)]);
    }),
    runs,
  );
});

// proves: dpe-markdown-image
Deno.test("An image is read back as one image of the same URL, whatever its description holds", () => {
  fc.assert(
    fc.property(marks, marks, (description, url) => {
      const image = readInline("image", { description, url: `/${url}` });
      assertEquals([image?.type, (image as Tokens.Image).href], ["image", oneLine(`/${url}`)]);
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
    const block = marked.lexer(renderElementMarkdown({ element_id: "e", category, content }))[0];
    const inline = block?.type === "paragraph" ? (block as Tokens.Paragraph).tokens : [];
    assertEquals(inline.filter(({ type }) => type === "link"), []);
  }
});

// proves: dpe-markdown-heading
Deno.test("A heading is read back as one heading with all of its words", () => {
  for (const text of ["F #", "#", "# #", "one\ntwo", "C# ##", "a \\#"]) {
    const block = readBlock("heading", { level: 2, text });
    const heading = block as Tokens.Heading;
    assertEquals([heading.type, heading.depth], ["heading", 2]);
    assertEquals(heading.text.replaceAll("\\#", "#"), oneLine(text).replaceAll("\\#", "#"));
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
      const block = readBlock("table", { headers, rows });
      const read = block as Tokens.Table;
      assertEquals([read.type, read.header.length], ["table", headers.length]);
      assertEquals(read.rows.map((row) => row.length), rows.map((row) => row.length));
    }),
    runs,
  );
});

// proves: dpe-markdown-code
Deno.test("Code is read back as it was, whatever fences it holds", () => {
  fc.assert(
    fc.property(marks, (rest) => {
      const code = `a${rest}`;
      const block = readBlock("code", { language: "ts", code });
      const read = block as Tokens.Code;
      assertEquals([read.type, read.lang], ["code", "ts"]);
      assertEquals(read.text, code.endsWith("\n") ? code.slice(0, -1) : code);
    }),
    runs,
  );
});

// proves: dpe-markdown-list
Deno.test("Items that begin like a list, a heading, a quote or a rule are read back as items", () => {
  const items = ["- 5 °C", "1. first", "2) second", "# 3", "> 4", "*", "---", "* * *", "___"];
  const block = readBlock("list", { items });
  const list = block as Tokens.List;
  assertEquals(list.items.length, items.length);
  const inner = list.items.flatMap(({ tokens }) => tokens.map(({ type }) => type));
  assertEquals(inner.filter((type) => type !== "text"), []);
});

// proves: dpe-markdown-list
Deno.test("A numbered list keeps its first number, and its lists below are read back as such", () => {
  const items = ["a", { text: "b", items: ["c", { text: "d", ordered: true, start: 7, items: ["e"] }] }];
  const markdown = renderElementMarkdown(element("list", { ordered: true, start: 9, items }));
  assertEquals(markdown, "9. a\n10. b\n    - c\n    - d\n      7. e");
  const [outer] = marked.lexer(markdown);
  const below = (outer as Tokens.List).items[1]?.tokens.find(({ type }) => type === "list");
  assertEquals((below as Tokens.List).items.length, 2);
});

// proves: dpe-markdown-list
Deno.test("Two lists after each other stay two lists", () => {
  const list = element("list", { items: ["a"] });
  const numbered = element("list", { ordered: true, items: ["a"] });
  const markdown = renderPageMarkdown({ elements: [list, list, numbered] });
  assertEquals(markdown, "- a\n\n<!-- -->\n\n- a\n\n1. a");
  assertEquals(marked.lexer(markdown).filter(({ type }) => type === "list").length, 3);
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
  assertEquals(render("footer", { text: "x".repeat(600) }).length, "[footer: …]".length + 500);
});
