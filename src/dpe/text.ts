/** Renders elements and pages as plain text, for `format=text`. */
import type { DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import type { ImageContent } from "../protocol/dpe_content.ts";
import { readContent } from "./content.ts";
import { renderList } from "./list.ts";
import { formulaText, summaryOf, toOneLine, toPlainText } from "./plain_text.ts";

/**
 * Renders an element as plain text, for `content_text` at Level 3: the same as Markdown, without its syntax. Table cells
 * are separated by tabs, and the URL of a link follows in parentheses. Never throws.
 *
 * Specification: `docs/protocol/finder.md#text-rendering`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { renderElementText } from "@a2c-smcp/sdk";
 *
 * const link = { element_id: "l-1", category: "link", content: { text: "Deno", url: "https://deno.com" } };
 * assertEquals(renderElementText(link), "Deno (https://deno.com)");
 * ```
 */
export function renderElementText(element: DPEElementDetail): string {
  return renderContent(element);
}

/**
 * Renders a page as plain text, for `content_text` at Level 2: its elements, separated by blank lines.
 *
 * Specification: `docs/protocol/finder.md#text-rendering`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { renderPageText } from "@a2c-smcp/sdk";
 *
 * const elements = [
 *   { element_id: "h-001", category: "heading", content: { level: 2, text: "Sales" } },
 *   { element_id: "txt-001", category: "text", content: { text: "They rose." } },
 * ];
 * assertEquals(renderPageText({ elements }), "Sales\n\nThey rose.");
 * ```
 */
export function renderPageText(page: Pick<DPEPage, "elements">): string {
  if (!Array.isArray(page.elements)) return "";
  return page.elements.map(renderContent).filter((rendered) => rendered !== "").join("\n\n");
}

function renderContent(element: unknown): string {
  const typed = readContent(element);
  switch (typed?.category) {
    case "heading":
      return toOneLine(typed.content.text);
    case "text":
      return typed.content.text;
    case "table":
      return [typed.content.headers, ...typed.content.rows].map(renderRow).join("\n");
    case "list":
      return renderList(typed.content, (text) => text);
    case "code":
      return typed.content.code;
    case "chart":
      return `[图表: ${toOneLine(typed.content.title)}] ${typed.content.data_summary}`.trimEnd();
    case "image":
      return renderImage(typed.content);
    case "link":
      return `${toOneLine(typed.content.text)} (${toOneLine(typed.content.url)})`;
    case "formula":
      return formulaText(typed.content);
    default:
      return renderSummary(element);
  }
}

function renderSummary(element: unknown): string {
  const { category, summary } = summaryOf(element);
  return `[${category}${summary === "" ? "" : `: ${summary}`}]`;
}

/** A `data:` URL is omitted: it is useless in a text. */
function renderImage({ url = "", description = "" }: ImageContent): string {
  const words = description === "" && !/^\s*data:/i.test(url) ? url : description;
  return `[图片: ${toOneLine(words)}]`;
}

function renderRow(cells: readonly unknown[]): string {
  return cells.map((cell) => toOneLine(toPlainText(cell)).replaceAll("\t", " ")).join("\t");
}
