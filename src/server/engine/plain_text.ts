/**
 * Long ASCII messages without control characters. A JSON string in such a message is valid if its escapes are, whatever its
 * length, so it need not become a JavaScript string to be checked and passed on: most of the work for a large message. The
 * engine finds out while it removes the mask of a message, delivers it with its long strings cut, and keeps its bytes for the
 * receiver.
 */
import type { Buffer } from "node:buffer";
import { MAX_PENDING_BYTES } from "../limits.ts";
import {
  MIN_SHORTENED_LENGTH,
  shortenBetween,
  shortenStrings,
  type ShortText,
  type TextSource,
} from "../short_json.ts";
import { giveBuffer, writeBefore } from "./buffers.ts";
import type { TextScan } from "./text_scan.ts";

/** Shorter messages are delivered whole: a string costs less than to search them and hold a buffer. */
const MIN_PLAIN_BYTES = 256 * 1024;
/** The same for messages that were scanned while they arrived. No message is as long before admission. */
export const MIN_SCANNED_BYTES = MAX_PENDING_BYTES;
/** Shorter texts are not scanned: they are parsed whole. */
export const MIN_SCANNED_TEXT_BYTES = MIN_SHORTENED_LENGTH;
/** The beginnings of an Engine.IO packet that is a Socket.IO event or ack of our namespace, by which messages are relayed. */
const RELAYED = ["42/smcp,", "43/smcp,"];
/** The part of a plain message that its bytes do not tell. */
interface PlainRange {
  readonly start: number;
  readonly end: number;
  /** Whether its strings have escapes; `false` by default. */
  readonly hasEscapes?: boolean;
}

/** Bytes of a message. They are released when they were written to their receiver. */
export class PlainBytes {
  readonly #buffer: Buffer;
  readonly #start: number;
  readonly length: number;
  readonly hasEscapes: boolean;
  #isReleased = false;

  constructor(buffer: Buffer, { start, end, hasEscapes = false }: PlainRange) {
    this.#buffer = buffer;
    this.#start = start;
    this.length = end - start;
    this.hasEscapes = hasEscapes;
  }

  /** The same without the first `count` bytes. Use only one of both afterwards. */
  from(count: number): PlainBytes {
    const start = this.#start + count;
    const end = this.#start + this.length;
    return new PlainBytes(this.#buffer, { start, end, hasEscapes: this.hasEscapes });
  }

  /** The bytes, until they are released. */
  get view(): Buffer {
    if (this.#isReleased) throw new TypeError("Cannot read a message: its bytes are released");
    return this.#buffer.subarray(this.#start, this.#start + this.length);
  }

  toString(): string {
    return this.view.toString("latin1");
  }

  /**
   * Returns the bytes behind `head`, which takes the place of what stands before them in the buffer; `undefined` when there
   * is too little room for it.
   */
  behind(head: Uint8Array): Buffer | undefined {
    if (this.#isReleased) throw new TypeError("Cannot read a message: its bytes are released");
    const start = this.#start;
    return writeBefore({ buffer: this.#buffer, start, end: start + this.length }, head);
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
/** What is known of the text that is being delivered. */
let currentScanned: TextScan | undefined;

/** The bytes of the Socket.IO packet that is being delivered with its strings cut; `undefined` for any other. */
export function currentBytes(): PlainBytes | undefined {
  return current;
}

/** What is known of the Socket.IO packet that is being delivered as this text; `undefined` when it was not scanned. */
export function currentScan({ length }: TextSource): TextScan | undefined {
  return currentScanned?.length === length ? currentScanned : undefined;
}

/** Delivers a plain text whose Socket.IO packet was scanned. */
export function deliverScanned<T>(scan: TextScan, deliver: () => T): T {
  currentScanned = scan;
  try {
    return deliver();
  } finally {
    currentScanned = undefined;
  }
}

/**
 * Delivers a plain message, with which the buffer begins, with its strings cut, if it is long enough and to be relayed. The
 * buffer of a message that was delivered belongs to {@linkcode currentBytes}.
 */
export function deliverShort(
  buffer: Buffer,
  { end, scan }: { readonly end: number; readonly scan?: TextScan | undefined },
  deliver: (short: string) => void,
): boolean {
  const minBytes = scan === undefined ? MIN_PLAIN_BYTES : MIN_SCANNED_BYTES;
  if (end < minBytes || !RELAYED.includes(buffer.toString("latin1", 0, RELAYED[0]?.length))) {
    return false;
  }
  // The buffer may be longer than the message.
  const message = buffer.subarray(0, end);
  const source = { length: end, slice: (from: number, to?: number) => message.toString("latin1", from, to) };
  const short = scan === undefined ? shortenStrings(source) : shortenScanned(source, scan);
  if (short === undefined) return false;
  current = new PlainBytes(buffer, { start: 1, end, hasEscapes: short.hasEscapes });
  try {
    deliver(short.text);
  } finally {
    current = undefined;
  }
  return true;
}

/** Cuts the long strings of a text that was scanned; `undefined` when that is not possible. */
export function shortenScanned(source: TextSource, { quotes, hasEscapes }: TextScan): ShortText | undefined {
  return quotes && shortenBetween(source, { quotes, hasEscapes });
}
