/** The Finder as a tree: MCP server, document, page, element. Pure: values in, text out. */
import { alignColumns, type Branch, drawTree, TREE_INDENT } from "../../terminal/shapes.ts";
import { cropToWidth, wrapToWidth } from "../../terminal/display_width.ts";
import { toSafeLine, toSeenWord } from "../../text/safe_text.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { DPEElementDetail, DPEHit } from "../../protocol/dpe.ts";
import { toOneLine } from "../../dpe/plain_text.ts";
import { renderElementText } from "../../dpe/text.ts";
import { countOf, shorten } from "../../text/text.ts";
import type { DocumentBranch, PageBranch } from "./document_tree.ts";

const DETAIL_INDENT = TREE_INDENT + 2;
const MAX_OPENING_LENGTH = 200;

/** The position of what is shown in the whole list. */
export interface FinderPlace {
  readonly offset: number;
  /** The number of documents, or of the pages that a search in the text has found. */
  readonly totalCount: number;
  readonly isSearch?: boolean;
  /** What the search did not cover. */
  readonly notice?: string | undefined;
}

export interface FinderScreen extends Screen, FinderPlace {}

/** Draws documents as a tree, grouped by MCP server, with their pages and elements if those were read. */
export function drawFinder(branches: readonly DocumentBranch[], screen: FinderScreen): string {
  const { palette } = screen;
  if (branches.length === 0) return palette.faint(rangeLine(branches, screen));
  const drawn = drawDocuments(branches, screen);
  const lines: string[] = [];
  for (const [server, group] of Map.groupBy(drawn, ({ server }) => server)) {
    lines.push(palette.strong(cropToWidth(toSeenWord(server), screen.columns)));
    lines.push(...drawTree(group.map(({ branch }) => branch), palette));
  }
  return [...lines, palette.faint(rangeLine(branches, screen))].join("\n");
}

/** `1–20 of 312`; of a search, the pages. */
function rangeLine(
  branches: readonly DocumentBranch[],
  { offset, totalCount, isSearch = false, notice }: FinderPlace,
): string {
  const count = branches.reduce((sum, { document: { hits = [undefined] } }) => sum + hits.length, 0);
  const what = isSearch ? "pages" : "documents";
  const range = count === 0
    ? `none of ${totalCount} ${what}`
    : `${isSearch ? "pages " : ""}${offset + 1}–${offset + count} of ${totalCount}`;
  return notice === undefined ? range : `${range}; ${toSafeLine(notice)}`;
}

export function drawDocument(branch: DocumentBranch, screen: Screen): string {
  return drawTree(drawDocuments([branch], screen).map(({ branch }) => branch), screen.palette).join("\n");
}

function drawDocuments(
  branches: readonly DocumentBranch[],
  screen: Screen,
): { readonly server: string; readonly branch: Branch }[] {
  const { columns, palette } = screen;
  const rows = alignColumns(
    branches.map(({ document: { title, file_type, page_count, last_modified } }) => [
      toSafeLine(title),
      cropToWidth(toSafeLine(file_type), 12),
      countOf(page_count, "page"),
      timeOf(last_modified),
    ]),
    {
      width: columns - TREE_INDENT,
      right: [2],
      paint: (cell, column) => column === 0 ? palette.accent(cell) : cell,
    },
  );
  return branches.map((branch, i) => ({
    server: branch.document.server,
    branch: {
      line: rows[i] ?? "",
      details: drawDetails(branch, screen),
      branches: [...drawHits(branch.document.hits ?? [], screen), ...drawPages(branch, screen)],
    },
  }));
}

function drawDetails({ document, pages, failure }: DocumentBranch, { columns, palette }: Screen): string[] {
  const { summary = "", keywords = [], hits, uri, page_count } = document;
  const width = columns - DETAIL_INDENT;
  // The summary of a document without text, such as a workbook, is its keywords.
  const about = hits === undefined ? [summary, keywords.join(", ")] : [];
  const words = [...new Set(about.map(toSafeLine))].filter((text) => text !== "");
  const isCut = pages !== undefined && pages.length < page_count;
  const shown = cropToWidth(`${pages?.length ?? 0} of ${countOf(page_count, "page")}:`, width);
  return [
    ...words.map((text) => cropToWidth(text, width)),
    // A URI is wrapped and not cropped, so that it can be copied.
    ...wrapToWidth(toSafeLine(uri), width).map(palette.faint),
    ...failureLines(failure, { width, palette }),
    ...(isCut ? [palette.faint(shown)] : []),
  ];
}

/** The pages that a search has found, each with the words around. */
function drawHits(hits: readonly DPEHit[], { columns }: Screen): Branch[] {
  const rows = alignColumns(
    hits.map(({ page_index, title = "", element_id = "" }) => [
      `${page_index}`,
      toSafeLine(title),
      toSafeLine(element_id),
    ]),
    { width: columns - 2 * TREE_INDENT, flexible: 1, right: [0] },
  );
  const width = columns - DETAIL_INDENT - TREE_INDENT;
  return hits.map(({ snippet }, i) => ({
    line: rows[i] ?? "",
    details: snippetLines(snippet).flatMap((line) => wrapToWidth(toSafeLine(line), width)),
  }));
}

function drawPages({ pages = [] }: DocumentBranch, screen: Screen): Branch[] {
  const { columns, palette } = screen;
  const rows = alignColumns(
    pages.map(({ page: { page_index, title, element_count } }) => [
      `${page_index}`,
      toSafeLine(title),
      countOf(element_count, "element"),
    ]),
    { width: columns - 2 * TREE_INDENT, flexible: 1, right: [0, 2] },
  );
  return pages.map((page, i) => ({
    line: rows[i] ?? "",
    details: failureLines(page.failure, { width: columns - DETAIL_INDENT - TREE_INDENT, palette }),
    branches: drawElements(page, screen),
  }));
}

function drawElements({ elements = [] }: PageBranch, { columns, palette }: Screen): Branch[] {
  const rows = alignColumns(elements.map(cellsOf), {
    width: columns - 3 * TREE_INDENT,
    flexible: 2,
    paint: (cell, column) => column === 0 ? palette.accent(cell) : column === 1 ? palette.faint(cell) : cell,
  });
  return rows.map((line) => ({ line }));
}

function cellsOf(element: DPEElementDetail): string[] {
  const { category, element_id } = element;
  return [cropToWidth(toSafeLine(category), 16), toSafeLine(element_id), toSafeLine(openingOf(element))];
}

/** The summary of an element, else the beginning of its text; empty when it has none. */
function openingOf(element: DPEElementDetail): string {
  const { summary = "", category } = element;
  const text = summary === "" ? renderElementText(element) : summary;
  return text === `[${category}]` ? "" : shorten(toOneLine(text), MAX_OPENING_LENGTH);
}

function failureLines(
  failure: string | undefined,
  { width, palette }: { readonly width: number } & Pick<Screen, "palette">,
): string[] {
  if (failure === undefined) return [];
  return [palette.alarm(cropToWidth(`cannot be read: ${toSafeLine(failure)}`, width))];
}

/** `2026-01-15 08:30Z`; a date without a time, and any other text, is returned unchanged. */
function timeOf(text: string | undefined): string {
  if (text === undefined) return "";
  const date = new Date(text);
  if (!text.includes(":") || Number.isNaN(date.getTime())) return cropToWidth(toSafeLine(text), 16);
  return `${date.toISOString().slice(0, 16).replace("T", " ")}Z`;
}

/** A page that could not be read in time has none. */
function snippetLines(snippet: string): string[] {
  return snippet.split("\n").filter((line) => line !== "");
}
