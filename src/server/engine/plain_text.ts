/**
 * Long ASCII messages without control characters and backslashes. A JSON string in such a message is valid whatever its
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

/** Bytes of a message. They are released when they were written to their receiver. */
export class PlainBytes {
  readonly #buffer: Buffer;
  readonly #start: number;
  readonly length: number;
  #isReleased = false;

  constructor(buffer: Buffer, { start, end }: { readonly start: number; readonly end: number }) {
    this.#buffer = buffer;
    this.#start = start;
    this.length = end - start;
  }

  /** The same without the first `count` bytes. Use only one of both afterwards. */
  from(count: number): PlainBytes {
    const start = this.#start + count;
    return new PlainBytes(this.#buffer, { start, end: this.#start + this.length });
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
  current = new PlainBytes(buffer, { start: 1, end });
  try {
    deliver(short);
  } finally {
    current = undefined;
  }
  return true;
}

/**
 * Cuts long strings of plain JSON, so that the result is valid exactly if the bytes are, and has the same structure.
 *
 * @return `undefined` for bytes with escapes, with many strings, or with one that does not end.
 */
export function shortenStrings(bytes: Buffer): string | undefined {
  let short = "";
  let copied = 0;
  let quotes = 0;
  let opening: number | undefined;
  for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
    // To search a short string is far faster than to search bytes.
    const piece = bytes.toString("latin1", start, start + PIECE_BYTES);
    if (piece.includes("\\")) return undefined;
    for (let index = piece.indexOf('"'); index >= 0; index = piece.indexOf('"', index + 1)) {
      if (++quotes > MAX_QUOTES) return undefined;
      const position = start + index;
      if (opening !== undefined && position - opening > KEPT_LENGTH) {
        short += bytes.toString("latin1", copied, opening + KEPT_LENGTH);
        copied = position;
      }
      opening = opening === undefined ? position : undefined;
    }
  }
  return opening === undefined ? short + bytes.toString("latin1", copied) : undefined;
}
