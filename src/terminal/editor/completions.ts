/** What a press of Tab offers, as node's line editor takes it. */
import { quoteWord, readLineSoFar } from "../words.ts";
import { printableLine } from "../safe_text.ts";

/** More are not shown. */
const MAX_COMPLETIONS = 200;

/** Ways to write the last word, and how it is written by now. */
export type Completions = [completions: string[], written: string];

/**
 * Writes those candidates that begin as the last word of the line does, in the quotes that it is in. The only one is
 * complete, so that a space follows; a folder (`/`) and a name (`=`) are not, since a file or a value may.
 */
export function toCompletions(line: string, candidates: readonly string[]): Completions {
  const { word, written, quote } = readLineSoFar(line);
  const fitting = [...new Set(candidates)].filter((each) => each.startsWith(word) && isPlain(each));
  const texts = fitting.slice(0, MAX_COMPLETIONS).map((each) => quoteWord(each, quote));
  const [only, ...others] = texts;
  if (only === undefined || others.length > 0) return [texts, written];
  const isOpen = /[/=]$/.test(fitting[0] ?? "");
  return [[isOpen ? only.slice(0, only.length - quote.length) : `${only} `], written];
}

/** Names of strangers that would command the terminal are left to be typed. */
function isPlain(text: string): boolean {
  return text !== "" && printableLine(text) === text;
}
