/** Finds tools, documents and windows by words: BM25 over the fields of each. */
import MiniSearch from "minisearch";

const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a an and any are as at be by can do does for from has have how i if in into is it its me my of on or our so some " +
    "that the their them then there these this those to us use used using via want was we what when where which who " +
    "will with you your please need would should like tool tools").split(" "),
);

/** English endings of words from so many characters on: with them, the search finds as much as with a stemmer. */
const ENDING = /(?:ies|ing|ed|es|s|e|y)$/;
const MIN_INFLECTED = 3;

/** Letters, or digits, of any script; a word in camel case is several. */
const WORDS = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|[\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** A term from so many characters on also counts as the beginning of a longer one. */
const MIN_PREFIX = 4;
/** The most characters of a query. */
const MAX_QUERY_CHARACTERS = 4_000;
/** The most different words of a query: each one costs milliseconds in an index of thousands of tools. */
const MAX_QUERY_WORDS = 64;

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
    const results = this.#search.search(query.slice(0, MAX_QUERY_CHARACTERS), {
      boost: { ...this.#weights },
      combineWith: "OR",
      tokenize: queryWords,
      prefix: (term) => term.length >= MIN_PREFIX || isLoneCharacter(term),
    });
    return results
      .map(({ id, score }) => ({ id: String(id), score }))
      .sort((one, other) => other.score - one.score || (one.id < other.id ? -1 : 1))
      .map(({ id }) => id);
  }
}

/** The words of a text, in order; where nothing separates them, each two characters that follow one another. */
export function wordsOf(text: string): string[] {
  const words = text.normalize("NFKC").match(WORDS) ?? [];
  return words.flatMap((word) => UNSPACED.test(word) ? pairsOf(word) : [word]);
}

/** The term of a word, without its ending; `undefined` for one that says nothing. */
export function termOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? undefined : lower.length > MIN_INFLECTED ? lower.replace(ENDING, "") : lower;
}

/** The terms of a query, each once. */
export function queryTerms(query: string): string[] {
  return queryWords(query.slice(0, MAX_QUERY_CHARACTERS)).flatMap((word) => termOf(word) ?? []);
}

/** Each word once, since a word that is repeated means no more. */
function queryWords(query: string): string[] {
  const words = new Map(wordsOf(query).map((word) => [termOf(word), word]));
  words.delete(undefined);
  return [...words.values()].slice(0, MAX_QUERY_WORDS);
}

/** Whether a term is one character of a script that puts no spaces between words: the beginning of a pair. */
function isLoneCharacter(term: string): boolean {
  return UNSPACED.test(term) && [...term].length === 1;
}

function pairsOf(text: string): string[] {
  const characters = [...text];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
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
export async function rankByWords(query: string, found: readonly Found[]): Promise<Found[]> {
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
