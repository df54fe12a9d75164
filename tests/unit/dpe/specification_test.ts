// The JSON of the specification, as it stands there, through our types, parsers and renderers.

import { assertEquals } from "@std/assert";
import { toElement } from "../../../src/dpe/element.ts";
import { renderElementMarkdown, renderPageMarkdown } from "../../../src/dpe/markdown.ts";
import { renderPageText } from "../../../src/dpe/text.ts";
import type { DPECatalogue, DPEDocument, DPEElementDetail, DPEPage } from "../../../src/protocol/dpe.ts";
import type { DPEElement } from "../../../src/protocol/dpe_content.ts";
import { parseDpeDocument, parseDpeElement, parseDpePage } from "../../../src/protocol/answers.ts";

const document = {
  doc_ref: "rpt-2026",
  uri: "dpe://com.example.docs/rpt-2026",
  file_uri: "file:///data/reports/2026-annual.xlsx",
  file_type: "xlsx",
  title: "2026 年度报告",
  page_count: 12,
  keywords: ["财务", "年报"],
  summary: "2026 年度财务与运营报告",
  last_modified: "2026-01-15T08:30:00Z",
};

const pages = [
  {
    page_index: 0,
    title: "概览",
    element_count: 8,
    uri: "dpe://com.example.docs/rpt-2026/pages/0",
    doc_ref: "rpt-2026",
  },
  {
    page_index: 1,
    title: "收入分析",
    element_count: 15,
    uri: "dpe://com.example.docs/rpt-2026/pages/1",
    doc_ref: "rpt-2026",
  },
];

const rows = [["Q1", "1,250", "+12%"], ["Q2", "1,380", "+15%"], ["Q3", "1,420", "+8%"], [
  "Q4",
  "1,560",
  "+18%",
]];
const headers = ["季度", "收入(万元)", "同比增长"];

const page: DPEPage = {
  page_index: 0,
  title: "概览",
  doc_ref: "rpt-2026",
  uri: "dpe://com.example.docs/rpt-2026/pages/0",
  elements: [
    {
      element_id: "h-001",
      category: "heading",
      summary: "2026 年度总结",
      content: { level: 1, text: "2026 年度总结" },
    },
    {
      element_id: "txt-001",
      category: "text",
      summary: "报告引言段落",
      content: { text: "本报告总结了 2026 年度公司在各业务领域的运营情况..." },
    },
    {
      element_id: "tbl-001",
      category: "table",
      summary: "季度收入对比表(4行3列)",
      content: { headers, rows },
    },
    {
      element_id: "chart-001",
      category: "chart",
      summary: "季度收入趋势图",
      content: {
        chart_type: "line",
        title: "季度收入趋势",
        data_summary: "Q1-Q4 收入呈上升趋势,Q4 达到最高点 1,560 万元",
      },
    },
  ],
  element_count: 4,
};

const detail: DPEElementDetail = {
  element_id: "tbl-001",
  category: "table",
  doc_ref: "rpt-2026",
  page_index: 0,
  uri: "dpe://com.example.docs/rpt-2026/elements/tbl-001",
  summary: "季度收入对比表(4行3列)",
  content: { headers, rows, total_rows: 4, total_columns: 3 },
  metadata: { source_range: "A1:C5", has_formulas: true },
};

// proves: dpe-content-level-0
Deno.test("The catalogue of the specification has our type", () => {
  const catalogue: DPECatalogue = { documents: [document], total_count: 1 };
  assertEquals(parseDpeDocument(catalogue.documents[0]), document);
});

// proves: dpe-content-metadata, dpe-content-pages
Deno.test("The document of the specification is read as it stands, with and without its page index", () => {
  const withPages: DPEDocument = { ...document, pages, page_offset: 0, page_limit: 20, page_total: 12 };
  assertEquals(parseDpeDocument(document), document);
  assertEquals(parseDpeDocument(withPages), withPages);
});

// proves: dpe-content-level-2
Deno.test("The page of the specification is read as it stands, and all of its elements are typed", () => {
  assertEquals(parseDpePage(page), page);
  assertEquals<unknown>(page.elements.map(toElement), page.elements);
});

// proves: dpe-markdown-heading, dpe-markdown-text, dpe-markdown-table, dpe-markdown-chart
Deno.test("The page of the specification is rendered by its rules", () => {
  assertEquals(
    renderPageMarkdown(page),
    `# 2026 年度总结

本报告总结了 2026 年度公司在各业务领域的运营情况...

| 季度 | 收入(万元) | 同比增长 |
| --- | --- | --- |
| Q1 | 1,250 | +12% |
| Q2 | 1,380 | +15% |
| Q3 | 1,420 | +8% |
| Q4 | 1,560 | +18% |

[图表: 季度收入趋势] Q1-Q4 收入呈上升趋势,Q4 达到最高点 1,560 万元`,
  );
  assertEquals(renderPageText(page).split("\n")[4], "季度\t收入(万元)\t同比增长");
});

// proves: dpe-content-level-3
Deno.test("The element of the specification is read as it stands, its metadata included", () => {
  assertEquals(parseDpeElement(detail), detail);
  assertEquals(toElement(detail), detail as DPEElement);
  assertEquals(renderElementMarkdown(detail).split("\n").length, 6);
});
