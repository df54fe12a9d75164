/** The terms of a page in the index of words. */
import { termOf, wordsOf } from "@a2c-smcp/sdk/words";
import type { DocumentPage } from "@a2c-smcp/sdk/provider";
import { linesOf } from "./element_text.ts";
import { MAX_SEEN } from "./found_words.ts";

/** The mark of a term that a page has often, for its length. */
export const OFTEN = "+";
/** The mark of a term of a title or of a heading. */
export const TITLE = "_";

/** The constants of BM25 by which a term counts as one that a page has often: k1, b, and the usual length of a page in terms. */
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;
const USUAL_LENGTH = 250;
const OFTEN_WEIGHT = 1.3;

/** What is indexed of a page. */
export interface PageText {
  readonly terms: readonly string[];
  /** Its title, where it is kept. */
  readonly title?: string;
}

/** The terms of a page, each once, with marks; what the index holds. */
export function pageTerms({ title, elements }: DocumentPage): string[] {
  const counts = new Map<string, number>();
  const titles = [title];
  let length = 0;
  let left = MAX_SEEN;
  for (const element of elements) {
    // What a parser says is not what the document says.
    if (element.metadata?.["is_notice"] === true) continue;
    const text = linesOf(element).join("\n").slice(0, left);
    left -= text.length;
    if (element.category === "heading") titles.push(text);
    for (const term of termsOf(text)) {
      counts.set(term, (counts.get(term) ?? 0) + 1);
      length++;
    }
  }
  const base = SATURATION * (1 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / USUAL_LENGTH);
  const often = [...counts].filter(([, count]) => count * (SATURATION + 1) / (count + base) >= OFTEN_WEIGHT);
  return [...counts.keys(), ...often.map(([term]) => OFTEN + term), ...titleTerms(titles)];
}

/** The terms of titles, with and without their mark. */
export function titleTerms(titles: readonly string[]): string[] {
  const terms = new Set(titles.flatMap(termsOf));
  return [...terms].flatMap((term) => [term, TITLE + term]);
}

/** The terms of words: most words come again and again. */
const known = new Map<string, string>();
const MAX_KNOWN = 50_000;

function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const word of wordsOf(text)) {
    let term = known.get(word);
    if (term === undefined) {
      term = termOf(word) ?? "";
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(word, term);
    }
    if (term !== "") terms.push(term);
  }
  return terms;
}
