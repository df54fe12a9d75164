/** The words of a text and of a query, for every search by words: of tools, windows and documents. */

const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a an and any are as at be by can do does for from has have how i if in into is it its me my of on or our so some " +
    "that the their them then there these they this those to us via was we what when where which who will with you your " +
    "please would should").split(" "),
);

/** English endings of words from so many characters on: with them, the search finds as much as with a stemmer. */
const ENDING = /(?:ies|ing|ed|es|s|e|y)$/;
const MIN_INFLECTED = 3;

/** Letters, or digits, of any script; a word in camel case is several. */
const WORDS = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|[\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
/** The same for ASCII, which is much faster. */
const ASCII_WORDS = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+/g;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Accents of Latin, Greek and Cyrillic letters, when they stand apart. */
const ACCENTS = /[\u0300-\u036f]+/g;
const NOT_ASCII = /[^\0-\x7f]/;

/** A term from so many characters on also counts as the beginning of a longer one. */
const MIN_PREFIX = 4;
/** The most characters of a query. */
const MAX_QUERY_CHARACTERS = 4_000;
/** The most different words of a query: each one costs milliseconds in an index of thousands of entries. */
const MAX_QUERY_WORDS = 64;

/** A word, and where it stands in its text. */
export interface PlacedWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** The words of a text in order, with their places; where nothing separates them, each two characters that follow one another. */
export function* placedWords(text: string): Generator<PlacedWord, void> {
  for (const { 0: word, index: start } of text.matchAll(WORDS)) {
    if (NOT_ASCII.test(word) && UNSPACED.test(word)) yield* pairsOf(word, start);
    else yield { word, start, end: start + word.length };
  }
}

/** The words of a text, in order; where nothing separates them, each two characters that follow one another. */
export function wordsOf(text: string): string[] {
  const normal = text.normalize("NFKC");
  if (!NOT_ASCII.test(normal)) return normal.match(ASCII_WORDS) ?? [];
  return [...placedWords(normal)].map(({ word }) => word);
}

/** The term of a word, without its accents and its ending; `undefined` for one that says nothing. */
export function termOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  if (STOP_WORDS.has(lower)) return undefined;
  const bare = foldText(lower);
  return bare.length > MIN_INFLECTED ? bare.replace(ENDING, "") : bare;
}

/** A text in lower case and without accents: it has the terms of its words as parts. */
export function foldText(text: string): string {
  const lower = text.toLowerCase();
  return NOT_ASCII.test(lower) ? lower.normalize("NFKD").replace(ACCENTS, "").normalize("NFC") : lower;
}

/** The terms of a query, each once. */
export function queryTerms(query: string): string[] {
  return queryWords(query.slice(0, MAX_QUERY_CHARACTERS)).flatMap((word) => termOf(word) ?? []);
}

/** Each word of a query once, since a word that is repeated means no more. */
export function queryWords(query: string): string[] {
  const words = new Map(wordsOf(query.slice(0, MAX_QUERY_CHARACTERS)).map((word) => [termOf(word), word]));
  words.delete(undefined);
  return [...words.values()].slice(0, MAX_QUERY_WORDS);
}

/** Whether a term of a query also counts as the beginning of a longer one. */
export function isPrefix(term: string): boolean {
  return term.length >= MIN_PREFIX || isLoneCharacter(term);
}

/** Whether a term is one character of a script that puts no spaces between words: the beginning of a pair. */
function isLoneCharacter(term: string): boolean {
  return UNSPACED.test(term) && [...term].length === 1;
}

function* pairsOf(text: string, start: number): Generator<PlacedWord, void> {
  const characters = [...text];
  let at = start;
  for (const [index, character] of characters.entries()) {
    const next = characters[index + 1];
    if (next === undefined && index > 0) return;
    const word = next === undefined ? character : character + next;
    yield { word, start: at, end: at + word.length };
    at += character.length;
  }
}
