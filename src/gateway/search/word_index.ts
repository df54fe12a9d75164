/** Finds tools, documents and windows by words: BM25 over the fields of each. */
import MiniSearch from "minisearch";
import { isPrefix, queryTerms, queryWords, termOf, wordsOf } from "../../text/words.ts";

/** The entries that are indexed before the event loop runs again. */
const CHUNK = 100;

/** An index of entries by the words of their fields. */
export class WordIndex<Field extends string> {
  readonly #weights: Readonly<Record<Field, number>>;
  readonly #search: MiniSearch<Readonly<Record<Field | "id", string>>>;

  /** @param weights How much a word counts in each field. */
  constructor(weights: Readonly<Record<Field, number>>) {
    this.#weights = weights;
    this.#search = new MiniSearch({
      fields: Object.keys(weights),
      tokenize: wordsOf,
      processTerm: (word) => termOf(word) ?? null,
    });
  }

  add(entries: readonly Readonly<Record<Field | "id", string>>[]): Promise<void> {
    return this.#search.addAllAsync(entries, { chunkSize: CHUNK });
  }

  discard(id: string): void {
    this.#search.discard(id);
  }

  /** The ids of the entries that fit a query, the best first; equally good ones by id. */
  search(query: string): string[] {
    const results = this.#search.search(query, {
      boost: { ...this.#weights },
      combineWith: "OR",
      tokenize: queryWords,
      prefix: isPrefix,
    });
    return results
      .map(({ id, score }) => ({ id: String(id), score }))
      .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
      .map(({ id }) => id);
  }
}

/** How much a word counts in each field of what is found. */
const FOUND_WEIGHTS = { title: 3, keywords: 2, text: 1 } as const;
/** The most characters of each field that count. */
const MAX_FIELD_CHARACTERS = 20_000;

/** What a search weighs. */
export interface Found {
  readonly id: string;
  readonly title: string;
  readonly keywords: string;
  readonly text: string;
  /** Whether it fits by itself, since its Computer has found it: it comes behind all that has a word of the query. */
  readonly isMatch: boolean;
}

/** What fits a query, the best first; all of it in its order when the query has no word that says something. */
export async function rankByWords<T extends Found>(query: string, found: readonly T[]): Promise<T[]> {
  const byId = new Map(found.map((each) => [each.id, each]));
  const unique = [...byId.values()];
  if (queryTerms(query).length === 0) return unique;
  const index = new WordIndex(FOUND_WEIGHTS);
  await index.add(unique.map(({ id, title, keywords, text }) => ({
    id,
    title: title.slice(0, MAX_FIELD_CHARACTERS),
    keywords: keywords.slice(0, MAX_FIELD_CHARACTERS),
    text: text.slice(0, MAX_FIELD_CHARACTERS),
  })));
  const ranked = index.search(query).flatMap((id) => byId.get(id) ?? []);
  const seen = new Set(ranked);
  return [...ranked, ...unique.filter((each) => each.isMatch && !seen.has(each))];
}
