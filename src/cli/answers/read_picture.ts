/** Draws what a read returned: windows as boxes, documents as trees, pages and elements as formatted text. Pure. */
import { toSafeLine, withoutSequences } from "../../text/safe_text.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { ReadResourceRet } from "../../protocol/resources.ts";
import { type DpeUri, isValidDpeUri, parseDpeUri } from "../../uri/dpe_uri.ts";
import { hasWindowScheme } from "../../uri/window_uri.ts";
import { readDocument, readElement, readPage } from "../../agent/documents.ts";
import { drawDocument } from "./finder.ts";
import { drawDesktop } from "./desktop.ts";
import { drawGrid } from "../../terminal/shapes.ts";
import { linesOf, wrapToWidth } from "../../terminal/display_width.ts";
import { toElement } from "../../dpe/content.ts";
import { renderElementText } from "../../dpe/text.ts";
import type { DPEElementDetail, DPEPage } from "../../protocol/dpe.ts";
import type { TableCell, TableContent } from "../../protocol/dpe_content.ts";

export function drawRead(uri: string, result: ReadResourceRet, screen: Screen): string | undefined {
  if (hasWindowScheme(uri)) return drawWindow(uri, result, screen);
  if (!isValidDpeUri(uri)) return undefined;
  const parsed = parseDpeUri(uri);
  try {
    if (parsed.level === 0) return undefined;
    const answer = { uri, result };
    return parsed.level === 1 ? drawIndex(parsed, answer, screen) : drawContent(parsed, answer, screen);
  } catch {
    // Not a valid document, page or element: the caller shows the text.
    return undefined;
  }
}

function drawWindow(uri: string, { contents }: ReadResourceRet, screen: Screen): string | undefined {
  const texts = contents.map(({ text }) => text).filter((text) => text !== undefined);
  if (texts.length === 0) return undefined;
  return drawDesktop([`${uri}\n\n${texts.join("\n\n")}`], { ...screen, maxLines: Infinity });
}

function drawIndex(
  { host }: DpeUri,
  answer: { readonly uri: string; readonly result: ReadResourceRet },
  screen: Screen,
): string {
  const { pages, ...document } = readDocument(answer);
  const index = pages?.map((page) => ({ page }));
  return drawDocument({ document: { ...document, server: host }, pages: index }, screen);
}

function drawContent(
  { level }: DpeUri,
  answer: { readonly uri: string; readonly result: ReadResourceRet },
  screen: Screen,
): string {
  const content = level === 2 ? readPage(answer) : readElement(answer);
  // The URI asked for Markdown or text.
  const rendered = content.content_markdown ?? content.content_text;
  if (rendered !== undefined) return withoutSequences(rendered);
  return "elements" in content ? drawPage(content, screen) : drawElement(content, screen);
}

const MAX_TABLE_ROWS = 100;
/** The widest column of text: longer lines are hard to read. */
const MAX_TEXT_WIDTH = 100;

export function drawPage(page: Pick<DPEPage, "page_index" | "title" | "elements">, screen: Screen): string {
  const { palette } = screen;
  const title = palette.faint(toSafeLine(`page ${page.page_index}  ${page.title}`));
  return [title, ...page.elements.map((element) => drawElement(element, screen))].join("\n\n");
}

/** Draws an element: a table as a grid, anything else as text. */
export function drawElement(element: DPEElementDetail, screen: Screen): string {
  const { columns, palette } = screen;
  const typed = toElement(element);
  if (typed?.category === "table" || typed?.category === "pivot_table") {
    return drawTable(typed.content, screen).join("\n");
  }
  const width = Math.min(columns, MAX_TEXT_WIDTH);
  if (typed?.category === "code") {
    return wrapText(typed.content.code, width - 2).map((line) => `${palette.faint("│")} ${line}`).join("\n");
  }
  const lines = wrapText(element.content_text ?? renderElementText(element), width);
  if (typed?.category === "heading") return lines.map(palette.strong).join("\n");
  return (typed?.category === "text" || typed?.category === "list" ? lines : lines.map(palette.accent)).join(
    "\n",
  );
}

function drawTable({ headers, rows }: TableContent, { columns, palette }: Screen): string[] {
  const cells = rows.slice(0, MAX_TABLE_ROWS).map((row) => row.map(cellText));
  const lines = drawGrid({ headers: headers.map(toSafeLine), rows: cells }, { width: columns, palette });
  const more = rows.length - cells.length;
  return more > 0 ? [...lines, palette.faint(`… ${more} more rows`)] : lines;
}

function cellText(cell: TableCell): string {
  return cell === null ? "" : toSafeLine(`${cell}`);
}

function wrapText(text: string, width: number): string[] {
  return [...linesOf(withoutSequences(text).trimEnd())].flatMap((line) => wrapToWidth(line, width));
}
