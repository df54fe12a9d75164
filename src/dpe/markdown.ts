/** Elements and pages as Markdown (`docs/protocol/finder.md#markdown-rendering`). */
import type { DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import type { CodeContent, ImageContent, TableContent } from "../protocol/dpe_content.ts";
import { readContent, type TypedContent } from "./content.ts";
import { escapeCell, escapeHeading, escapeItem, escapeLabel, escapeTarget, fenceOf } from "./escape.ts";
import { renderList } from "./list.ts";
import { summaryOf, toOneLine, toPlainText } from "./plain_text.ts";

/**
 * Renders an element as Markdown: what `content_markdown` holds at Level 3. Content that is not what its category
 * promises is rendered as `[{category}: {summary}]`, as are the categories that the rules do not name; nothing is
 * ever thrown.
 *
 * Specification: `docs/protocol/finder.md#markdown-rendering`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { renderElementMarkdown } from "@a2c-smcp/sdk";
 *
 * const table = {
 *   element_id: "tbl-001",
 *   category: "table",
 *   content: { headers: ["Quarter", "Sales"], rows: [["Q1", "1,250"]] },
 * };
 * assertEquals(renderElementMarkdown(table), "| Quarter | Sales |\n| --- | --- |\n| Q1 | 1,250 |");
 * ```
 */
export function renderElementMarkdown(element: DPEElementDetail): string {
  return renderContent(element, readContent(element));
}

/**
 * Renders a page as Markdown: its elements, one blank line between them. Between two lists of one kind stands an
 * empty comment, since Markdown would join them. What `content_markdown` holds at Level 2.
 *
 * Specification: `docs/protocol/finder.md#markdown-rendering`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { renderPageMarkdown } from "@a2c-smcp/sdk";
 *
 * const elements = [
 *   { element_id: "h-001", category: "heading", content: { level: 2, text: "Sales" } },
 *   { element_id: "txt-001", category: "text", content: { text: "They rose." } },
 * ];
 * assertEquals(renderPageMarkdown({ elements }), "## Sales\n\nThey rose.");
 * ```
 */
export function renderPageMarkdown(page: Pick<DPEPage, "elements">): string {
  if (!Array.isArray(page.elements)) return "";
  const blocks: string[] = [];
  let before: TypedContent | undefined;
  for (const element of page.elements) {
    const content = readContent(element);
    const rendered = renderContent(element, content);
    if (rendered === "") continue;
    if (wouldJoin(before, content)) blocks.push("<!-- -->");
    blocks.push(rendered);
    before = content;
  }
  return blocks.join("\n\n");
}

function wouldJoin(before: TypedContent | undefined, after: TypedContent | undefined): boolean {
  if (before?.category !== "list" || after?.category !== "list") return false;
  return (before.content.ordered ?? false) === (after.content.ordered ?? false);
}

function renderContent(element: unknown, typed: TypedContent | undefined): string {
  switch (typed?.category) {
    case "heading":
      return `${"#".repeat(typed.content.level)} ${escapeHeading(typed.content.text)}`.trimEnd();
    case "text":
      return typed.content.text;
    case "table":
      return renderTable(typed.content);
    case "list":
      return renderList(typed.content, escapeItem);
    case "code":
      return renderCode(typed.content);
    case "chart":
      return `[图表: ${escapeLabel(typed.content.title)}] ${typed.content.data_summary}`.trimEnd();
    case "image":
      return renderImage(typed.content);
    case "link":
      return `[${escapeLabel(typed.content.text)}](${escapeTarget(typed.content.url)})`;
    case "formula":
      return `$ ${toOneLine(typed.content.expression)} $`;
    default:
      return renderSummary(element);
  }
}

function renderSummary(element: unknown): string {
  const { category, summary } = summaryOf(element);
  return summary === ""
    ? `[${escapeLabel(category)}]`
    : `[${escapeLabel(category)}: ${escapeLabel(summary)}]`;
}

/** The header row is as wide as the widest row; shorter rows are not filled up, as Markdown allows. */
function renderTable({ headers, rows }: TableContent): string {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), headers.length);
  const header = [...headers, ...Array<string>(width - headers.length).fill("")];
  const rule = Array<string>(width).fill("---");
  return [header, rule, ...rows].map(renderRow).join("\n");
}

function renderRow(cells: readonly unknown[]): string {
  return `| ${cells.map((cell) => escapeCell(toPlainText(cell))).join(" | ")} |`;
}

function renderCode({ language = "", code }: CodeContent): string {
  const fence = fenceOf(code);
  const info = /^[^\s`]+$/.test(language) ? language : "";
  return `${fence}${info}\n${code}${code === "" || code.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** An image that is its own URL says nothing to a reader, and may be megabytes. */
function renderImage({ url = "", description = "" }: ImageContent): string {
  if (url === "" || /^\s*data:/i.test(url)) return `[图片: ${escapeLabel(description)}]`;
  return `![${escapeLabel(description)}](${escapeTarget(url)})`;
}
