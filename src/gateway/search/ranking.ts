/** Orders documents and windows by the words of a query, in the way of the search for tools. */
import { queryTerms, WordIndex } from "./word_index.ts";

const WEIGHTS = { title: 3, keywords: 2, text: 1 } as const;
/** The most characters of each field that count. */
const MAX_CHARACTERS = 20_000;

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
export async function rankByWords(query: string, found: readonly Found[]): Promise<Found[]> {
  const byId = new Map(found.map((each) => [each.id, each]));
  const unique = [...byId.values()];
  if (queryTerms(query).length === 0) return unique;
  const index = new WordIndex(WEIGHTS);
  await index.add(unique.map(({ id, title, keywords, text }) => ({
    id,
    title: title.slice(0, MAX_CHARACTERS),
    keywords: keywords.slice(0, MAX_CHARACTERS),
    text: text.slice(0, MAX_CHARACTERS),
  })));
  const ranked = index.search(query).flatMap((id) => byId.get(id) ?? []);
  const seen = new Set(ranked);
  return [...ranked, ...unique.filter((each) => each.isMatch && !seen.has(each))];
}
