/**
 * Long Socket.IO packets that are passed on. A JSON string is valid if its escapes are, whatever its length, so it need not
 * become a JavaScript string to be checked: that would be most of the work for a large message. Such a packet is parsed with
 * its long strings cut, and its bytes go to the receiver as they came.
 */
import { Buffer } from "node:buffer";
import { MAX_REQUEST_ID_LENGTH } from "../../protocol/errors.ts";
import { FRONT_BYTES, giveBuffer } from "./buffers.ts";
import { decodeText } from "./masking.ts";
import type { TextScan } from "./text_scan.ts";

/** Shorter texts are parsed whole: that is fast enough. */
export const MIN_CUT_BYTES = 8 * 1024;
/** Shorter texts are copied into the frame: many of them are written at once then. */
const MIN_SEPARATE_BYTES = 32 * 1024;
/** Strings up to this length are kept whole: the longest that the Server reads is a request id, of six bytes a character at most. */
const KEPT_BYTES = 6 * MAX_REQUEST_ID_LENGTH;
/** The content of a JSON string, up to its quote or to an escape that does not end. */
const STRING_CONTENT = /[^"\\]*(?:\\(?:[^u]|u.{4})[^"\\]*)*/y;
/** The beginnings of an Engine.IO packet that is a Socket.IO event or ack of our namespace, by which messages are relayed. */
const RELAYED = ["42/smcp,", "43/smcp,"];
const TYPE_LENGTH = 1;

/** What is known of the bytes. */
type Scanned = Pick<TextScan, "hasEscapes" | "isAscii" | "quotes">;

/** A message, without the type of the Engine.IO packet. Its buffer is used again after `release()`. */
export class RelayedText {
  readonly hasEscapes: boolean;
  readonly #buffer: Buffer;
  readonly #encoding: "latin1" | "utf8";
  readonly #end: number;
  #start = TYPE_LENGTH;
  #short: string;
  #isReleased = false;

  private constructor(buffer: Buffer, { short, end, scan }: {
    readonly short: string;
    readonly end: number;
    readonly scan: Scanned;
  }) {
    this.#short = short;
    this.hasEscapes = scan.hasEscapes;
    this.#buffer = buffer;
    this.#encoding = encodingOf(scan);
    this.#end = end;
  }

  /**
   * Cuts an Engine.IO packet in UTF-8, with which a buffer of `takeBuffer()` begins.
   *
   * @return `undefined` for a packet that is not relayed, is not UTF-8, or has invalid strings or too many: the buffer stays
   * the caller's.
   */
  static cut(buffer: Buffer, { end, scan }: { readonly end: number; readonly scan: Scanned }):
    | RelayedText
    | undefined {
    if (!RELAYED.includes(buffer.toString("latin1", 0, RELAYED[0]?.length))) return undefined;
    if (!scan.isAscii && decodeText(buffer, { start: 0, end, isAscii: false }) === undefined) {
      return undefined;
    }
    const short = cutStrings(buffer, { start: TYPE_LENGTH, end, scan });
    return short === undefined ? undefined : new RelayedText(buffer, { short, end, scan });
  }

  /** The text with its long strings cut: it is valid JSON exactly if the whole is, and has the same structure. */
  get short(): string {
    return this.#short;
  }

  /** In bytes. */
  get length(): number {
    return this.#end - this.#start;
  }

  /** The bytes, until they are released. */
  get view(): Buffer {
    if (this.#isReleased) throw new TypeError("Cannot read a message: its bytes are released");
    return this.#buffer.subarray(this.#start, this.#end);
  }

  toString(): string {
    return this.view.toString(this.#encoding);
  }

  /** Forgets the first bytes, and the short text: the rest may wait for its receiver. */
  dropFront(count: number): this {
    this.#start += count;
    this.#short = "";
    return this;
  }

  /**
   * Returns the bytes behind `head`, which takes the place of what stands before them in the buffer; `undefined` when there
   * is too little room for it.
   */
  behind(head: Uint8Array): Buffer | undefined {
    const { view } = this;
    if (head.length > FRONT_BYTES + this.#start) return undefined;
    const whole = Buffer.from(view.buffer, view.byteOffset - head.length, head.length + view.length);
    whole.set(head);
    return whole;
  }

  /** Lets others use the buffer. A text that is dropped need not be released, but its buffer is lost then. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    giveBuffer(this.#buffer);
  }
}

/** A Socket.IO packet on its way to a receiver: what stands before the JSON, in ASCII, and the JSON. */
export class LongPacket {
  readonly head: string;
  readonly json: RelayedText;

  constructor(head: string, json: RelayedText) {
    this.head = head;
    this.json = json;
  }

  get byteLength(): number {
    return this.head.length + this.json.length;
  }

  /** The bytes that are written behind the frame, and released then; `undefined` for those that are copied to the frame. */
  get bytes(): RelayedText | undefined {
    return this.json.length < MIN_SEPARATE_BYTES ? undefined : this.json;
  }

  toString(): string {
    return this.head + this.json;
  }
}

interface CutOptions {
  readonly start: number;
  readonly end: number;
  readonly scan: Scanned;
}

function cutStrings(bytes: Buffer, { start, end, scan }: CutOptions): string | undefined {
  const { quotes } = scan;
  if (quotes === undefined || quotes.length % 2 !== 0) return undefined;
  const encoding = encodingOf(scan);
  let text = "";
  let copied = start;
  for (let index = 0; index < quotes.length; index += 2) {
    const [opening = 0, closing = 0] = [quotes[index], quotes[index + 1]];
    if (closing - opening - 1 <= KEPT_BYTES) continue;
    text += bytes.toString(encoding, copied, endOfKept(bytes, opening + 1));
    copied = closing;
  }
  return text + bytes.toString(encoding, copied, end);
}

/** Where the beginning of a long string ends: neither within an escape nor within a character. */
function endOfKept(bytes: Buffer, start: number): number {
  const kept = bytes.toString("latin1", start, start + KEPT_BYTES - 1);
  STRING_CONTENT.lastIndex = 0;
  STRING_CONTENT.test(kept);
  let end = start + STRING_CONTENT.lastIndex;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

function encodingOf({ isAscii }: Scanned): "latin1" | "utf8" {
  return isAscii ? "latin1" : "utf8";
}
