/** Elements and pages as Markdown (`docs/protocol/finder.md#markdown-rendering`). */
import type { DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import type { CodeContent, ImageContent, TableContent } from "../protocol/dpe_content.ts";
import { fenceOf } from "../text/safe_text.ts";
import { readContent, type TypedContent } from "./content.ts";
import { renderList } from "./list.ts";
import { formulaText, summaryOf, toOneLine, toPlainText } from "./plain_text.ts";

/**
 * Renders an element as Markdown, for `content_markdown` at Level 3. Invalid content, and categories without a rendering
 * rule, are rendered as `[{category}: {summary}]`. Never throws.
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
 * Renders a page as Markdown, for `content_markdown` at Level 2: its elements, separated by blank lines. Two adjacent
 * lists of the same kind are separated by an empty comment, because Markdown would join them.
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
      return `$ ${toOneLine(formulaText(typed.content))} $`;
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

/** The header row gets as many cells as the longest row. Shorter rows need no padding in Markdown. */
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

/** A `data:` URL is omitted: it is useless in a text, and may have megabytes. */
function renderImage({ url = "", description = "" }: ImageContent): string {
  if (url === "" || /^\s*data:/i.test(url)) return `[图片: ${escapeLabel(description)}]`;
  return `![${escapeLabel(description)}](${escapeTarget(url)})`;
}

// Escapes texts of documents inside Markdown syntax (CommonMark 0.31, GFM).

/**
 * Escapes the label of a link or an image, or a text in brackets. A bracket would end the label. Code, HTML and
 * autolinks take precedence over it, so a backtick or `<` could hide its end.
 * A parenthesis after a bracket is escaped because marked takes it for the start of the target.
 */
export function escapeLabel(text: string): string {
  return toOneLine(text).replace(/[[\]\\`<]|(?<=\])\(/g, "\\$&");
}

/**
 * Escapes the target of a link or an image. An empty target, or one with spaces or parentheses, gets angle brackets.
 * Backslashes, backticks, angle brackets and entities are escaped, so that the target stays the same.
 */
export function escapeTarget(url: string): string {
  const target = toOneLine(url).replace(/[\\`<>]|&(?=#?\w+;)/g, "\\$&");
  // deno-lint-ignore no-control-regex -- a bare target may hold no control characters
  return target === "" || /[\s()\u0000-\u001f\u007f]/.test(target) ? `<${target}>` : target;
}

/**
 * Escapes a table cell. A pipe would end the cell, unless an odd number of backslashes is before it; a line break would
 * end the row.
 */
export function escapeCell(text: string): string {
  return text
    .replace(/\\+|\|/g, (match, at: number, whole: string) => {
      if (match === "|") return "\\|";
      return whole[at + match.length] === "|" ? match + match : match;
    })
    .replace(/\r\n?|[\n\u2028\u2029]/g, "<br>");
}

/** Escapes a heading: number signs at its end would be its closing sequence. */
export function escapeHeading(text: string): string {
  return toOneLine(text).replace(/(?<=^|\s)#+$/, "\\$&");
}

/** Escapes the text of a list item that begins like a list, a heading, a quote or a rule. */
export function escapeItem(text: string): string {
  return text
    .replace(/^(\s*)([-+*>]|#{1,6})(?=\s|$)/, "$1\\$2")
    .replace(/^(\s*)(?=([-*_])(?:[ \t]*\2){2,}[ \t]*(?:\n|$))/, "$1\\")
    .replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, "$1\\$2");
}
