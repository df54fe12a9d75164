import { assertEquals, assertRejects } from "@std/assert";
import { DocumentError } from "../../../../src/documents/formats/format.ts";
import { openFile, pagesOf } from "./_open.ts";

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
    ["p0-table-1", { headers: ["a", "b"], rows: [["1", null]], total_rows: 1 }],
    ["p0-code-1", { code: "x\n  y" }],
    ["p0-image-1", { description: "A chart", url: "chart.png" }],
    ["p0-separator-1", { style: "line" }],
  ]]);
  const { title, keywords, losses } = document.facts;
  assertEquals({ title, keywords, losses }, {
    title: "The page",
    keywords: ["a", "b"],
    losses: ["1 drawing is not shown"],
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
    ["p0-table-1", { headers: ["a", "b", "c"], rows, total_rows: 3 }],
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

Deno.test("HTML whose cells cover millions of places is refused", async () => {
  const wide = '<td colspan="100" rowspan="65534">'.repeat(100);
  const table = `<table><tr>${wide}</tr>${"<tr>".repeat(10_000)}</table>`;
  const error = await assertRejects(() => openFile("spans.html", table), DocumentError);
  assertEquals(error.code, "too_large");
});
