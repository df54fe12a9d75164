/** Elements and pages as Markdown (`docs/protocol/finder.md#markdown-rendering`). */
import type { DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import type { CodeContent, ImageContent, TableContent } from "../protocol/dpe_content.ts";
import { readContent, type TypedContent } from "./content.ts";
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

// Texts of documents inside Markdown syntax, so that they end where the syntax ends (CommonMark 0.31, GFM).

/**
 * The label of a link or an image, or what stands in brackets of ours. Brackets would end it; code, HTML and
 * autolinks bind more tightly than it, so a backtick or `<` could swallow its end.
 */
export function escapeLabel(text: string): string {
  return toOneLine(text).replace(/[[\]\\`<]/g, "\\$&");
}

/**
 * The target of a link or an image. One with spaces or parentheses, or an empty one, stands in angle brackets.
 * Backslashes, backticks, angle brackets and what reads as an entity are escaped, so that the target stays what it is.
 */
export function escapeTarget(url: string): string {
  const target = toOneLine(url).replace(/[\\`<>]|&(?=#?\w+;)/g, "\\$&");
  // deno-lint-ignore no-control-regex -- a bare target may hold no control characters
  return target === "" || /[\s()\u0000-\u001f\u007f]/.test(target) ? `<${target}>` : target;
}

/** A pipe would end the cell, unless an odd number of backslashes is before it; a line break would end the row. */
export function escapeCell(text: string): string {
  return text
    .replace(/\\+|\|/g, (match, at: number, whole: string) => {
      if (match === "|") return "\\|";
      return whole[at + match.length] === "|" ? match + match : match;
    })
    .replace(/\r\n?|[\n\u2028\u2029]/g, "<br>");
}

/** Number signs at the end of a heading would be taken for its closing mark. */
export function escapeHeading(text: string): string {
  return toOneLine(text).replace(/(?<=^|\s)#+$/, "\\$&");
}

/** What begins like a list, a heading, a quote or a rule would be one inside the item of a list. */
export function escapeItem(text: string): string {
  return text
    .replace(/^(\s*)([-+*>]|#{1,6})(?=\s|$)/, "$1\\$2")
    .replace(/^(\s*)(?=([-*_])(?:[ \t]*\2){2,}[ \t]*(?:\n|$))/, "$1\\")
    .replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, "$1\\$2");
}

/** A fence longer than any run of backticks inside. */
export function fenceOf(code: string): string {
  const runs = code.match(/`+/g) ?? [];
  return "`".repeat(runs.reduce((longest, run) => Math.max(longest, run.length + 1), 3));
}
