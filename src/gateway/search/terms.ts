/** Splits texts into terms for searching, in any language. */
import { stemmer } from "stemmer";

const STOP_WORDS: ReadonlySet<string> = new Set(
  ("a an and any are as at be by can do does for from has have how i if in into is it its me my of on or our so some " +
    "that the their them then there these this those to us use used using via want was we what when where which who " +
    "will with you your please need would should like tool tools").split(" "),
);

/** Letters, or digits, of any script; a word in camel case is several. */
const WORDS = /\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|[\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
/** Scripts that put no spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** The words of a text, in order; where nothing separates them, each two characters that follow one another. */
export function wordsOf(text: string): string[] {
  const words = text.normalize("NFKC").match(WORDS) ?? [];
  return words.flatMap((word) => UNSPACED.test(word) ? pairsOf(word) : [word]);
}

/** The term of a word, without its English ending; `undefined` for one that says nothing. */
export function termOf(word: string): string | undefined {
  const lower = word.toLowerCase();
  return STOP_WORDS.has(lower) ? undefined : stemmer(lower);
}

/** Whether a term is one character of a script that puts no spaces between words: the beginning of a pair. */
export function isLoneCharacter(term: string): boolean {
  return UNSPACED.test(term) && [...term].length === 1;
}

function pairsOf(text: string): string[] {
  const characters = [...text];
  if (characters.length < 2) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
