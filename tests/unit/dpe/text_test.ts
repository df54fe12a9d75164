import { assertEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { renderElementText, renderPageText } from "../../../src/dpe/text.ts";
import { type DPEElementDetail, ELEMENT_CATEGORIES } from "../../../src/protocol/dpe.ts";

function render(category: string, content: Record<string, unknown>): string {
  return renderElementText({ element_id: "e", category, summary: "S", content });
}

// proves: dpe-query-format
Deno.test("Plain text says what the Markdown says, without its marks", () => {
  assertEquals(render("heading", { level: 2, text: "Sales" }), "Sales");
  assertEquals(render("text", { text: "one\n\ntwo" }), "one\n\ntwo");
  assertEquals(
    render("list", { ordered: true, items: ["a", { text: "b", items: ["c"] }] }),
    "1. a\n2. b\n   - c",
  );
  assertEquals(render("code", { language: "ts", code: "let a;" }), "let a;");
  assertEquals(render("chart", { title: "T", data_summary: "D" }), "[图表: T] D");
  assertEquals(render("image", { alt: "cat", url: "https://h/a.png" }), "[图片: cat]");
  assertEquals(render("image", { url: "https://h/a.png" }), "[图片: https://h/a.png]");
  assertEquals(render("link", { text: "Deno", url: "https://deno.com" }), "Deno (https://deno.com)");
  assertEquals(render("formula", { expression: "E = mc^2" }), "E = mc^2");
  assertEquals(render("video", {}), "[video: S]");
});

// proves: dpe-query-format
Deno.test("Plain text parts the cells of a table by tabs and its rows by lines", () => {
  const content = { headers: ["季度", "收入"], rows: [["Q1", "1\t250\nin all"], ["Q2"]] };
  assertEquals(render("table", content), "季度\t收入\nQ1\t1 250 in all\nQ2");
});

// proves: dpe-query-format
Deno.test("renderPageText() renders the elements in order, one blank line between them", () => {
  const elements = [
    { element_id: "h", category: "heading", content: { level: 2, text: "Sales" } },
    { element_id: "t", category: "text", content: { text: "They rose." } },
  ];
  assertEquals(renderPageText({ elements }), "Sales\n\nThey rose.");
});

// proves: dpe-query-format
Deno.test("renderPageText() never throws, whatever the page holds", () => {
  const element = fc.record({ category: fc.constantFrom(...ELEMENT_CATEGORIES), content: fc.anything() });
  fc.assert(fc.property(fc.array(fc.oneof(element, fc.anything())), (elements) => {
    assertEquals(typeof renderPageText({ elements: elements as DPEElementDetail[] }), "string");
  }));
});
