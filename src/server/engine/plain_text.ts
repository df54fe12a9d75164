/**
 * ASCII text without control characters. In such a text, a JSON string without a backslash is valid whatever its length, so the
 * parser need not read it: this takes a third of the time of a large message. The engine looks for control characters where
 * it touches each byte anyway.
 */

/** Strings up to this length are kept, since the members that routing reads are shorter. */
const KEPT_LENGTH = 2_048;
/** A text with more quotes is parsed as a whole. */
const MAX_QUOTES = 4_096;

/** Whether the message that is being delivered is such a text. */
let isPlain = false;

/** Delivers a message; {@linkcode shortenStrings} may be used meanwhile. */
export function deliverPlain(deliver: () => void): void {
  isPlain = true;
  try {
    deliver();
  } finally {
    isPlain = false;
  }
}

/**
 * Cuts long strings of a JSON text, so that the result is valid JSON exactly if the text is, and has the same structure.
 *
 * @param json A part of the message that is being delivered.
 * @return `undefined` when it is not known to be plain, or has escapes or many strings.
 */
export function shortenStrings(json: string): string | undefined {
  if (!isPlain || json.includes("\\")) return undefined;
  let short = "";
  let start = 0;
  for (let quotes = 0, opening = json.indexOf('"'); opening >= 0; opening = json.indexOf('"', opening)) {
    const closing = json.indexOf('"', opening + 1);
    if (closing < 0 || ++quotes > MAX_QUOTES) return undefined;
    if (closing - opening > KEPT_LENGTH) {
      short += json.slice(start, opening + KEPT_LENGTH);
      start = closing;
    }
    opening = closing + 1;
  }
  return short + json.slice(start);
}
