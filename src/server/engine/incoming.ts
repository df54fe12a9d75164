/**
 * What arrives as one Engine.IO message. A message that does not come in one short frame is put together here. What it holds
 * is bounded by what has arrived, never by the length that a frame announces.
 */
import { Buffer } from "node:buffer";
import { CONSTANTS } from "../options/constants.ts";
import type { Holding } from "./budget.ts";
import { giveBuffer, growBuffer } from "./buffers.ts";
import { MIN_CUT_BYTES, RelayedText } from "./long_text.ts";
import { decodeText, unmask } from "./masking.ts";
import { TextScan } from "./text_scan.ts";

/** A Socket.IO packet, or one of its attachments. */
export type Incoming = string | Uint8Array | RelayedText | OversizeText;

/** A text that is larger than the limit, or than the memory that is left. */
export class OversizeText {
  readonly beginning: string;
  readonly sizeBytes: number;

  constructor(beginning: string, sizeBytes: number) {
    this.beginning = beginning;
    this.sizeBytes = sizeBytes;
  }
}

/** The bytes of a message that has arrived whole. */
export function sizeOf(message: Incoming): number {
  if (typeof message === "string") return Buffer.byteLength(message);
  return message instanceof OversizeText ? 0 : message.byteLength;
}

export interface MessageLimits {
  readonly maxPayloadBytes: number;
  /** The largest text that is skipped; a larger one ends the connection. */
  readonly maxSkippedBytes: number;
  /** Counts what is held of a message that is incomplete. */
  readonly memory: Pick<Holding, "hold">;
}

/** How much of a text that is skipped is kept. */
const BEGINNING_BYTES = 1024;
/** The steps in which a buffer grows up to 64 KiB. */
const SMALL_STEP_BYTES = 8 * 1024;

const NOTHING = Buffer.alloc(0);

export class PartialMessage {
  readonly #isText: boolean;
  readonly #limits: MessageLimits;
  /** The lengths of all frames so far. */
  #sizeBytes = 0;
  #isLastFrame = false;
  #isSkipped = false;
  /** `undefined` for messages that are not passed on. */
  #scan: TextScan | undefined;
  #buffer: Buffer = NOTHING;
  #filledBytes = 0;

  constructor(isText: boolean, limits: MessageLimits) {
    this.#isText = isText;
    this.#limits = limits;
  }

  /** Begins a frame, and returns whether the message may be as large as it is then. */
  addFrame({ length, isFinal }: { readonly length: number; readonly isFinal: boolean }): boolean {
    if (this.#isText && this.#sizeBytes === 0 && length >= MIN_CUT_BYTES) this.#scan = TextScan.begin();
    this.#sizeBytes += length;
    this.#isLastFrame = isFinal;
    if (this.#sizeBytes <= this.#limits.maxPayloadBytes) return true;
    return this.#sizeBytes <= this.#limits.maxSkippedBytes && this.#skip();
  }

  /**
   * Copies a part of a frame, without its mask.
   *
   * @return Whether the Server has memory for it, or else for the beginning of a text.
   */
  add(part: Buffer, mask: number): boolean {
    const used = this.#isSkipped ? part.subarray(0, Math.max(0, BEGINNING_BYTES - this.#filledBytes)) : part;
    if (used.length === 0) return true;
    const start = this.#filledBytes;
    const end = start + used.length;
    // Its sender can be answered.
    if (!this.#reserve(end)) return !this.#isSkipped && this.#skip() && this.add(part, mask);
    this.#filledBytes = end;
    const target = this.#buffer;
    if (this.#scan !== undefined) this.#scan.read(used, { target, start, mask });
    else {
      target.set(used, start);
      unmask(target, { start, end, mask });
    }
    return true;
  }

  /**
   * Ends the message, and holds nothing any more.
   *
   * @return What has arrived, a text with the type of the Engine.IO packet; `undefined` for a text that is not UTF-8.
   */
  take(): Buffer | string | RelayedText | OversizeText | undefined {
    const bytes = this.#buffer.subarray(0, this.#filledBytes);
    const relayed = this.#scan && RelayedText.cut(bytes, this.#scan);
    if (relayed !== undefined) this.#buffer = NOTHING;
    const content = relayed ?? (this.#isText ? this.#toText(bytes) : Buffer.from(bytes));
    this.drop();
    return content;
  }

  /** Frees what has arrived. */
  drop(): void {
    giveBuffer(this.#buffer);
    this.#buffer = NOTHING;
    this.#limits.memory.hold(0);
  }

  #toText(bytes: Buffer): string | OversizeText | undefined {
    return this.#isSkipped ? new OversizeText(bytes.toString(), this.#sizeBytes) : decodeText(bytes);
  }

  /** Skips the message if it is text, and frees what has arrived of it, except its beginning. */
  #skip(): boolean {
    if (!this.#isText || this.#isSkipped) return this.#isText;
    this.#isSkipped = true;
    this.#scan = undefined;
    this.#filledBytes = Math.min(this.#filledBytes, BEGINNING_BYTES);
    const arrived = this.#buffer;
    this.#buffer = Buffer.from(arrived.subarray(0, this.#filledBytes));
    giveBuffer(arrived);
    this.#limits.memory.hold(this.#filledBytes);
    return true;
  }

  /**
   * Makes room in the buffer: twice what has arrived, since a peer may announce more than it sends. Only the last frame tells
   * the size of the message: with room for no more than each frame, a message of many small frames would be copied for each
   * of them.
   *
   * @return Whether the Server has memory for it.
   */
  #reserve(bytes: number): boolean {
    if (this.#buffer.length >= bytes) return true;
    const largest = this.#isLastFrame ? this.#sizeBytes : this.#limits.maxPayloadBytes;
    const room = this.#isSkipped ? BEGINNING_BYTES : roomFor(bytes);
    const size = Math.max(bytes, Math.min(largest, room));
    if (!this.#limits.memory.hold(size)) return false;
    this.#buffer = growBuffer(this.#buffer, size);
    return true;
  }
}

/** Pending connections may send up to 64 KiB each, and there may be hundreds of them: small buffers grow in small steps. */
function roomFor(bytes: number): number {
  return bytes >= CONSTANTS.maxPendingBytes.value
    ? 2 * bytes
    : Math.ceil(bytes / SMALL_STEP_BYTES) * SMALL_STEP_BYTES;
}
