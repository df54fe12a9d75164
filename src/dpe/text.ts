/** Elements and pages as plain text, for `format=text`. */
import type { DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import { type ElementContent, readContent } from "./content.ts";
import { renderList } from "./list.ts";
import { toOneLine } from "./plain_text.ts";

/**
 * Renders an element as plain text: what `content_text` holds at Level 3. It says what the Markdown says, without
 * its marks: the cells of a table are parted by tabs, a link's URL stands in parentheses. Nothing is ever thrown.
 *
 * Specification: `finder.md`, 查询参数 (`format`).
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
  return renderContent(readContent(element));
}

/**
 * Renders a page as plain text: its elements, one blank line between them. What `content_text` holds at Level 2.
 *
 * Specification: `finder.md`, 查询参数 (`format`).
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
  return Array.isArray(page.elements) ? page.elements.map(renderElementText).join("\n\n") : "";
}

function renderContent(content: ElementContent): string {
  switch (content.kind) {
    case "heading":
      return toOneLine(content.text);
    case "text":
      return content.text;
    case "table":
      return [content.headers, ...content.rows].map(renderRow).join("\n");
    case "list":
      return renderList(content.list);
    case "code":
      return content.code;
    case "chart":
      return `[图表: ${content.title}] ${content.dataSummary}`;
    case "image":
      return `[图片: ${content.description || (content.url ?? "")}]`;
    case "link":
      return `${content.text} (${content.url})`;
    case "formula":
      return content.expression;
    case "summary":
      return `[${content.category}${content.summary === "" ? "" : `: ${content.summary}`}]`;
  }
}

function renderRow(cells: readonly string[]): string {
  return cells.map((cell) => toOneLine(cell).replaceAll("\t", " ")).join("\t");
}
