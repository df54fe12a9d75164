import { assert, assertEquals, assertRejects } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { markdownOf, openFile, pagesOf } from "./_open.ts";

Deno.test("the blocks of HTML become elements, and scripts and styles do not", async () => {
  const document = await openFile(
    "page.html",
    `<!doctype html><html><head><title>The page</title><meta name="keywords" content="a, b">
    <meta name="description" content="In short."><style>p { color: red }</style></head><body>
    <h1>Hello <em>you</em></h1><p>Read <a href="https://example.com">this</a>.<br>Now.</p>
    <ul><li>one<ol><li>below</li></ol></li><li>two</li></ul>
    <table><caption>Sales</caption><tr><th>a</th><th>b</th></tr><tr><td colspan="2">1</td></tr></table>
    <pre>x
  y
</pre><img alt="A chart" src="chart.png"><hr><script>alert(1)</script><canvas></canvas></body></html>`,
  );
  assertEquals(await pagesOf(document), [[
    "Hello you",
    ["p0-heading-1", { level: 1, text: "Hello you" }],
    ["p0-text-1", { text: "Read this.\nNow." }],
    ["p0-link-1", { text: "this", url: "https://example.com" }],
    ["p0-list-1", { items: [{ text: "one", ordered: true, items: ["below"] }, "two"] }],
    ["p0-text-2", { text: "Sales" }],
    ["p0-table-1", { headers: ["a", "b"], rows: [["1", null]], total_rows: 1, merged_ranges: ["A2:B2"] }],
    ["p0-code-1", { code: "x\n  y" }],
    ["p0-image-1", { description: "A chart", url: "chart.png" }],
    ["p0-separator-1", { style: "line" }],
  ]]);
  const { title, keywords, losses } = document.facts;
  assertEquals({ title, keywords, losses }, {
    title: "The page",
    keywords: ["a", "b"],
    losses: ["1 part of a kind that is not read: drawing"],
  });
});

Deno.test("a form becomes its fields, without passwords and hidden values", async () => {
  const document = await openFile(
    "form.html",
    `<form><input name="city" value="Oslo"><input type="hidden" name="csrf" value="s"><input type="password" name="p" value="s">
    <select name="size"><option>S</option><option>L</option></select></form>`,
  );
  assertEquals(await pagesOf(document), [[
    "form.html",
    ["p0-form-1", { fields: [{ name: "city", type: "text", value: "Oslo" }] }],
    ["p0-form-2", { fields: [{ name: "size", type: "select", options: ["S", "L"] }] }],
  ]]);
});

Deno.test("HTML that is nested too deeply is refused", async () => {
  const error = await assertRejects(() => openFile("deep.html", "<div>".repeat(500) + "x"), DocumentError);
  assertEquals(error.code, "too_large");
});

Deno.test("cells of HTML that cover rows and columns leave the others in their columns", async () => {
  const document = await openFile(
    "spans.html",
    `<table><tr><th>a</th><th>b</th><th>c</th></tr><tr><td rowspan="2">1</td><td colspan="2">2</td></tr>
    <tr><td>3</td><td rowspan="0">4</td></tr><tr><td>5</td><td>6</td></tr></table>`,
  );
  const rows = [["1", "2", null], [null, "3", "4"], ["5", "6", null]];
  assertEquals(await pagesOf(document), [[
    "spans.html",
    ["p0-table-1", {
      headers: ["a", "b", "c"],
      rows,
      total_rows: 3,
      merged_ranges: ["A2:A3", "B2:C2", "C3:C4"],
    }],
  ]]);
});

Deno.test("HTML is read as a browser shows it: hidden parts are left out, and line ends are spaces", async () => {
  const document = await openFile(
    "shown.html",
    `<p>one\n  two<br>three</p><p hidden>no</p><div style="color:red; display: none">no<ul><li>no</ul></div>
    <ul><li>a\nb <a href="https://example.com">c</a> <img alt="A map" src="map.png"><i hidden>no</i></li></ul>
    <pre class="x"><code class="language-js">a\n\n b</code></pre>`,
  );
  assertEquals(await pagesOf(document), [[
    "shown.html",
    ["p0-text-1", { text: "one two\nthree" }],
    ["p0-list-1", { items: ["a b c"] }],
    ["p0-link-1", { text: "c", url: "https://example.com" }],
    ["p0-image-1", { description: "A map", url: "map.png" }],
    ["p0-code-1", { language: "js", code: "a\n\n b" }],
  ]]);
});

Deno.test("links in items of HTML to other sites and to files beside it are shown, those of menus are not", async () => {
  const urls = [
    "https://example.com/a",
    "part/two.html#b",
    "three.html",
    "/home",
    "#top",
    "?page=2",
    "javascript:go()",
  ];
  const items = urls.map((url) => `<li><a href="${url}">x</a>`).join("");
  const links = (await shown("links.html", `<ul>${items}</ul>`)).filter((line) => line.startsWith("link"));
  assertEquals(links.map((line) => /"url":"([^"]*)"/.exec(line)?.[1]), urls.slice(0, 3));
});

Deno.test("HTML whose cells cover millions of places is refused", async () => {
  const wide = '<td colspan="100" rowspan="65534">'.repeat(100);
  const table = `<table><tr>${wide}</tr>${"<tr>".repeat(10_000)}</table>`;
  const error = await assertRejects(() => openFile("spans.html", table), DocumentError);
  assertEquals(error.code, "too_large");
});

/** What the elements of a page show, in one line each. */
async function shown(fileName: string, text: string): Promise<string[]> {
  const [page = []] = await pagesOf(await openFile(fileName, text)) as [string, ...[string, unknown][]][][];
  return page.slice(1).map(([id, content]) => `${String(id).split("-")[1]}: ${JSON.stringify(content)}`);
}

Deno.test("values that HTML keeps apart by its markup stay apart in text", async () => {
  const files: readonly (readonly [string, ...string[]])[] = [
    [
      "<p>10<sup>6</sup> units, CO<sub>2</sub>, x<sup>q+1</sup>, 2<sup>2<sup>3</sup></sup>",
      "10⁶ units, CO₂, x^(q+1), 2^(2^(3))",
    ],
    [
      "<p>seen<sup><a href='#n'>[1]</a></sup> 5 m<span style='vertical-align: super'>2</span>",
      "seen[1] 5 m²",
    ],
    [
      "<p><del>deleted</del><ins>inserted</ins> <s>100</s> 80 <strike>x</strike>",
      "~~deleted~~ inserted ~~100~~ 80 ~~x~~",
    ],
    ["<p>Price <span style='color: red; text-decoration: line-through'>100</span> 80", "Price ~~100~~ 80"],
    ["<del><p>all</p><p>of it</p></del>", "~~all~~", "~~of it~~"],
    [
      "<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>と<ruby>字<rt>じ</rt></ruby>",
      "漢字(かんじ)と字(じ)",
    ],
    ["<p>one<br>two", "one\ntwo"],
    ["<dl><dt>Term<dd>Meaning<dt>Other<dd>Thing</dl>", "Term", "Meaning", "Other", "Thing"],
    ["<details><summary>More</summary>inside</details>", "More", "inside"],
    [
      "<p>Area <math><msup><mi>x</mi><mn>2</mn></msup><mo>+</mo><mfrac><mn>1</mn><mn>2</mn></mfrac><mo>+</mo><msqrt><mn>9</mn></msqrt></math> m",
      "Area x^(2)+(1)/(2)+√(9) m",
    ],
  ];
  for (const [html, ...texts] of files) {
    assertEquals(await shown("a.html", html), texts.map((text) => `text: ${JSON.stringify({ text })}`), html);
  }
});

Deno.test("items of HTML have the numbers that a browser shows", async () => {
  const lists: readonly (readonly [string, unknown])[] = [
    ["<ol type=a><li>x<li>y</ol>", { items: ["a. x", "b. y"] }],
    ["<ol type=I start=4><li>x<ol type=i><li>y</ol></ol>", { items: [{ text: "IV. x", items: ["i. y"] }] }],
    ["<ol style='list-style-type: upper-alpha'><li>x<li>y</ol>", { items: ["A. x", "B. y"] }],
    ["<ol reversed><li>x<li>y<li>z</ol>", { items: ["3. x", "2. y", "1. z"] }],
    ["<ol><li>x<li value=5>y<li>z</ol>", { items: ["1. x", "5. y", "6. z"] }],
    ["<ol type=1 start=7><li>x<li>y</ol>", { ordered: true, start: 7, items: ["x", "y"] }],
    ["<ol start=-1><li>x<li>y</ol>", { items: ["-1. x", "0. y"] }],
    ["<ol start=x><li>x<li>y</ol>", { ordered: true, items: ["x", "y"] }],
    ["<ul><li>x<ol><li>y</ol><ol type=a><li>z</ol></ul>", {
      items: [{ text: "x", items: ["1. y", "a. z"] }],
    }],
    ["<ul type=a start=3><li>x</ul>", { items: ["x"] }],
  ];
  for (const [html, list] of lists) {
    assertEquals(await shown("a.html", html), [`list: ${JSON.stringify(list)}`], html);
  }
});

Deno.test("formulas of MathML are read as those of Word", async () => {
  const formulas: readonly (readonly [string, string])[] = [
    ["<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>", "x_(i)^(2)"],
    ["<mroot><mn>8</mn><mn>3</mn></mroot>", "root(3, 8)"],
    [
      "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>",
      "∑_(i=1)^(n)",
    ],
    ["<mfenced open='['><mi>a</mi><mi>b</mi></mfenced>", "[a, b)"],
    [
      "<mtable><mtr><mtd>1</mtd><mtd>2</mtd></mtr><mtr><mtd>3</mtd><mtd>4</mtd></mtr></mtable>",
      "[1, 2; 3, 4]",
    ],
    [
      "<semantics><mrow><mi>f</mi><mo>&#x2061;</mo><mo>(</mo><mi>x</mi><mo>)</mo></mrow><annotation>f(x)</annotation></semantics>",
      "f(x)",
    ],
  ];
  for (const [math, expression] of formulas) {
    assertEquals(await shown("a.html", `<p><math>${math}</math></p>`), [
      `formula: ${JSON.stringify({ expression })}`,
    ]);
  }
  assertEquals(await shown("a.html", "<math display=block alttext='x^2'><mi>x</mi></math>"), [
    'formula: {"expression":"x^2"}',
  ]);
});

Deno.test("cells, and blocks in cells and items, stay apart; a table that only places its content is none", async () => {
  const inner = "<table><tr><td>12</td><td>34</td></tr><tr><td>56</td><td>78</td></tr></table>";
  const table = (rows: unknown) =>
    `table: ${JSON.stringify({ headers: [], rows, total_rows: (rows as []).length })}`;
  const innerTable = `table: ${
    JSON.stringify({ total_rows: 2, headers: [], rows: [["12", "34"], ["56", "78"]] })
  }`;
  const files: readonly (readonly [string, ...string[]])[] = [
    [`<table><tr><td>Total${inner}</td><td>x</td></tr></table>`, table([["Total\n12 | 34\n56 | 78", "x"]])],
    [`<table><tr><td>Total${inner}</td></tr></table>`, 'text: {"text":"Total"}', innerTable],
    [
      `<table role="presentation"><tr><td>A</td><td>${inner}</td></tr></table>`,
      'text: {"text":"A"}',
      innerTable,
    ],
    [
      `<table><tr><td><table><tr><td>A</td><td>${inner}</td></tr></table></td><td>B</td></tr></table>`,
      table([["A", "12 | 34\n56 | 78"]]),
      'text: {"text":"B"}',
    ],
    [
      "<table><tr><td><h1>Offer</h1><p>One</p><ul><li>a</ul></td></tr></table>",
      'heading: {"level":1,"text":"Offer"}',
      'text: {"text":"One"}',
      'list: {"items":["a"]}',
    ],
    [
      "<table><tr><td><h3>Head</h3>body</td><td><p>a</p><p>b</p>c<ul><li>d<li>e</ul></td></tr></table>",
      table([["Head\nbody", "a\nb\nc\nd\ne"]]),
    ],
    [
      "<table><tr><td>A<br>B <input type=checkbox checked> yes <input value=v></td><td><select><option>S<option selected>L</select></td></tr></table>",
      table([["A\nB [x] yes v", "L"]]),
    ],
    [
      `<ul><li><h3>Head</h3>body ${inner}<pre>x\n y</pre></ul>`,
      'list: {"items":["Head\\nbody"]}',
      table([["12", "34"], ["56", "78"]]),
      'code: {"code":"x\\n y"}',
    ],
    [
      "<ul><li>a<ul><li>b</ul><ul><li>c</ul>text<ol><li>d</ol></ul>",
      'list: {"items":[{"text":"a\\ntext","items":["b","c","1. d"]}]}',
    ],
    [
      "<ul><li>a</li><ul><li>b</li></ul><li><video src=v.mp4></video></li></ul>",
      'list: {"items":[{"text":"a","items":["b"]}]}',
      'video: {"url":"v.mp4"}',
    ],
    ["<h3>Head</h3>body", 'heading: {"level":3,"text":"Head"}', 'text: {"text":"body"}'],
  ];
  for (const [html, ...expected] of files) {
    assertEquals((await shown("a.html", html)).map(sorted), expected.map(sorted), html);
  }
});

/** JSON whose members are in one order. */
function sorted(line: string): string {
  const [category = "", json = ""] = line.split(/: (.*)/s);
  return `${category}: ${JSON.stringify(Object.entries(JSON.parse(json)).sort())}`;
}

Deno.test("fields of forms have their values", async () => {
  assertEquals(
    await shown(
      "a.html",
      "<textarea name=t>hi\nyou</textarea><select name=s><optgroup><option selected>A</optgroup></select><input type=radio name=r value=L checked><input type=checkbox name=c>",
    ),
    [
      'form: {"fields":[{"name":"t","type":"textarea","value":"hi\\nyou"}]}',
      'form: {"fields":[{"name":"s","type":"select","value":"A","options":["A"]}]}',
      'form: {"fields":[{"name":"r","type":"radio","value":"L"}]}',
      'form: {"fields":[{"name":"c","type":"checkbox","value":false}]}',
    ],
  );
});

Deno.test("what HTML contains and is not read is counted and named", async () => {
  const { facts } = await openFile(
    "a.html",
    "<canvas></canvas><ul><li><canvas></canvas><iframe srcdoc='x'></iframe></ul>",
  );
  assertEquals(facts.losses, ["3 parts of kinds that are not read: drawing (2), embedded page"]);
  const drawings =
    "<svg><title>Sales</title></svg><svg aria-hidden=true></svg><svg><path/></svg><map><area href=x alt=North></map>";
  assertEquals(await shown("a.html", drawings), [
    'image: {"description":"Sales"}',
    'link: {"text":"North","url":"x"}',
  ]);
  assertEquals((await openFile("a.html", drawings)).facts.losses, [
    "1 part of a kind that is not read: drawing",
  ]);
});

Deno.test("XHTML is read with its empty elements and its sections of plain text", async () => {
  const xhtml =
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js"/></head>
    <body><p><a id="top"/>one<br/>two</p><div/><p><![CDATA[a < b]]></p></body></html>`;
  assertEquals(await shown("a.xhtml", xhtml), ['text: {"text":"one\\ntwo"}', 'text: {"text":"a < b"}']);
});

Deno.test("hostile HTML takes a time that grows with its length alone", async () => {
  const count = 20_000;
  const texts = [
    `<p style="${"text-decoration".repeat(count)}">x`,
    `<?xml?>${"<![CDATA[".repeat(count)}`,
    "<!--".repeat(count),
    `<meta ${"a".repeat(10 * count)}`,
    "<sup>[".repeat(80) + "x".repeat(count),
    "<del>a</del><ins>b</ins>".repeat(count),
    "<table><tr><td>".repeat(20) + "<table><tr><td>1</table>".repeat(count / 10),
    `<ul>${"<li><a href='http://x'>b</a>".repeat(count)}`,
  ];
  for (const text of texts) {
    const start = performance.now();
    await openFile("a.html", text);
    const ms = performance.now() - start;
    // A time that grows with the square of the length would be minutes.
    assert(ms < 60_000, `${text.slice(0, 30)} took ${ms} ms`);
  }
});

Deno.test("a table in a cell is read as text, also where its cells cover others", async () => {
  const inner =
    "<table><tr><td colspan=2>a</td><td rowspan=2>b</td></tr><tr><td>c</td><td>d</td></tr></table>";
  const [markdown] = await markdownOf(
    await openFile(
      "a.html",
      `<table><tr><td>x</td><td>${inner}</td></tr><tr><td>y</td><td>z</td></tr></table>`,
    ),
  );
  assertEquals(markdown?.includes("| x | a \\| b<br>c \\| d |"), true, markdown);
});
