/** Finds where on a page the words of a query stand. */
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import { oneLine, shorten } from "../basics.ts";
import { linesOf } from "./element_text.ts";
import { type Hit, type QueryTerm, WordFinder } from "./found_words.ts";

/** The most characters of an excerpt, and how many of them stand before the first word that was found. */
const MAX_LENGTH = 240;
const LEAD = 60;
/** The most characters of the names of a table's columns. */
const MAX_HEADERS_LENGTH = 160;

/** An element, and its words around those of a query. */
export interface Excerpt {
  readonly elementId: string | undefined;
  readonly snippet: string;
}

interface FoundLine {
  readonly element: DocumentElement;
  readonly line: string;
  readonly hits: readonly Hit[];
  /** The terms of the heading above it, and of the names of its columns: it belongs to them. */
  readonly above: readonly number[];
}

/** The place on a page that has most of the terms; its beginning when it has none of them, such as when only its title has. */
export function excerptOf({ elements }: DocumentPage, terms: readonly QueryTerm[]): Excerpt {
  const found = foundLines(elements, terms);
  const counts = terms.map(() => 0);
  for (const { term } of found.flatMap(({ hits }) => hits)) counts[term] = (counts[term] ?? 0) + 1;
  const weigh = (terms: readonly number[]) =>
    [...new Set(terms)].reduce((sum, term) => sum + 1 / Math.log2(1 + (counts[term] ?? 1)), 0);
  let best = { weight: 0, at: 0, found: found[0] };
  for (const each of found) {
    const { hits, above } = each;
    const inherited = weigh(above);
    for (const [index, { start }] of hits.entries()) {
      const near = hits.slice(index, index + terms.length * 2)
        .filter(({ end }) => end - start <= MAX_LENGTH - LEAD).map(({ term }) => term);
      const all = inherited === 0 ? weigh(near) : weigh([...above, ...near]);
      // What stands below a heading says more than the heading, which names the page as well.
      const weight = all + (inherited + weigh(near)) / 100;
      if (weight > best.weight) best = { weight, at: start, found: each };
    }
  }
  if (best.found === undefined) return { elementId: elements[0]?.elementId, snippet: beginningOf(elements) };
  const { element, line } = best.found;
  return { elementId: element.elementId, snippet: `${headersOf(element, line)}${around(line, best.at)}` };
}

function foundLines(elements: readonly DocumentElement[], terms: readonly QueryTerm[]): FoundLine[] {
  const finder = new WordFinder(terms);
  const found: FoundLine[] = [];
  let heading: readonly number[] = [];
  for (const element of elements) {
    const isHeading = element.category === "heading";
    if (isHeading) heading = [];
    const named = new WordFinder(terms).find(columnsOf(element).join(" ")).hits.map(({ term }) => term);
    const above = [...heading, ...named];
    for (const each of linesOf(element)) {
      const { line, hits } = finder.find(each);
      if (hits.length > 0) found.push({ element, line, hits, above });
      if (isHeading) heading = hits.map(({ term }) => term);
    }
  }
  return found;
}

/** A row of a table says nothing without the names of the columns. */
function headersOf(element: DocumentElement, line: string): string {
  const headers = columnsOf(element).join(" | ");
  return headers === "" || headers === line ? "" : `${shorten(headers, MAX_HEADERS_LENGTH)}\n`;
}

function columnsOf({ category, content }: DocumentElement): readonly string[] {
  if (category !== "table" && category !== "pivot_table") return [];
  return content.headers.filter((header) => header !== "");
}

/** A line, or what of a longer one is around a place in it. */
export function around(line: string, at: number, maxLength = MAX_LENGTH): string {
  if (line.length <= maxLength) return oneLine(line);
  const start = at <= LEAD ? 0 : Math.max(0, line.lastIndexOf(" ", at - LEAD / 2) + 1, at - LEAD);
  const part = line.slice(start, start + maxLength).toWellFormed();
  return `${start > 0 ? "…" : ""}${oneLine(part)}${start + maxLength < line.length ? "…" : ""}`;
}

function beginningOf(elements: readonly DocumentElement[]): string {
  const text = elements.slice(0, 5).flatMap(linesOf).join(" ");
  return shorten(oneLine(text.slice(0, 2 * MAX_LENGTH)), MAX_LENGTH);
}
