/** Pages of formats that have none: a page is a section under a top heading. */
import type { DocumentElement, DocumentPage, OutlineSection } from "@a2c-smcp/sdk/provider";
import type { ElementContents, HeadingContent } from "@a2c-smcp/sdk";
import { shorten } from "../basics.ts";
import { mergedRanges, type PlacedCell } from "./merged_cells.ts";
import type { DocumentFacts, ParsedDocument } from "./format.ts";

/** The most characters of content of a page; a longer section is continued on further pages. */
const MAX_SECTION_LENGTH = 60_000;
/** How much more room the pictures of a page have than its text. */
const PICTURE_SHARE = 100;
/** The most characters of an element of a file that is code as a whole; longer code is continued in further elements. */
const MAX_CODE_LENGTH = 20_000;
/** The most characters of a title. */
export const MAX_TITLE_LENGTH = 200;
/** The most columns of a table. */
export const MAX_COLUMNS = 256;

/**
 * Divides elements into pages. A page begins at each heading of the highest level that more than one heading has; what
 * is before the first one is a page as well. Long sections are continued on further pages.
 *
 * @param elements in reading order
 * @param title the title of a page without a heading
 * @returns at least one page
 */
export function toSections(elements: readonly DocumentElement[], title: string): DocumentPage[] {
  return divide(elements, { title, level: sectionLevel(elements) });
}

/**
 * A document whose pages are all known. Its title is the first heading, and its opening the running text, by default.
 *
 * @param subject what its author says of it, which the opening begins with
 */
export function documentOf(
  pages: readonly DocumentPage[],
  { elements, subject, ...facts }: Partial<DocumentFacts> & {
    /** What the facts are made of. */
    readonly elements: readonly DocumentElement[];
    readonly subject?: string | undefined;
    readonly losses: readonly string[];
  },
): ParsedDocument {
  return {
    facts: {
      title: headingsOf(elements, 1)[0],
      headings: headingsOf(elements),
      outline: outlineOf(pages),
      opening: [...subject === undefined ? [] : [subject], openingOf(elements)].join("\n"),
      ...facts,
      pageCount: pages.length,
      pageTitles: pages.map(({ title }) => title),
    },
    page: (index) => pages[index] ?? { title: "", elements: [] },
  };
}

/** The headings of pages, each with its page. */
function outlineOf(pages: readonly DocumentPage[]): OutlineSection[] {
  return pages.flatMap(({ elements }, page) =>
    elements.flatMap(({ category, content }): OutlineSection[] => {
      if (category !== "heading") return [];
      const { text, level } = content as HeadingContent;
      return [{ title: shorten(text, MAX_TITLE_LENGTH), level, page }];
    })
  );
}

/** Divides elements into pages by their length, and where headings of `level` and above begin. */
export function divide(
  elements: readonly DocumentElement[],
  { title, level }: { readonly title: string; readonly level?: number },
): DocumentPage[] {
  const pages: { title: string; elements: DocumentElement[] }[] = [];
  let length = Infinity;
  let part = 1;
  for (const element of elements.flatMap((element) => [...partsOf(element)])) {
    const startsSection = element.category === "heading" && element.content.level <= (level ?? 0);
    const size = sizeOf(element);
    const page = pages.at(-1);
    if (
      page === undefined || (startsSection && page.elements.some(({ category }) => category !== "heading"))
    ) {
      const heading = level === undefined ? undefined : headingText(element);
      pages.push({ title: heading ?? title, elements: [element] });
      length = size;
      part = 1;
    } else if (length + size > MAX_SECTION_LENGTH && page.elements.length > 0) {
      part++;
      pages.push({ title: `${page.title.replace(/ \(\d+\)$/, "")} (${part})`, elements: [element] });
      length = size;
    } else {
      page.elements.push(element);
      length += size;
    }
  }
  if (pages.length === 0) pages.push({ title, elements: [] });
  return pages;
}

/** The length of what is to read; a picture has as much room as so many characters. */
function sizeOf({ category, content }: DocumentElement): number {
  const length = JSON.stringify(content).length;
  return category === "image" ? Math.ceil(length / PICTURE_SHARE) : length;
}

/** A text, code, table or list that is longer than a page, in parts; a table says with which row each begins. */
function* partsOf(element: DocumentElement): Generator<DocumentElement, void> {
  const { category, content } = element;
  if (category === "text") {
    for (const text of cutAtLines(content.text, MAX_SECTION_LENGTH)) {
      yield { ...element, category, content: { ...content, text } };
    }
  } else if (category === "code") {
    for (const code of cutAtLines(content.code, MAX_SECTION_LENGTH)) {
      yield { ...element, category, content: { ...content, code } };
    }
  } else if (category === "table" && content.rows.length > 1) {
    const first = typeof content["first_row"] === "number" ? content["first_row"] : 1;
    for (const { start, items: rows } of runsOf(content.rows)) {
      const isWhole = rows.length === content.rows.length;
      const place = isWhole ? {} : { first_row: first + start };
      yield {
        ...element,
        category,
        content: { total_rows: content.rows.length, ...content, ...place, rows },
      };
    }
  } else if (category === "list" && content.items.length > 1) {
    for (const { start, items } of runsOf(content.items)) {
      const number = start === 0 || content.ordered !== true ? {} : { start: (content.start ?? 1) + start };
      yield { ...element, category, content: { ...content, ...number, items } };
    }
  } else yield element;
}

/** Divides items into runs, each with as many as a page has room for, and at least one. */
function* runsOf<T>(all: readonly T[]): Generator<{ readonly start: number; readonly items: T[] }, void> {
  let items: T[] = [];
  let [start, length] = [0, 0];
  for (const item of all) {
    const size = JSON.stringify(item).length;
    if (items.length > 0 && length + size > MAX_SECTION_LENGTH) {
      yield { start, items };
      start += items.length;
      [items, length] = [[], 0];
    }
    items.push(item);
    length += size;
  }
  yield { start, items };
}

/** Code of any length, in elements that end with a line where possible; none when there is no code. */
export function* toCodeElements(code: string, language: string): Generator<DocumentElement, void> {
  const lines = code.replace(/\n$/, "");
  if (lines === "") return;
  for (const piece of cutAtLines(lines, MAX_CODE_LENGTH)) {
    yield { category: "code", content: { language, code: piece.toWellFormed() } };
  }
}

/** Cuts a text into pieces, at the ends of lines where possible. */
export function* cutAtLines(text: string, maxLength: number): Generator<string, void> {
  let start = 0;
  while (text.length - start > maxLength) {
    const piece = text.slice(start, start + maxLength + 1);
    const line = piece.lastIndexOf("\n");
    if (line > 0) {
      yield piece.slice(0, line);
      start += line + 1;
    } else {
      // The two halves of a character stay together.
      const length = /[\ud800-\udbff]$/.test(piece.slice(0, -1)) ? maxLength - 1 : maxLength;
      yield piece.slice(0, length);
      start += length;
    }
  }
  yield text.slice(start);
}

/**
 * A table of rows, of which the first ones may be its header. Columns of several headers have all of them as their name.
 * Cells that others cover are empty, and their ranges are told.
 */
export function tableOf(placed: readonly (readonly PlacedCell[])[], headerRows = 0): DocumentElement {
  const merged = mergedRanges(placed);
  const rows = placed.map((row) => row.map((cell) => typeof cell === "symbol" ? null : cell));
  const names = (headerRows === 0 ? [] : rows[0] ?? []).map((_, column) =>
    rows.slice(0, headerRows).map((row) => String(row[column] ?? "")).filter((name) => name !== "").join(" ")
  );
  const body = rows.slice(headerRows);
  const ranges = merged.length === 0 ? {} : { merged_ranges: merged };
  return { category: "table", content: { headers: names, rows: body, total_rows: body.length, ...ranges } };
}

/** The texts of the headings, for {@linkcode DocumentFacts.headings}. */
export function headingsOf(elements: readonly DocumentElement[], max = 200): string[] {
  return elements.flatMap((element) => headingText(element) ?? []).slice(0, max);
}

/** The beginning of the running text, for {@linkcode DocumentFacts.opening}. */
export function openingOf(elements: Iterable<DocumentElement>, maxLength = 4_000): string {
  const texts: string[] = [];
  let length = 0;
  for (const { category, content } of elements) {
    if (category !== "text") continue;
    texts.push(content.text);
    length += content.text.length;
    if (length >= maxLength) break;
  }
  return texts.join("\n").slice(0, maxLength).toWellFormed();
}

/** The highest level that more than one heading has; 0 when there is none. */
export function sectionLevel(elements: readonly DocumentElement[]): number {
  const counts = new Map<number, number>();
  for (const { category, content } of elements) {
    if (category !== "heading") continue;
    const { level } = content as HeadingContent;
    counts.set(level, (counts.get(level) ?? 0) + 1);
  }
  const levels = [...counts].filter(([, count]) => count > 1).map(([level]) => level);
  return levels.length === 0 ? 0 : Math.min(...levels);
}

function headingText({ category, content }: DocumentElement): string | undefined {
  return category === "heading" ? shorten((content as HeadingContent).text, MAX_TITLE_LENGTH) : undefined;
}

export function textElement(text: string): DocumentElement {
  return { category: "text", content: { text } };
}

/** What a reader says of a page. */
export function notice(text: string): DocumentElement {
  return { category: "annotation", content: { text } };
}

/**
 * A note, a comment or the like. Its text is part of the summary, because Markdown and text of a page show the summary alone.
 *
 * @param label what it is, such as `Comment on cell B2`
 */
export function annotation(label: string, content: ElementContents["annotation"]): DocumentElement {
  return { category: "annotation", summary: `${label}: ${content.text}`, content };
}
