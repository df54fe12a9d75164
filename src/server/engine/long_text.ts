/**
 * Long Socket.IO packets that are passed on. A JSON string is valid if its escapes are, whatever its length, so it need not
 * become a JavaScript string to be checked: that would be most of the work for a large message. Such a packet is parsed with
 * its long strings cut, and its bytes go to the receiver as they came.
 */
import { Buffer } from "node:buffer";
import { MAX_REQUEST_ID_LENGTH } from "../../protocol/errors.ts";
import { type Frame, MESSAGE_TYPE, writeBefore } from "./frame_writer.ts";
import { decodeText } from "./masking.ts";
import type { TextScan } from "./text_scan.ts";

/** Shorter texts are parsed whole: that is fast enough. */
export const MIN_CUT_BYTES = 8 * 1024;
/** Strings up to this length are kept whole: the longest that the Server reads is a request id, of six bytes a character at most. */
const KEPT_BYTES = 6 * MAX_REQUEST_ID_LENGTH;
/** The content of a JSON string, up to its quote or to an escape that does not end. */
const STRING_CONTENT = /[^"\\]*(?:\\(?:[^u]|u.{4})[^"\\]*)*/y;
/** The beginnings of an Engine.IO packet that is a Socket.IO event or ack of our namespace, by which messages are relayed. */
const RELAYED = ["42/smcp,", "43/smcp,"];
const NOTHING = Buffer.alloc(0);

/** What is known of the bytes. */
type Scanned = Pick<TextScan, "hasEscapes" | "isAscii" | "quotes">;

/** A message, without the type of the Engine.IO packet. */
export class RelayedText {
  readonly hasEscapes: boolean;
  #bytes: Buffer;
  #short: string;

  private constructor(bytes: Buffer, { short, hasEscapes }: {
    readonly short: string;
    readonly hasEscapes: boolean;
  }) {
    this.#bytes = bytes;
    this.#short = short;
    this.hasEscapes = hasEscapes;
  }

  /**
   * Cuts an Engine.IO packet in UTF-8, which is in a buffer of `takeBuffer()`.
   *
   * @return `undefined` for a packet that is not relayed, is not UTF-8, or has invalid strings or too many.
   */
  static cut(packet: Buffer, scan: Scanned): RelayedText | undefined {
    if (!RELAYED.includes(packet.toString("latin1", 0, RELAYED[0]?.length))) return undefined;
    if (!scan.isAscii && decodeText(packet) === undefined) return undefined;
    const short = cutStrings(packet, scan.quotes);
    if (short === undefined) return undefined;
    return new RelayedText(packet.subarray(MESSAGE_TYPE.length), { short, hasEscapes: scan.hasEscapes });
  }

  /** The text with its long strings cut: it is valid JSON exactly if the whole is, and has the same structure. */
  get short(): string {
    return this.#short;
  }

  get byteLength(): number {
    return this.#bytes.length;
  }

  toString(): string {
    return this.#bytes.toString();
  }

  /** Forgets the first bytes, and the short text: the rest may wait for its receiver. */
  dropFront(count: number): this {
    this.#bytes = this.#bytes.subarray(count);
    this.#short = "";
    return this;
  }

  /**
   * Builds the frame of a Socket.IO packet with this JSON behind `head`, which takes the place of what came before it. The
   * bytes are those of the frame now, whose writer gives them back.
   */
  toFrame(head: string): Frame {
    const { buffer, byteOffset, length } = this.#bytes;
    this.#bytes = NOTHING;
    const before = Buffer.from(buffer, 0, byteOffset);
    const beginning = MESSAGE_TYPE + head;
    const start = writeBefore(before, byteOffset, { beginning, length: beginning.length + length });
    return [Buffer.from(buffer, start, byteOffset - start + length)];
  }
}

function cutStrings(packet: Buffer, quotes: readonly number[] | undefined): string | undefined {
  if (quotes === undefined || quotes.length % 2 !== 0) return undefined;
  let text = "";
  let copied = MESSAGE_TYPE.length;
  for (let index = 0; index < quotes.length; index += 2) {
    const [opening = 0, closing = 0] = [quotes[index], quotes[index + 1]];
    if (closing - opening - 1 <= KEPT_BYTES) continue;
    text += packet.toString("utf8", copied, endOfKept(packet, opening + 1));
    copied = closing;
  }
  return text + packet.toString("utf8", copied);
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
