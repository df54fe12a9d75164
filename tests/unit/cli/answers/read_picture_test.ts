import { assertEquals } from "@std/assert";
import { drawRead } from "../../../../src/cli/answers/read_picture.ts";
import { PLAIN } from "../../../../src/terminal/screen.ts";

const screen = { columns: 40, palette: PLAIN };

const elements = [{ element_id: "h", category: "heading", content: { level: 1, text: "年度总结" } }, {
  element_id: "b",
  category: "table",
  content: { headers: ["季度", "收入"], rows: [["Q1", 1250], [null, "80\u001b[2J"]] },
}];

function answer(text: string, mimeType = "application/json") {
  return { contents: [{ uri: "x", mimeType, text }] };
}

// proves: dpe-content-level-2
Deno.test("drawRead() draws windows, shows the text of pages and elements, and nothing else", () => {
  const page = JSON.stringify({ page_index: 0, title: "T", elements });
  assertEquals(
    drawRead("dpe://d/r/pages/0", answer(page), screen),
    "年度总结\n\n季度  收入\nQ1    1250\n      80",
  );
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
