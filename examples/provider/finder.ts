/**
 * The specification's example of documents (`docs/protocol/finder.md#mcp-servers-with-documents`), with this kit.
 * An MCP server on stdio. With `--check` it is also its own client, checks the answers and exits:
 *
 * ```sh
 * deno run -A examples/provider/finder.ts --check
 * ```
 */
// @ts-types="@modelcontextprotocol/sdk/server/mcp"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { assertEquals } from "@std/assert";
import { type DocumentInfo, type DocumentPage, provide } from "../../src/provider/mod.ts";
import { CheckingClient, serveStdio } from "./_check.ts";

/** A document of the example: its metadata and its pages. */
interface Report {
  readonly info: DocumentInfo;
  readonly pages: readonly DocumentPage[];
}

const reports = new Map<string, Report>([
  ["rpt-2026", {
    info: {
      docRef: "rpt-2026",
      title: "2026 年度报告",
      fileType: "xlsx",
      fileUri: "file:///data/reports/2026-annual.xlsx",
      keywords: ["财务", "年报"],
      summary: "2026 年度财务与运营报告",
      lastModified: "2026-01-15T08:30:00Z",
    },
    pages: [{
      title: "概览",
      elements: [
        {
          elementId: "h-001",
          category: "heading",
          summary: "2026 年度总结",
          content: { level: 1, text: "2026 年度总结" },
        },
        {
          elementId: "tbl-001",
          category: "table",
          summary: "季度收入对比表(2行2列)",
          content: { headers: ["季度", "收入(万元)"], rows: [["Q1", "1,250"], ["Q2", "1,380"]] },
          metadata: { source_range: "A1:B3", has_formulas: true },
        },
      ],
    }, { title: "收入分析", elements: [] }],
  }],
  ["contract-a1", {
    info: { docRef: "contract-a1", title: "A1 合同", fileType: "pdf", summary: "A1 项目服务合同" },
    pages: [{ title: "条款", elements: [{ category: "text", content: { text: "甲方与乙方约定如下。" } }] }],
  }],
]);

const server = new McpServer({ name: "docs", version: "1.0.0" });
const documents = provide(server).publishDocuments({
  host: "com.example.docs",
  list: () => [...reports.values()].map(({ info }) => info),
  pages: (docRef) => reports.get(docRef)?.pages,
});

async function check(): Promise<void> {
  await using checking = await CheckingClient.beside(server);
  await checkLists(checking);
  await checkLevels(checking);
  await checkChanges(checking);
  console.log(
    "Two documents were listed, walked through, completed and changed: all as the specification requires.",
  );
}

async function checkLists(checking: CheckingClient): Promise<void> {
  const { resources } = await checking.client.listResources();
  assertEquals(resources.map(({ uri, name }) => [uri, name]), [
    ["dpe://com.example.docs/rpt-2026", "2026 年度报告"],
    ["dpe://com.example.docs/contract-a1", "A1 合同"],
  ]);
  const [pages, elements] = (await checking.client.listResourceTemplates()).resourceTemplates;
  assertEquals(pages?.uriTemplate, "dpe://com.example.docs/{doc_ref}/pages/{page_index}");
  assertEquals(elements?.uriTemplate, "dpe://com.example.docs/{doc_ref}/elements/{element_id}");

  const page = pages?.uriTemplate ?? "";
  const element = elements?.uriTemplate ?? "";
  const chosen = { doc_ref: "rpt-2026" };
  assertEquals(await checking.complete(page, { name: "doc_ref", value: "rpt" }), ["rpt-2026"]);
  assertEquals(await checking.complete(page, { name: "page_index", value: "", chosen }), ["0", "1"]);
  assertEquals(await checking.complete(element, { name: "element_id", value: "tbl", chosen }), ["tbl-001"]);
}

async function checkLevels(checking: CheckingClient): Promise<void> {
  assertEquals((await checking.json(documents.uri()))["total_count"], 2);
  const report = documents.uri("rpt-2026");
  assertEquals((await checking.json(report))["page_count"], 2);
  const index = await checking.json(`${report}?depth=pages&limit=1`);
  assertEquals([index["page_limit"], index["page_total"]], [1, 2]);
  const page = await checking.json(`${report}/pages/0?categories=table&format=markdown`);
  assertEquals(
    page["content_markdown"],
    "| 季度 | 收入(万元) |\n| --- | --- |\n| Q1 | 1,250 |\n| Q2 | 1,380 |",
  );
  const table = await checking.json(`${report}/elements/tbl-001`);
  assertEquals(table["metadata"], { source_range: "A1:B3", has_formulas: true });
}

async function checkChanges(checking: CheckingClient): Promise<void> {
  const report = documents.uri("rpt-2026");
  await checking.client.subscribeResource({ uri: report });
  const updated = checking.next("notifications/resources/updated");
  documents.changed("rpt-2026");
  assertEquals(await updated, { uri: report });

  const listChanged = checking.next("notifications/resources/list_changed");
  reports.delete("contract-a1");
  documents.listChanged();
  await listChanged;
  assertEquals((await checking.client.listResources()).resources.length, 1);
}

if (import.meta.main) await (Deno.args.includes("--check") ? check() : serveStdio(server));
