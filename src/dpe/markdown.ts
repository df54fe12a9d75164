/** Elements and pages as Markdown (`finder.md`, Markdown 渲染规则). */
import type { DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import { type ElementContent, readContent } from "./content.ts";
import { renderList } from "./list.ts";
import { toOneLine } from "./plain_text.ts";

/**
 * Renders an element as Markdown: what `content_markdown` holds at Level 3. Content that is not what its category
 * promises is rendered as `[{category}: {summary}]`; nothing is ever thrown.
 *
 * Specification: `finder.md`, Markdown 渲染规则.
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
  return renderContent(readContent(element));
}

/**
 * Renders a page as Markdown: its elements, one blank line between them. What `content_markdown` holds at Level 2.
 *
 * Specification: `finder.md`, Markdown 渲染规则.
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
  return Array.isArray(page.elements) ? page.elements.map(renderElementMarkdown).join("\n\n") : "";
}

function renderContent(content: ElementContent): string {
  switch (content.kind) {
    case "heading":
      return `${"#".repeat(clampLevel(content.level))} ${toOneLine(content.text)}`;
    case "text":
      return content.text;
    case "table":
      return renderTable(content.headers, content.rows);
    case "list":
      return renderList(content.list);
    case "code":
      return renderCode(content.language, content.code);
    case "chart":
      return `[图表: ${content.title}] ${content.dataSummary}`;
    case "image":
      return content.url === undefined
        ? `[图片: ${content.description}]`
        : `![${escapeLabel(content.description)}](${escapeTarget(content.url)})`;
    case "link":
      return `[${escapeLabel(content.text)}](${escapeTarget(content.url)})`;
    case "formula":
      return `$ ${content.expression} $`;
    case "summary":
      return `[${content.category}${content.summary === "" ? "" : `: ${content.summary}`}]`;
  }
}

function clampLevel(level: number): number {
  return Math.min(6, Math.max(1, Math.round(level) || 1));
}

/** The header row is as wide as the widest row; shorter rows are not filled up, as Markdown allows. */
function renderTable(headers: readonly string[], rows: readonly (readonly string[])[]): string {
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), headers.length);
  const header = [...headers, ...Array<string>(width - headers.length).fill("")];
  const rule = Array<string>(width).fill("---");
  return [header, rule, ...rows].map(renderRow).join("\n");
}

function renderRow(cells: readonly string[]): string {
  return `| ${cells.map(escapeCell).join(" | ")} |`;
}

/** A pipe would end the cell, unless an odd number of backslashes is before it; a line break would end the row. */
function escapeCell(text: string): string {
  return text
    .replace(/\\+|\|/g, (match, at: number, whole: string) => {
      if (match === "|") return "\\|";
      return whole[at + match.length] === "|" ? match + match : match;
    })
    .replace(/\r\n?|\n/g, "<br>");
}

/** The fence is longer than any run of backticks inside. */
function renderCode(language: string, code: string): string {
  const runs = code.match(/`+/g) ?? [];
  const fence = "`".repeat(runs.reduce((longest, run) => Math.max(longest, run.length + 1), 3));
  const info = /^[^\s`]+$/.test(language) ? language : "";
  return `${fence}${info}\n${code}${code.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** Brackets would end the label, unless a backslash is before them. */
function escapeLabel(text: string): string {
  return toOneLine(text).replace(/[[\]\\]/g, "\\$&");
}

/** A target with spaces or parentheses stands in angle brackets. */
function escapeTarget(url: string): string {
  const target = toOneLine(url);
  return /[\s()<>]/.test(target) ? `<${target.replace(/[<>\\]/g, encodeURIComponent)}>` : target;
}
