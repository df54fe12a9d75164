/** Documents for tests: the ones that the specification shows, shortened. */
import type { DocumentInfo, DocumentPage, DocumentSource } from "../../../src/provider/mod.ts";

export const HOST = "com.example.docs";
export const REPORT = `dpe://${HOST}/rpt-2026`;

export const REPORT_INFO: DocumentInfo = {
  docRef: "rpt-2026",
  title: "2026 年度报告",
  fileType: "xlsx",
  fileUri: "file:///data/reports/2026-annual.xlsx",
  keywords: ["财务", "年报"],
  summary: "2026 年度财务与运营报告",
  lastModified: "2026-01-15T08:30:00Z",
};

export const CONTRACT_INFO: DocumentInfo = { docRef: "contracts/a 1.pdf" };

export const REPORT_PAGES: readonly DocumentPage[] = [
  {
    title: "概览",
    elements: [
      {
        elementId: "h-001",
        category: "heading",
        summary: "2026 年度总结",
        content: { level: 1, text: "2026 年度总结" },
      },
      { category: "text", content: { text: "本报告总结了运营情况" } },
      {
        elementId: "tbl-001",
        category: "table",
        summary: "季度收入对比表",
        content: { headers: ["季度", "收入"], rows: [["Q1", "1,250"]] },
        metadata: { source_range: "A1:B2" },
      },
    ],
  },
  {
    title: "收入分析",
    elements: [{ elementId: "tbl-002", category: "table", content: { headers: ["a"], rows: [] } }],
  },
  { title: "附录", elements: [] },
];

/** Two documents, the simple way. */
export const SIMPLE: DocumentSource = {
  host: HOST,
  list: () => [REPORT_INFO, CONTRACT_INFO],
  pages: (docRef) => docRef === "rpt-2026" ? REPORT_PAGES : docRef === CONTRACT_INFO.docRef ? [] : undefined,
};

/** The same documents, asked for piece by piece; `calls` tells which pieces. */
export function lazySource(calls: string[] = []): DocumentSource {
  const infos = [{ ...REPORT_INFO, pageCount: 3 }, { ...CONTRACT_INFO, pageCount: 0 }];
  return {
    host: HOST,
    list: () => Promise.resolve(infos),
    document: (docRef) => {
      calls.push(`document ${docRef}`);
      return Promise.resolve(infos.find((info) => info.docRef === docRef));
    },
    page: (docRef, pageIndex) => {
      calls.push(`page ${docRef} ${pageIndex}`);
      return Promise.resolve(REPORT_PAGES[pageIndex]);
    },
  };
}
