/**
 * Long ASCII messages without control characters. A JSON string in such a message is valid if its escapes are, whatever its
 * length, so it need not become a JavaScript string to be checked and passed on: most of the work for a large message. The
 * engine finds out while it removes the mask of a message, delivers it with its long strings cut, and keeps its bytes for the
 * receiver.
 */
import type { Buffer } from "node:buffer";
import { giveBuffer } from "./buffers.ts";

/** Strings up to this length are delivered whole, since the members that the Server reads are shorter. */
const KEPT_LENGTH = 2_048;
/** A message with more quotes is delivered whole. */
const MAX_QUOTES = 4_096;
/** Shorter messages are delivered whole: a string costs less than to hold a buffer. None is as long before admission. */
const MIN_PLAIN_BYTES = 256 * 1024;
/** The beginnings of an Engine.IO packet that is a Socket.IO event or ack of our namespace, by which messages are relayed. */
const RELAYED = ["42/smcp,", "43/smcp,"];
/** How much is searched at a time. */
const PIECE_BYTES = 32 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The characters of an escape with a code: `\u0000`. */
const CODE_ESCAPE_LENGTH = 6;
const CODE_ESCAPE = /^\\u[\da-f]{4}$/i;
/** All other escapes have two characters. */
const SHORT_ESCAPE_LENGTH = 2;
const IS_ESCAPED = new Uint8Array(256);
for (const character of '"\\/bfnrt') IS_ESCAPED[character.charCodeAt(0)] = 1;

/** The part of a plain message that its bytes do not tell. */
interface PlainRange {
  readonly start: number;
  readonly end: number;
  /** The number of escapes in its strings. */
  readonly escapes?: number;
}

/** Bytes of a message. They are released when they were written to their receiver. */
export class PlainBytes {
  readonly #buffer: Buffer;
  readonly #start: number;
  readonly length: number;
  /** The number of escapes in its strings. */
  readonly escapes: number;
  #isReleased = false;

  constructor(buffer: Buffer, { start, end, escapes = 0 }: PlainRange) {
    this.#buffer = buffer;
    this.#start = start;
    this.length = end - start;
    this.escapes = escapes;
  }

  /** The same without the first `count` bytes. Use only one of both afterwards. */
  from(count: number): PlainBytes {
    const start = this.#start + count;
    return new PlainBytes(this.#buffer, { start, end: this.#start + this.length, escapes: this.escapes });
  }

  /** The bytes, until they are released. */
  get view(): Buffer {
    if (this.#isReleased) throw new TypeError("Cannot read a message: its bytes are released");
    return this.#buffer.subarray(this.#start, this.#start + this.length);
  }

  toString(): string {
    return this.view.toString("latin1");
  }

  /** Lets others use the buffer. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    giveBuffer(this.#buffer);
  }
}

/** The bytes of the message that is being delivered. */
let current: PlainBytes | undefined;

/** The bytes of the Socket.IO packet that is being delivered with its strings cut; `undefined` for any other. */
export function currentBytes(): PlainBytes | undefined {
  return current;
}

/**
 * Delivers a plain message with its strings cut, if it is long enough and to be relayed.
 *
 * @param buffer Begins with the message.
 * @return Whether it was delivered. The buffer belongs to {@linkcode currentBytes} then.
 */
export function deliverShort(buffer: Buffer, end: number, deliver: (short: string) => void): boolean {
  if (end < MIN_PLAIN_BYTES || !RELAYED.includes(buffer.toString("latin1", 0, RELAYED[0]?.length))) {
    return false;
  }
  const short = shortenStrings(buffer.subarray(0, end));
  if (short === undefined) return false;
  current = new PlainBytes(buffer, { start: 1, end, escapes: short.escapes });
  try {
    deliver(short.text);
  } finally {
    current = undefined;
  }
  return true;
}

/** A plain text whose long strings are cut. */
export interface ShortText {
  readonly text: string;
  /** The number of escapes in the whole strings. */
  readonly escapes: number;
}

/**
 * Cuts long strings of plain JSON, so that the result is valid exactly if the bytes are, and has the same structure.
 *
 * @return `undefined` for bytes with many strings, with one that does not end, or with an escape that JSON does not have.
 */
export function shortenStrings(bytes: Buffer): ShortText | undefined {
  const cutter = new StringCutter(bytes);
  for (let start = 0; start < bytes.length;) {
    const end = Math.min(start + PIECE_BYTES, bytes.length);
    // To search a short string is far faster than to look at each byte.
    const piece = bytes.toString("latin1", start, end);
    const next = piece.includes("\\") ? cutter.readEscaped(start, end) : cutter.readPlain(piece, start);
    if (next === undefined) return undefined;
    start = next;
  }
  return cutter.finish();
}

/** Cuts the strings of one message. A piece is read up to the index that is returned; `undefined` gives up. */
class StringCutter {
  readonly #bytes: Buffer;
  #text = "";
  #copied = 0;
  #quotes = 0;
  #escapes = 0;
  #isInString = false;
  /** Where the current string is cut if it is longer. */
  #keptEnd = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Reads a piece without escapes. */
  readPlain(piece: string, start: number): number | undefined {
    for (let index = piece.indexOf('"'); index >= 0; index = piece.indexOf('"', index + 1)) {
      if (!this.#readQuote(start + index)) return undefined;
    }
    return start + piece.length;
  }

  /** Reads a piece with escapes, the last of which may end behind it. */
  readEscaped(start: number, end: number): number | undefined {
    const bytes = this.#bytes;
    let index = start;
    while (index < end) {
      const byte = bytes[index];
      if (byte === BACKSLASH) {
        const length = escapeLength(bytes, index);
        if (length === undefined || !this.#isInString) return undefined;
        this.#escapes++;
        // An escape is kept whole.
        if (index < this.#keptEnd && index + length > this.#keptEnd) this.#keptEnd = index + length;
        index += length;
      } else {
        if (byte === QUOTE && !this.#readQuote(index)) return undefined;
        index++;
      }
    }
    return index;
  }

  finish(): ShortText | undefined {
    if (this.#isInString) return undefined;
    return { text: this.#text + this.#bytes.toString("latin1", this.#copied), escapes: this.#escapes };
  }

  #readQuote(position: number): boolean {
    if (this.#isInString && position > this.#keptEnd) {
      this.#text += this.#bytes.toString("latin1", this.#copied, this.#keptEnd);
      this.#copied = position;
    }
    this.#isInString = !this.#isInString;
    this.#keptEnd = position + KEPT_LENGTH;
    return ++this.#quotes <= MAX_QUOTES;
  }
}

/** The length of the escape that begins with this backslash; `undefined` if JSON has no such escape. */
function escapeLength(bytes: Buffer, start: number): number | undefined {
  if (IS_ESCAPED[bytes[start + 1] ?? 0] === 1) return SHORT_ESCAPE_LENGTH;
  const end = start + CODE_ESCAPE_LENGTH;
  return CODE_ESCAPE.test(bytes.toString("latin1", start, end)) ? CODE_ESCAPE_LENGTH : undefined;
}
