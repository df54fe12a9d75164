/** Finds where on a page the words of a query stand. */
import { foldText, placedWords, termOf } from "@a2c-smcp/sdk/words";
import type { DocumentElement, DocumentPage } from "@a2c-smcp/sdk/provider";
import { shorten } from "../basics.ts";
import { linesOf } from "./element_text.ts";
import type { QueryTerm } from "./text_index.ts";

/** The most characters of an excerpt, and how many of them stand before the first word that was found. */
const MAX_LENGTH = 240;
const LEAD = 60;
/** The most characters of the names of a table's columns. */
const MAX_HEADERS_LENGTH = 160;
/** The most characters of a page that are looked at, and the most words of a query on it that are weighed. */
const MAX_SEEN = 1024 * 1024;
const MAX_WEIGHED = 1_000;

/** An element, and its words around those of a query. */
export interface Excerpt {
  readonly elementId: string | undefined;
  readonly snippet: string;
}

interface FoundLine {
  readonly element: DocumentElement;
  readonly line: string;
  readonly hits: readonly Hit[];
  /** The terms that the columns of its table are called by: each row has them, too. */
  readonly named: readonly number[];
}

interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: number;
}

/** The place on a page that has most of the terms; its beginning when it has none of them, such as when only its title has. */
export function excerptOf({ elements }: DocumentPage, terms: readonly QueryTerm[]): Excerpt {
  const counts = terms.map(() => 0);
  const found: FoundLine[] = [];
  let left = MAX_SEEN;
  let unweighed = MAX_WEIGHED;
  for (const element of elements) {
    const named = hitsIn(columnsOf(element).join(" "), terms, MAX_WEIGHED).map(({ term }) => term);
    for (const each of linesOf(element)) {
      const line = each.slice(0, left).normalize("NFC");
      // The normal form may be longer.
      left = Math.max(0, left - line.length);
      const hits = hitsIn(line, terms, unweighed);
      if (hits.length === 0) continue;
      unweighed -= hits.length;
      for (const { term } of hits) counts[term] = (counts[term] ?? 0) + 1;
      found.push({ element, line, hits, named });
    }
  }
  const weigh = (terms: Iterable<number>) =>
    [...new Set(terms)].reduce((sum, term) => sum + 1 / Math.log2(1 + (counts[term] ?? 1)), 0);
  let best: {
    readonly weight: number;
    readonly element: DocumentElement;
    readonly line: string;
    readonly at: number;
  } | undefined;
  for (const { element, line, hits, named } of found) {
    for (const [index, { start }] of hits.entries()) {
      const near = hits.slice(index, index + terms.length * 2).filter(({ end }) =>
        end - start <= MAX_LENGTH - LEAD
      );
      const weight = weigh([...named, ...near.map(({ term }) => term)]);
      if (best === undefined || weight > best.weight) best = { weight, element, line, at: start };
    }
  }
  if (best === undefined) return { elementId: elements[0]?.elementId, snippet: beginningOf(elements) };
  const { element, line, at } = best;
  return { elementId: element.elementId, snippet: `${headersOf(element, line)}${around(line, at)}` };
}

/** @param limit the most hits */
function hitsIn(line: string, terms: readonly QueryTerm[], limit: number): Hit[] {
  const hits: Hit[] = [];
  if (limit === 0) return hits;
  // Most lines have none, and to take a line apart costs the most.
  const folded = foldText(line);
  if (!terms.some(({ term }) => folded.includes(term))) return hits;
  for (const { word, start, end } of placedWords(line)) {
    const term = termOf(word.normalize("NFKC"));
    if (term === undefined) continue;
    const exact = terms.findIndex((each) => each.term === term);
    const at = exact >= 0 ? exact : terms.findIndex((each) => each.isPrefix && term.startsWith(each.term));
    if (at >= 0 && hits.push({ start, end, term: at }) >= limit) break;
  }
  return hits;
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

function around(line: string, at: number): string {
  if (line.length <= MAX_LENGTH) return oneLine(line);
  const start = at <= LEAD ? 0 : Math.max(0, line.lastIndexOf(" ", at - LEAD / 2) + 1, at - LEAD);
  const part = line.slice(start, start + MAX_LENGTH).toWellFormed();
  return `${start > 0 ? "…" : ""}${oneLine(part)}${start + MAX_LENGTH < line.length ? "…" : ""}`;
}

function beginningOf(elements: readonly DocumentElement[]): string {
  const text = elements.slice(0, 5).flatMap(linesOf).join(" ");
  return shorten(oneLine(text.slice(0, 2 * MAX_LENGTH)), MAX_LENGTH);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
