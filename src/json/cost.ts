/**
 * Estimates the cost of parsing JSON while its bytes arrive. The unit is one value (a member or an item). Length,
 * escapes, new names and new short texts are converted to the number of values that cost the same.
 */
import { MAX_MESSAGE_DEPTH } from "./json.ts";

/** An escape in a text costs about a quarter of a value to read and to write again. */
const ESCAPES_PER_VALUE = 4;
const MIN_ESCAPE_LENGTH = 2;
/** A name that no earlier object has in this position costs this many values more. */
const VALUES_PER_NEW_NAME = 8;
/** This many new names cost nothing extra. */
const FREE_NEW_NAMES = 1_000;
/** A new text of 2–10 bytes costs two values more: V8 looks up short texts, to store each only once. */
const MIN_KEPT_BYTES = 2;
const MAX_KEPT_BYTES = 10;
const VALUES_PER_NEW_TEXT = 2;
/** This many bytes cost as much as a value, after the first MiB. */
const BYTES_PER_VALUE = 128;
const FREE_BYTES = 1024 * 1024;
/** The most bytes of a name that is compared; a longer name always counts as new. */
const MAX_NAME_BYTES = 64;
/** The size of the table of names and short texts: one bit for each, found by the upper bits of a hash. */
const SEEN_BITS = 20;
/** Nearly all messages are short, and get along with a small table. */
const SHORT_BYTES = 8 * 1024;
const SHORT_SEEN_BITS = 14;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** `,` and `:` count one value, an object three, a list four: lists in lists cost the most to read. */
const STRUCTURE_VALUES = new Uint8Array(256);
for (const sign of ",:") STRUCTURE_VALUES[sign.charCodeAt(0)] = 1;
STRUCTURE_VALUES[OPENING_BRACE] = 3;
STRUCTURE_VALUES[OPENING_BRACKET] = 4;
/** What ends a text or begins an escape; all else is plain. */
const SIGNS_IN_TEXT = ['"', "\\", "\n", "\r"];
const IS_PLAIN = new Uint8Array(256).fill(1);
for (const sign of SIGNS_IN_TEXT) IS_PLAIN[sign.charCodeAt(0)] = 0;
/** Random, so that a peer cannot choose names that collide. */
const HASHES = crypto.getRandomValues(new Uint32Array(256));
const MULTIPLIER = 0x9e3779b1;

/** The highest cost of one byte: that of `[`. A member with a new name costs ten values and has at least five bytes. */
export const MAX_COST_PER_BYTE = 4;
const MAX_BYTES_PER_UNIT = 3;
/** The number of characters of a text to count at a time. */
const PIECE_LENGTH = 65_536;
const MAX_PIECE_BYTES = MAX_BYTES_PER_UNIT * PIECE_LENGTH;

const encoder = new TextEncoder();

/**
 * The cost of all these JSON texts together, in values. Stops soon after the cost exceeds `enough`.
 *
 * @throws {RangeError} when a text is nested too deeply.
 */
export function costOfTexts(texts: Iterable<string>, enough: number): number {
  const cost = new JsonCost();
  const bytes = new Uint8Array(MAX_PIECE_BYTES);
  for (const text of texts) {
    cost.beginMessage();
    for (let start = 0; start < text.length && cost.values <= enough; start += PIECE_LENGTH) {
      const piece = text.slice(start, start + PIECE_LENGTH);
      const { written } = encoder.encodeInto(piece, bytes);
      // To search for four characters is far faster than to look at each byte.
      if (SIGNS_IN_TEXT.some((sign) => piece.includes(sign))) cost.push(bytes.subarray(0, written));
      else cost.pushPlain(bytes.subarray(0, written));
    }
  }
  return cost.values;
}

/** An upper bound of the cost of a JSON text whose strings have `cutLength` characters more. */
export function maxCostOf(
  text: string,
  { cutLength, hasEscapes }: { readonly cutLength: number; readonly hasEscapes: boolean },
): number {
  const escapes = hasEscapes ? (text.length + cutLength) / MIN_ESCAPE_LENGTH : 0;
  const bytes = cutLength * MAX_BYTES_PER_UNIT;
  return text.length * MAX_COST_PER_BYTE + bytes / BYTES_PER_VALUE + escapes / ESCAPES_PER_VALUE;
}

export class JsonCost {
  #bytes = 0;
  #structures = 0;
  #escapes = 0;
  #newNames = 0;
  #newTexts = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;
  /** The hash of the current or the last text. */
  #textHash = 0;
  #textBytes = 0;
  #isNewText = false;
  /** A hash of the names in the current object so far. Objects with the same names in the same order cost little. */
  #shape = 0;
  /** The same for the enclosing objects. */
  #outerShapes: number[] = [];
  #seenBits = SHORT_SEEN_BITS;
  #seen = tableOf(SHORT_SEEN_BITS);
  readonly #maxDepth: number;

  constructor({ maxDepth = MAX_MESSAGE_DEPTH }: { readonly maxDepth?: number } = {}) {
    this.#maxDepth = maxDepth;
  }

  get values(): number {
    const newNames = Math.max(0, this.#newNames - FREE_NEW_NAMES);
    const bytes = Math.max(0, this.#bytes - FREE_BYTES);
    const texts = Math.floor(bytes / BYTES_PER_VALUE + this.#escapes / ESCAPES_PER_VALUE);
    return this.#structures + newNames * VALUES_PER_NEW_NAME + this.#newTexts * VALUES_PER_NEW_TEXT + texts;
  }

  /** Begins another message, whose cost is added. */
  beginMessage(): void {
    this.#depth = this.#shape = 0;
    this.#isInText = this.#isEscaped = false;
    this.#outerShapes = [];
  }

  /**
   * Counts the next bytes of a message.
   *
   * @throws {RangeError} when the message is nested too deeply.
   */
  push(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > SHORT_BYTES && this.#seenBits < SEEN_BITS) {
      // What was seen before counts as new once more.
      this.#seen = tableOf(this.#seenBits = SEEN_BITS);
    }
    let index = 0;
    while (index < piece.length) {
      index = this.#isInText ? this.#readText(piece, index) : this.#readStructure(piece, index);
    }
  }

  /** The same for bytes that neither end a text nor begin an escape. */
  pushPlain(piece: Uint8Array): void {
    if (!this.#isInText || piece.length <= MAX_NAME_BYTES) return this.push(piece);
    this.#bytes += piece.length;
    this.#textBytes += piece.length;
    this.#isEscaped = false;
  }

  /** Reads up to the next text, and returns the index where it begins. */
  #readStructure(piece: Uint8Array, start: number): number {
    for (let index = start; index < piece.length; index++) {
      const byte = piece[index] ?? 0;
      if (byte === QUOTE) {
        this.#isInText = true;
        this.#isNewText = false;
        this.#textHash = this.#textBytes = 0;
        return index + 1;
      }
      this.#structures += STRUCTURE_VALUES[byte] ?? 0;
      if (byte === COLON) this.#takeName();
      else if (byte === OPENING_BRACE || byte === OPENING_BRACKET) this.#open(byte);
      else if (byte === CLOSING_BRACE || byte === CLOSING_BRACKET) this.#close(byte);
    }
    return piece.length;
  }

  #open(byte: number): void {
    if (++this.#depth > this.#maxDepth) {
      throw new RangeError(`Cannot read a message: it is nested more than ${this.#maxDepth} levels deep`);
    }
    if (byte === OPENING_BRACKET) return;
    this.#outerShapes.push(this.#shape);
    this.#shape = 0;
  }

  #close(byte: number): void {
    this.#depth = Math.max(0, this.#depth - 1);
    if (byte === CLOSING_BRACE) this.#shape = this.#outerShapes.pop() ?? 0;
  }

  /**
   * Reads up to the end of the text, and returns the index of the end. A line break also ends a text, because JSON does
   * not allow one in a text: invalid JSON cannot hide the following bytes.
   */
  #readText(piece: Uint8Array, start: number): number {
    let index = start;
    let isWhole = false;
    let hash = this.#textHash;
    const hashedEnd = start + MAX_NAME_BYTES - this.#textBytes;
    for (; index < piece.length; index++) {
      const byte = piece[index] ?? 0;
      if (IS_PLAIN[byte] === 1) {
        this.#isEscaped = false;
        if (index < hashedEnd) hash = Math.imul(hash ^ (HASHES[byte] ?? 0), MULTIPLIER);
        else index = lastPlain(piece, index);
      } else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) {
        this.#isInText = this.#isEscaped = false;
        return index + 1;
      } else if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) {
        this.#isEscaped = true;
        this.#escapes++;
      } else {
        this.#isInText = false;
        isWhole = true;
        break;
      }
    }
    this.#textHash = hash;
    this.#textBytes += index - start;
    if (isWhole) this.#takeText();
    return index + 1;
  }

  #takeText(): void {
    if (this.#textBytes < MIN_KEPT_BYTES || this.#textBytes > MAX_KEPT_BYTES) return;
    this.#isNewText = this.#see(this.#textHash);
    if (this.#isNewText) this.#newTexts++;
  }

  #takeName(): void {
    if (this.#isNewText) this.#newTexts--;
    this.#isNewText = false;
    this.#shape = Math.imul(this.#shape ^ this.#textHash, MULTIPLIER) + this.#textBytes | 0;
    if (this.#see(this.#shape) || this.#textBytes > MAX_NAME_BYTES) this.#newNames++;
  }

  /** Adds a hash to the table, and returns whether it was new. */
  #see(hash: number): boolean {
    const place = Math.imul(hash, MULTIPLIER) >>> (32 - this.#seenBits);
    const seen = this.#seen[place >>> 3] ?? 0;
    const bit = 1 << (place & 7);
    this.#seen[place >>> 3] = seen | bit;
    return (seen & bit) === 0;
  }
}

function tableOf(bits: number): Uint8Array {
  return new Uint8Array(2 ** (bits - 3));
}

/** The index of the last of the plain bytes that begin at `start`. */
function lastPlain(piece: Uint8Array, start: number): number {
  let end = start + 1;
  while (end < piece.length && IS_PLAIN[piece[end] ?? 0] === 1) end++;
  return end - 1;
}
