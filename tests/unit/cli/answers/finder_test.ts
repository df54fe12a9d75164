import { assert, assertEquals } from "@std/assert";
import { drawFinder, type FinderScreen } from "../../../../src/cli/answers/finder.ts";
import type { DocumentBranch } from "../../../../src/cli/answers/document_tree.ts";
import { displayWidth } from "../../../../src/terminal/display_width.ts";
import { PLAIN } from "../../../../src/terminal/screen.ts";
import type { DPEDocumentSummary } from "../../../../src/protocol/dpe.ts";

const screen: FinderScreen = { columns: 70, palette: PLAIN, offset: 0, totalCount: 8 };

const report: DPEDocumentSummary = {
  doc_ref: "rpt-2026",
  uri: "dpe://com.example.docs/rpt-2026",
  file_uri: "file:///data/reports/2026-annual.xlsx",
  file_type: "xlsx",
  title: "2026 年度报告",
  page_count: 12,
  keywords: ["财务", "年报"],
  summary: "2026 年度财务与运营报告",
  server: "docs",
  last_modified: "2026-01-15T08:30:00Z",
};
const contract: DPEDocumentSummary = {
  doc_ref: "a1",
  uri: "dpe://com.example.docs/contract-a1",
  file_uri: "file:///a1.pdf",
  file_type: "pdf",
  title: "The contract of the first project, with all of its many annexes",
  page_count: 1,
  server: "docs",
  last_modified: "2026-02-01",
};
const slides = {
  ...contract,
  title: "🎉 Launch",
  file_type: "pptx",
  server: "slides",
  last_modified: "soon",
};

function page(page_index: number, title: string, element_count: number) {
  return { page_index, title, element_count, uri: `${report.uri}/pages/${page_index}` };
}

// proves: data-dpe-document
Deno.test("drawFinder() draws documents below their MCP server, in columns with wide characters counted right", () => {
  const branches = [report, contract, slides].map((document) => ({ document }));
  assertEquals(
    `\n${drawFinder(branches, screen)}\n`,
    `
docs
├─ 2026 年度报告                     xlsx  12 pages  2026-01-15 08:30Z
│    2026 年度财务与运营报告
│    财务, 年报
│    dpe://com.example.docs/rpt-2026
└─ The contract of the first proje…  pdf     1 page  2026-02-01
     dpe://com.example.docs/contract-a1
slides
└─ 🎉 Launch                         pptx    1 page  soon
     dpe://com.example.docs/contract-a1
1–3 of 8
`,
  );
});

// proves: data-dpe-page, data-dpe-element
Deno.test("drawFinder() draws Document, Page and Element as a tree", () => {
  const elements = [
    { element_id: "h-001", category: "heading", summary: "2026 年度总结", content: {} },
    { element_id: "tbl-001", category: "table", summary: "季度收入对比表(4行3列)", content: {} },
    { element_id: "e", category: "separator", content: {} },
  ];
  const branches: DocumentBranch[] = [
    {
      document: report,
      pages: [
        { page: page(0, "概览", 3), elements },
        { page: page(10, "收入分析", 15), failure: "Page out of range" },
      ],
    },
    { document: contract, failure: "Document not found" },
  ];
  assertEquals(
    `\n${drawFinder(branches, { ...screen, offset: 4 })}\n`,
    `
docs
├─ 2026 年度报告                     xlsx  12 pages  2026-01-15 08:30Z
│  │ 2026 年度财务与运营报告
│  │ 财务, 年报
│  │ dpe://com.example.docs/rpt-2026
│  │ 2 of 12 pages:
│  ├─  0  概览       3 elements
│  │  ├─ heading    h-001    2026 年度总结
│  │  ├─ table      tbl-001  季度收入对比表(4行3列)
│  │  └─ separator  e
│  └─ 10  收入分析  15 elements
│       cannot be read: Page out of range
└─ The contract of the first proje…  pdf     1 page  2026-02-01
     dpe://com.example.docs/contract-a1
     cannot be read: Document not found
5–6 of 8
`,
  );
});

Deno.test("drawFinder() says that no document is left after the offset", () => {
  assertEquals(drawFinder([], { ...screen, totalCount: 3 }), "none of 3 documents");
});

Deno.test("drawFinder() fits the terminal, and lets no document command it or begin a line", () => {
  const hostile = "\u001b[31mx\u0007\n└─ forged 年度报告\u009b2J".repeat(20);
  const document = {
    ...report,
    title: hostile,
    file_type: hostile,
    summary: hostile,
    keywords: [hostile],
    uri: `dpe://x/${"y".repeat(200)}`,
    server: hostile,
    last_modified: hostile,
  };
  const elements = [{ element_id: hostile, category: hostile, summary: hostile, content: {} }];
  const pages = [{ page: page(0, hostile, 1), elements, failure: hostile }];
  for (const columns of [30, 80]) {
    const lines = drawFinder([{ document, pages, failure: hostile }], { ...screen, columns }).split("\n");
    for (const line of lines) {
      assert(displayWidth(line) <= columns, line);
      // deno-lint-ignore no-control-regex -- control characters are what is looked for
      assert(!/[\u0000-\u001f\u007f-\u009f]/.test(line), line);
    }
  }
});
