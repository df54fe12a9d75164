/** The words of a typed line, read and written as a shell does. */

/** What a word may be written in; `""` for none. */
export type QuoteMark = '"' | "'" | "";

/** The line up to the cursor, as completion sees it. */
export interface LineSoFar {
  /** The words before the last one. */
  readonly words: readonly string[];
  /** What the last word means so far; empty after a space. */
  readonly word: string;
  /** How the last word is written. */
  readonly written: string;
  /** The quote that the last word is in. */
  readonly quote: QuoteMark;
}

/** What a backslash takes the meaning from. Before anything else it is itself, so that `C:\dir` is no riddle. */
const SPECIAL = /[\s'"\\]/;
const SPECIALS = /[\s'"\\]/g;

/**
 * Splits a line into words: at white space, except within `'…'` and `"…"` and after a backslash. Nothing has a
 * meaning within `'…'`; within `"…"` a backslash makes `"` and `\` plain.
 *
 * @throws {SyntaxError} for a quote that is not closed.
 */
export function splitWords(line: string): string[] {
  const { words, openQuote } = scanWords(line);
  if (openQuote === "") return words.map(({ text }) => text);
  throw new SyntaxError(`Cannot read the line: the quote ${openQuote} is not closed`);
}

/** Reads a line that may end in the middle of a word. */
export function readLineSoFar(line: string): LineSoFar {
  const { words, openQuote, isInWord } = scanWords(line);
  const last = isInWord ? words.pop() : undefined;
  const written = last === undefined ? "" : line.slice(last.start);
  const quote = openQuote !== "" && written.startsWith(openQuote) ? openQuote : "";
  return { words: words.map(({ text }) => text), word: last?.text ?? "", written, quote };
}

/** Writes a word so that {@linkcode splitWords} reads it again, in this quote. */
export function quoteWord(word: string, quote: QuoteMark = ""): string {
  if (quote === "'") return `'${word.replaceAll("'", `'\\''`)}'`;
  if (quote === '"') return `"${word.replace(/["\\]/g, "\\$&")}"`;
  return word === "" ? "''" : word.replace(SPECIALS, "\\$&");
}

interface ScannedWord {
  readonly start: number;
  readonly text: string;
}

interface ScannedLine {
  readonly words: ScannedWord[];
  readonly openQuote: QuoteMark;
  /** Whether the line ends within a word. */
  readonly isInWord: boolean;
}

function scanWords(line: string): ScannedLine {
  const words: ScannedWord[] = [];
  let quote: QuoteMark = "";
  let start: number | undefined;
  let text = "";
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i);
    if (quote === "" && /\s/.test(character)) {
      if (start !== undefined) words.push({ start, text });
      [start, text] = [undefined, ""];
      continue;
    }
    start ??= i;
    if (character === quote) quote = "";
    else if (quote === "" && (character === "'" || character === '"')) quote = character;
    else if (character === "\\" && isEscape(line.charAt(i + 1), quote)) text += line.charAt(++i);
    else text += character;
  }
  if (start !== undefined) words.push({ start, text });
  return { words, openQuote: quote, isInWord: start !== undefined };
}

/** Whether a backslash before this character is no character of its own. */
function isEscape(next: string, quote: QuoteMark): boolean {
  if (quote === "'") return false;
  return quote === '"' ? next === '"' || next === "\\" : SPECIAL.test(next);
}
