/**
 * JSON with its long strings cut. To check that a large message is JSON, and to read what routing needs, the Server parses
 * it like this: the content of a long string is searched by a regular expression, in a part of the time of `JSON.parse`.
 */

/** Shorter messages are parsed whole: that is fast enough. */
export const MIN_SHORTENED_LENGTH = 8 * 1024;
/** Strings up to this length are kept whole, since the members that the Server reads are shorter. */
const KEPT_LENGTH = 2_048;
/** A text with more quotes is not cut: it has few long strings, or many values. */
export const MAX_QUOTES = 4_096;
const PIECE_LENGTH = 32 * 1024;
/** The content of a JSON string, up to its quote or to what may not stand there. */
const STRING_CONTENT = /[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})[ !#-[\]-\uffff]*)*/y;
const QUOTE = '"';
const BACKSLASH = "\\";
/** The longest escape: `\u0000`. */
const MAX_ESCAPE_LENGTH = 6;

export interface TextSource {
  readonly length: number;
  slice(start: number, end?: number): string;
}

export interface ShortText {
  readonly text: string;
  readonly hasEscapes: boolean;
}

/**
 * Cuts long strings of JSON, so that the result is valid exactly if the source is, and has the same structure. What stands
 * before the first quote is kept.
 *
 * @return `undefined` for a text with many strings, with one that does not end, or with one that has an invalid character
 * or escape.
 */
export function shortenStrings(source: TextSource): ShortText | undefined {
  const cutter = new StringCutter(source);
  for (let start = 0; start < source.length;) {
    const count = cutter.read(source.slice(start, start + PIECE_LENGTH), start);
    if (count === undefined) return undefined;
    start += count;
  }
  return cutter.finish();
}

/** Does the same where the positions of all quotes that begin or end strings are known. */
export function shortenBetween(
  source: TextSource,
  { quotes, hasEscapes }: { readonly quotes: readonly number[]; readonly hasEscapes: boolean },
): ShortText | undefined {
  const cutter = new StringCutter(source, hasEscapes);
  for (const position of quotes) cutter.readQuote(position);
  return cutter.finish();
}

class StringCutter {
  readonly #source: TextSource;
  #text = "";
  #copied = 0;
  #quotes = 0;
  #hasEscapes: boolean;
  #opening: number | undefined;

  constructor(source: TextSource, hasEscapes = false) {
    this.#source = source;
    this.#hasEscapes = hasEscapes;
  }

  /**
   * Reads a piece.
   *
   * @return How much of it was read: all but an escape that may end behind it. `undefined` gives up.
   */
  read(piece: string, start: number): number | undefined {
    this.#hasEscapes ||= piece.includes(BACKSLASH);
    for (let index = 0; index < piece.length; index++) {
      index = this.#opening === undefined ? nextQuote(piece, index) : endOfContent(piece, index);
      if (index === piece.length) break;
      if (piece[index] !== QUOTE) {
        const mayEndBehind = piece[index] === BACKSLASH && index + MAX_ESCAPE_LENGTH > piece.length;
        return mayEndBehind && index > 0 ? index : undefined;
      }
      if (++this.#quotes > MAX_QUOTES) return undefined;
      this.readQuote(start + index);
    }
    return piece.length;
  }

  finish(): ShortText | undefined {
    if (this.#opening !== undefined) return undefined;
    return { text: this.#text + this.#source.slice(this.#copied), hasEscapes: this.#hasEscapes };
  }

  readQuote(position: number): void {
    const opening = this.#opening;
    this.#opening = opening === undefined ? position : undefined;
    if (opening === undefined || position - opening <= KEPT_LENGTH) return;
    const kept = this.#source.slice(opening + 1, opening + KEPT_LENGTH);
    // An escape is not cut in two.
    const end = opening + 1 + endOfContent(kept, 0);
    this.#text += this.#source.slice(this.#copied, end);
    this.#copied = position;
  }
}

function nextQuote(piece: string, start: number): number {
  const index = piece.indexOf(QUOTE, start);
  return index < 0 ? piece.length : index;
}

function endOfContent(piece: string, start: number): number {
  STRING_CONTENT.lastIndex = start;
  STRING_CONTENT.test(piece);
  return STRING_CONTENT.lastIndex;
}
