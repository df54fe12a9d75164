/** Splits a typed line into words and quotes words, like a shell. */

export type QuoteMark = '"' | "'" | "";

/** The line up to the cursor, for completion. */
export interface LineSoFar {
  readonly words: readonly string[];
  /** The last word, without quotes and escapes; empty after a space. */
  readonly word: string;
  /** The last word as it is written. */
  readonly written: string;
  /** The quote that the last word begins with and that is still open. */
  readonly quote: QuoteMark;
}

/** The characters that a backslash escapes. Before others it is a plain character, so that `C:\dir` needs no quotes. */
const SPECIAL = /[\s'"\\]/;
const SPECIALS = /[\s'"\\]/g;

/**
 * Splits a line at white space, except within `'…'` and `"…"` and after a backslash. Within `'…'` all characters are
 * plain; within `"…"` a backslash escapes `"` and `\`.
 *
 * @throws {SyntaxError} for an unclosed quote.
 */
export function splitWords(line: string): string[] {
  const { words, openQuote } = scanWords(line);
  if (openQuote === "") return words.map(({ text }) => text);
  throw new SyntaxError(`Cannot read the line: the quote ${openQuote} is not closed`);
}

export function readLineSoFar(line: string): LineSoFar {
  const { words, openQuote, isInWord } = scanWords(line);
  const last = isInWord ? words.pop() : undefined;
  const written = last === undefined ? "" : line.slice(last.start);
  const quote = openQuote !== "" && written.startsWith(openQuote) ? openQuote : "";
  return { words: words.map(({ text }) => text), word: last?.text ?? "", written, quote };
}

/** Quotes or escapes a word so that {@linkcode splitWords} returns it unchanged. */
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

/** Whether a backslash escapes the next character. */
function isEscape(next: string, quote: QuoteMark): boolean {
  if (quote === "'") return false;
  return quote === '"' ? next === '"' || next === "\\" : SPECIAL.test(next);
}
