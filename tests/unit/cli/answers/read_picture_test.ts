import { assertEquals } from "@std/assert";
import { drawElement, drawPage, drawRead } from "../../../../src/cli/answers/read_picture.ts";
import { PLAIN } from "../../../../src/terminal/screen.ts";

const screen = { columns: 40, palette: PLAIN };

const elements = [
  { element_id: "h", category: "heading", content: { level: 1, text: "年度总结" } },
  {
    element_id: "t",
    category: "text",
    content: { text: "本报告总结了公司在各业务领域的运营情况,并作出展望。" },
  },
  {
    element_id: "b",
    category: "table",
    content: { headers: ["季度", "收入"], rows: [["Q1", 1250], [null, "80"]] },
  },
  {
    element_id: "l",
    category: "list",
    content: { ordered: true, items: ["one", { text: "two", items: ["x"] }] },
  },
  { element_id: "c", category: "code", content: { code: "if (a)\n\tb();\n" } },
  { element_id: "v", category: "video", summary: "Launch\u001b[2J", content: {} },
];

// proves: dpe-content-level-2
Deno.test("drawPage() draws the elements as they would look on paper", () => {
  assertEquals(
    `\n${drawPage({ page_index: 2, title: "概览", elements }, screen)}\n`,
    `
page 2 概览

年度总结

本报告总结了公司在各业务领域的运营情况,
并作出展望。

┌──────┬──────┐
│ 季度 │ 收入 │
├──────┼──────┤
│ Q1   │ 1250 │
│      │   80 │
└──────┴──────┘

1. one
2. two
   - x

│ if (a)
│         b();

[video: Launch]
`,
  );
});

Deno.test("drawElement() says how many rows of a table are not shown", () => {
  const rows = Array.from({ length: 130 }, (_, i) => [i]);
  const drawn = drawElement(
    { element_id: "t", category: "table", content: { headers: ["n"], rows } },
    screen,
  );
  assertEquals(drawn.split("\n").slice(-2), ["└────┘", "… 30 more rows"]);
});

function answer(text: string, mimeType = "application/json") {
  return { contents: [{ uri: "x", mimeType, text }] };
}

Deno.test("drawRead() draws windows, pages and elements, and nothing else", () => {
  const page = JSON.stringify({ page_index: 0, title: "T", elements: elements.slice(0, 1) });
  assertEquals(drawRead("dpe://d/r/pages/0", answer(page), screen), "page 0 T\n\n年度总结");
  assertEquals(drawRead("dpe://d/r/elements/h", answer(JSON.stringify(elements[0])), screen), "年度总结");
  assertEquals(drawRead("window://a", answer("hi"), screen)?.split("\n")[1]?.slice(0, 6), "│ hi  ");
  assertEquals(drawRead("window://a", { contents: [{ uri: "x", blob: "AA" }] }, screen), undefined);
  assertEquals(drawRead("dpe://d/r", answer("{}"), screen), undefined);
  assertEquals(drawRead("dpe://d/r/pages/0", answer("{}"), screen), undefined);
  assertEquals(drawRead("dpe://d/r/pages/x", answer(page), screen), undefined);
  assertEquals(drawRead("file:///a", answer(page), screen), undefined);
});

// proves: dpe-query-format
Deno.test("drawRead() shows the Markdown or text that was asked for, without commands to the terminal", () => {
  const page = { page_index: 0, title: "T", elements, content_markdown: "# 年度\u001b[2J\u0007" };
  const uri = "dpe://d/r/pages/0?format=markdown";
  assertEquals(drawRead(uri, answer(JSON.stringify(page)), screen), "# 年度�");
  assertEquals(drawRead(uri, answer("# raw", "text/markdown"), screen), "# raw");
});
