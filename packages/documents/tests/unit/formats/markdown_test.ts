import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { openFile, pagesOf } from "./_open.ts";

Deno.test("the blocks of Markdown become elements", async () => {
  const document = await openFile(
    "guide.md",
    `# Guide

Read *this* [page](https://example.com/a).

1. one
2. two
   - below

| a | b |
| - | - |
| 1 | **2** |

\`\`\`ts
const x = 1;
\`\`\`

\`\`\`mermaid
graph TD
\`\`\`

> quoted
> twice

![A chart](chart.png)

$$ E = mc^2 $$

---
`,
  );
  assertEquals(await pagesOf(document), [[
    "Guide",
    ["p0-heading-1", { level: 1, text: "Guide" }],
    ["p0-text-1", { text: "Read *this* [page](https://example.com/a)." }],
    ["p0-link-1", { text: "page", url: "https://example.com/a" }],
    ["p0-list-1", { ordered: true, items: ["one", { text: "two", items: ["below"] }] }],
    ["p0-table-1", { headers: ["a", "b"], rows: [["1", "2"]], total_rows: 1 }],
    ["p0-code-1", { language: "ts", code: "const x = 1;" }],
    ["p0-diagram-1", { diagram_type: "mermaid", source: "graph TD" }],
    ["p0-text-2", { text: "> quoted\n> twice" }],
    ["p0-image-1", { description: "A chart", url: "chart.png" }],
    ["p0-formula-1", { expression: "E = mc^2" }],
    ["p0-separator-1", { style: "line" }],
  ]]);
});

Deno.test("the front matter of Markdown gives the title, the keywords and the summary", async () => {
  const document = await openFile(
    "post.md",
    "---\ntitle: A post\ntags: [one, two]\ndescription: In short.\n---\nText.",
  );
  const { title, keywords, opening } = document.facts;
  assertEquals({ title, keywords, opening }, {
    title: "A post",
    keywords: ["one", "two"],
    opening: "In short.\nText.",
  });
  assertEquals((await document.page(0)).elements.map(({ category }) => category), ["code", "text"]);
});

Deno.test("a front matter that is no YAML is shown, and costs nothing else", async () => {
  const document = await openFile("post.md", "---\ntitle: [\n---\n# Post");
  assertEquals(document.facts.title, "Post");
  assertEquals((await document.page(0)).elements.map(({ category }) => category), ["code", "heading"]);
});

Deno.test("code and links in an item follow their list", async () => {
  const document = await openFile("list.md", "- [a](x.md)\n\n  ```\n  code\n  ```\n- b\n");
  assertEquals(await pagesOf(document), [[
    "list.md",
    ["p0-list-1", { items: ["[a](x.md)", "b"] }],
    ["p0-link-1", { text: "a", url: "x.md" }],
    ["p0-code-1", { code: "code" }],
  ]]);
});

Deno.test("quotations, pictures and numbers of Markdown stay what they are within lists", async () => {
  const document = await openFile(
    "a.md",
    "> 0. zero\n>    - b\n>\n> > twice\n> > over\n\n1. step\n   ![](a.png)\n\n   5. five\n\n- said:\n\n  > *so*\n\n  $$x$$\n\n## [Top](t.md) [![badge](b.svg)](ci)\n\n[only](o.md)\n",
  );
  assertEquals(await pagesOf(document), [[
    "Top badge",
    ["p0-list-1", { ordered: true, start: 0, items: [{ text: "zero", items: ["b"] }] }],
    ["p0-text-1", { text: "> > twice\n> > over" }],
    ["p0-list-2", {
      ordered: true,
      items: [{ text: "step\n![](a.png)", ordered: true, start: 5, items: ["five"] }],
    }],
    ["p0-image-1", { description: "", url: "a.png" }],
    ["p0-list-3", { items: ["said:\n> *so*\n$$x$$"] }],
    ["p0-heading-1", { level: 2, text: "Top badge" }],
    ["p0-link-1", { text: "Top", url: "t.md" }],
    ["p0-link-2", { text: "badge", url: "ci" }],
    ["p0-link-3", { text: "only", url: "o.md" }],
  ]]);
});

Deno.test("pictures, links and line breaks in HTML divide no paragraph, quotation or heading of Markdown", async () => {
  const document = await openFile(
    "a.md",
    '# Name <a href="https://x.org/p"><img src="b.svg"></a>\n\n[<img src="c.png" alt="C">](#c) and <img\nsrc="d.png"> more\n\n> **Note:** <br>\n> two<br>three\n',
  );
  assertEquals(await pagesOf(document), [[
    "Name",
    ["p0-heading-1", { level: 1, text: "Name" }],
    ["p0-image-1", { description: "", url: "b.svg" }],
    ["p0-link-1", { text: "https://x.org/p", url: "https://x.org/p" }],
    ["p0-text-1", { text: "[](#c) and more" }],
    ["p0-image-2", { description: "C", url: "c.png" }],
    ["p0-image-3", { description: "", url: "d.png" }],
    ["p0-text-2", { text: "> **Note:**\n> two\n> three" }],
  ]]);
});

Deno.test("Markdown that is nested deeper than the limit is refused, not cut", async () => {
  const nested = (depth: number) => `${">".repeat(depth)} inside\n`;
  const document = await openFile("deep.md", nested(90));
  assertStringIncludes(JSON.stringify(await pagesOf(document)), "inside");
  await assertRejects(() => openFile("deep.md", nested(100)), DocumentError, "nested deeper than 100 levels");
});

Deno.test("HTML within Markdown is read as HTML is", async () => {
  const document = await openFile(
    "a.md",
    `# x<sup>2</sup> \`a<sup>b</sup>\` 1 < 2

10<sup>6</sup> <del>a</del><ins>b</ins> \`<sup>\` <https://x.org> a<br>b <!-- no --><ruby>字<rt>じ</rt></ruby> List<String>

| a | b |
| - | - |
| 10<sup>6</sup> | ~~100~~ 80 |

- CO<sub>2</sub> <img src="x.png" alt="Pic"> <a href="https://y.org">why</a>

<table><tr><td>1</td><td>2</td></tr></table><canvas></canvas>
`,
  );
  assertEquals(await pagesOf(document), [[
    "x² a<sup>b</sup> 1 < 2",
    ["p0-heading-1", { level: 1, text: "x² a<sup>b</sup> 1 < 2" }],
    ["p0-text-1", { text: "10⁶ ~~a~~ b `<sup>` <https://x.org> a\nb 字(じ) List<String>" }],
    ["p0-link-1", { text: "https://x.org", url: "https://x.org" }],
    ["p0-table-1", { headers: ["a", "b"], rows: [["10⁶", "~~100~~ 80"]], total_rows: 1 }],
    ["p0-list-1", { items: ["CO₂ why"] }],
    ["p0-link-2", { text: "why", url: "https://y.org" }],
    ["p0-image-1", { description: "Pic", url: "x.png" }],
    ["p0-table-2", { headers: [], rows: [["1", "2"]], total_rows: 1 }],
  ]]);
  assertEquals(document.facts.losses, ["1 part of a kind that is not read: drawing"]);
});

Deno.test("the front matter is on the page of the first section, and the summary has no marks of Markdown", async () => {
  const document = await openFile(
    "a.md",
    "---\ntitle: Handbook\n---\n# Handbook\n\nThe *stars* of `code` and [links](https://x.org).\n\n## Install\n\nx\n\n## Risks\n\ny\n",
  );
  assertEquals(document.facts.pageTitles, ["Handbook", "Install", "Risks"]);
  assertEquals(document.facts.opening, "The stars of code and links. x y");
});

Deno.test("tags that a paragraph leaves open cost it its tags alone", async () => {
  for (const tag of ["<em>", "<b>", "<span class='x'>"]) {
    const [[, first]] = await pagesOf(await openFile("a.md", `${`a ${tag}b `.repeat(300)}\n\nlast\n`)) as [
      [string, ...unknown[]],
    ];
    assertStringIncludes(JSON.stringify(first), `a ${tag}b a ${tag}b`);
  }
});
