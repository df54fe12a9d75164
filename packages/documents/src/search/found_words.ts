/** Finds where the words of a query stand in the lines of a page, within bounds. */
import { foldText, isPrefix, placedWords, queryWords, termOf } from "@a2c-smcp/sdk/words";

/** The most characters of a page that are looked at, and the most words of a query on it. */
export const MAX_SEEN = 1024 * 1024;
const MAX_HITS = 1_000;

/** A term of a query. */
export interface QueryTerm {
  readonly term: string;
  /** Whether it may also be the beginning of a word. */
  readonly isPrefix: boolean;
}

/** A word of a query: its place in the line, and the number of its term. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  readonly term: number;
}

export function toTerms(query: string): QueryTerm[] {
  const terms = new Set(queryWords(query).flatMap((word) => termOf(word) ?? []));
  return [...terms].map((term) => ({ term, isPrefix: isPrefix(term) }));
}

/** Looks at the lines of one page, one after the other. */
export class WordFinder {
  readonly #terms: readonly QueryTerm[];
  #left = MAX_SEEN;
  #hitsLeft = MAX_HITS;

  constructor(terms: readonly QueryTerm[]) {
    this.#terms = terms;
  }

  /** The words in a line, which may come back shorter; none when the bounds are reached. */
  find(given: string): { readonly line: string; readonly hits: readonly Hit[] } {
    const line = given.slice(0, this.#left).normalize("NFC");
    // The normal form may be longer.
    this.#left = Math.max(0, this.#left - line.length - 1);
    const hits: Hit[] = [];
    if (this.#hitsLeft === 0) return { line, hits };
    // Most lines have none, and to take a line apart costs the most.
    const folded = foldText(line);
    if (!this.#terms.some(({ term }) => folded.includes(term))) return { line, hits };
    for (const { word, start, end } of placedWords(line)) {
      const term = this.#termOf(word);
      if (term >= 0 && (hits.push({ start, end, term }), --this.#hitsLeft === 0)) break;
    }
    return { line, hits };
  }

  #termOf(word: string): number {
    const term = termOf(word.normalize("NFKC"));
    if (term === undefined) return -1;
    const exact = this.#terms.findIndex((each) => each.term === term);
    return exact >= 0 ? exact : this.#terms.findIndex((each) => each.isPrefix && term.startsWith(each.term));
  }
}
