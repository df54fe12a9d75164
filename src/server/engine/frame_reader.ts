/**
 * Reads the frames of a WebSocket client (RFC 6455, section 5) from the chunks of its TCP connection. What it holds is
 * bounded by what has arrived, never by the length that a frame announces, and by the largest message.
 */
import { Buffer, isUtf8 } from "node:buffer";
import { MAX_PENDING_BYTES } from "../limits.ts";
import type { MemoryBudget } from "../memory_budget.ts";
import { giveBuffer, takeBuffer } from "./buffers.ts";
import { INVALID_DATA, isSendable, NO_STATUS, PROTOCOL_ERROR, TOO_BIG, TRY_AGAIN } from "./close_codes.ts";
import type { FrameSink } from "./frame_sink.ts";
import { type Content, type MaskedRange, shiftMask, unmask } from "./masking.ts";
import { deliverScanned, MIN_SCANNED_BYTES, MIN_SCANNED_TEXT_BYTES } from "./plain_text.ts";
import { TextScan } from "./text_scan.ts";

export interface FrameLimits {
  readonly maxPayloadBytes: number;
  /** The largest message that is skipped; a larger one ends the connection. */
  readonly maxSkippedBytes: number;
  /** Counts what is held of incomplete messages. */
  readonly memory: Pick<MemoryBudget, "change" | "hasCapacity">;
}

/** How much of a message that is skipped is kept. */
const BEGINNING_BYTES = 1024;
/** A frame up to this length is read when all of it is there. */
const MAX_WHOLE_BYTES = 4096;
/** The steps in which a buffer grows up to 64 KiB. */
const SMALL_STEP_BYTES = 8 * 1024;
const MAX_CONTROL_BYTES = 125;
const MASK_BYTES = 4;
/** The largest number of a length's upper half: lengths beyond 2^53 - 1 are not exact. */
const MAX_UPPER_LENGTH = 2 ** 21 - 1;

const FINAL_BIT = 0x80;
const RESERVED_BITS = 0x70;
const OPCODE_BITS = 0x0f;
const MASK_BIT = 0x80;
const LENGTH_BITS = 0x7f;
const CONTROL_BIT = 0x08;
const LENGTH_OF_16_BITS = 126;

const CONTINUATION = 0x0;
const TEXT = 0x1;
const BINARY = 0x2;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export class FrameReader {
  readonly #sink: FrameSink;
  readonly #limits: FrameLimits;
  #isEnded = false;
  /** The beginning of a frame that is not there as a whole. */
  #rest: Buffer | undefined;
  #isFinal = false;
  #leftBytes = 0;
  #mask = 0;
  /** The current message: `undefined` between messages. */
  #isText: boolean | undefined;
  #messageBytes = 0;
  #isSkipped = false;
  #isAscii = true;
  #isPlain = true;
  /** `undefined` for short messages, and for those that are not passed on. */
  #scan: TextScan | undefined;
  #buffer: Buffer | undefined;
  #filledBytes = 0;
  /** The size of the buffer as it was counted. */
  #countedBytes = 0;

  constructor(sink: FrameSink, limits: FrameLimits) {
    this.#sink = sink;
    this.#limits = limits;
  }

  /** Reads a chunk, and changes it. */
  push(chunk: Buffer): void {
    const bytes = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    this.#rest = undefined;
    let position = 0;
    while (position < bytes.length && !this.#isEnded) {
      const next = this.#leftBytes > 0 ? this.#readPart(bytes, position) : this.#readFrame(bytes, position);
      if (next === undefined) {
        // A copy: the chunk may be a small part of a large buffer.
        this.#rest = Buffer.from(bytes.subarray(position));
        return;
      }
      position = next;
    }
  }

  /** Reads nothing more, and frees what it holds. */
  end(): void {
    this.#isEnded = true;
    this.#rest = undefined;
    this.#dropMessage();
  }

  /** Reads a frame, or its header if it is long. Returns where it ends; `undefined` when too little is there. */
  #readFrame(bytes: Buffer, start: number): number | undefined {
    const available = bytes.length - start;
    if (available < 2) return undefined;
    const first = bytes[start] ?? 0;
    const second = bytes[start + 1] ?? 0;
    const problem = this.#problemOf(first, second);
    if (problem !== undefined) return this.#fail(PROTOCOL_ERROR, problem);
    const short = second & LENGTH_BITS;
    const lengthBytes = short < LENGTH_OF_16_BITS ? 0 : short === LENGTH_OF_16_BITS ? 2 : 8;
    const payload = start + 2 + lengthBytes + MASK_BYTES;
    if (bytes.length < payload) return undefined;
    const length = lengthBytes === 0 ? short : readLength(bytes, start + 2, lengthBytes);
    const mask = bytes.readInt32LE(payload - MASK_BYTES);
    const isWhole = bytes.length - payload >= length;
    if ((first & CONTROL_BIT) !== 0) {
      return isWhole
        ? this.#readControl(bytes, { opcode: first & OPCODE_BITS, payload, length, mask })
        : undefined;
    }
    if (!isWhole && length <= MAX_WHOLE_BYTES) return undefined;
    return this.#openFrame(bytes, { first, payload, length, mask });
  }

  #problemOf(first: number, second: number): string | undefined {
    const opcode = first & OPCODE_BITS;
    const isFinal = (first & FINAL_BIT) !== 0;
    if ((first & RESERVED_BITS) !== 0) return "reserved bits are set";
    if ((second & MASK_BIT) === 0) return "a frame is not masked";
    if (opcode === CLOSE || opcode === PING || opcode === PONG) {
      if (!isFinal) return "a control frame is fragmented";
      return (second & LENGTH_BITS) > MAX_CONTROL_BYTES ? "a control frame is too long" : undefined;
    }
    if (opcode === CONTINUATION) return this.#isText === undefined ? "nothing to continue" : undefined;
    if (opcode !== TEXT && opcode !== BINARY) return "an unknown opcode";
    return this.#isText === undefined ? undefined : "a message begins within another";
  }

  #openFrame(bytes: Buffer, frame: {
    readonly first: number;
    readonly payload: number;
    readonly length: number;
    readonly mask: number;
  }): number {
    const { first, payload, length, mask } = frame;
    const opcode = first & OPCODE_BITS;
    const isFinal = (first & FINAL_BIT) !== 0;
    const end = payload + length;
    const { maxPayloadBytes } = this.#limits;
    // Nearly all messages are one short frame.
    if (isFinal && opcode === TEXT && end <= bytes.length && length <= maxPayloadBytes) {
      const isDelivered = this.#readText(bytes, { start: payload, end, mask });
      return isDelivered ? end : bytes.length;
    }
    if (opcode !== CONTINUATION) this.#isText = opcode === TEXT;
    if (opcode === TEXT && length >= MIN_SCANNED_BYTES) this.#scan = TextScan.begin();
    this.#messageBytes += length;
    if (this.#messageBytes > maxPayloadBytes && !this.#skip()) return bytes.length;
    this.#isFinal = isFinal;
    this.#leftBytes = length;
    this.#mask = mask;
    if (length === 0) this.#endFrame();
    return payload;
  }

  #readText(bytes: Buffer, { start, end, mask }: MaskedRange): boolean {
    const scan = end - start < MIN_SCANNED_TEXT_BYTES ? undefined : TextScan.begin();
    if (scan === undefined) {
      const { isAscii } = unmask(bytes, { start, end, mask });
      return this.#deliverText(bytes, { start, end, isAscii });
    }
    // What is found counts from the Socket.IO packet, which follows the type of the Engine.IO packet.
    const type = unmask(bytes, { start, end: start + 1, mask });
    const packet = bytes.subarray(start + 1, end);
    scan.read(packet, { target: packet, start: 0, mask: shiftMask(mask, 1) });
    const { isAscii, isPlain } = scan.content;
    const text = { start, end, isAscii: isAscii && type.isAscii };
    return isPlain
      ? deliverScanned(scan, () => this.#deliverText(bytes, text))
      : this.#deliverText(bytes, text);
  }

  /** Skips the current message, if it is text and not far too large. */
  #skip(): boolean {
    if (this.#isText !== true || this.#messageBytes > this.#limits.maxSkippedBytes) {
      this.#fail(TOO_BIG, "a message is too large");
      return false;
    }
    if (!this.#isSkipped) this.#keepBeginning();
    this.#isSkipped = true;
    return true;
  }

  /** Skips a text for which the Server has no memory, so that its sender can be answered. */
  #skipLate(part: Buffer): boolean {
    if (this.#isText !== true || this.#isSkipped) return false;
    this.#keepBeginning();
    this.#isSkipped = true;
    return this.#append(part);
  }

  /** Frees what has arrived of a message that is skipped, except its beginning. */
  #keepBeginning(): void {
    this.#scan = undefined;
    const arrived = this.#buffer;
    if (arrived === undefined) return;
    this.#filledBytes = Math.min(this.#filledBytes, BEGINNING_BYTES);
    this.#buffer = Buffer.from(arrived.subarray(0, this.#filledBytes));
    this.#count(this.#filledBytes);
    giveBuffer(arrived);
  }

  #readPart(bytes: Buffer, start: number): number {
    const end = Math.min(bytes.length, start + this.#leftBytes);
    if (!this.#append(bytes.subarray(start, end))) {
      return this.#fail(TRY_AGAIN, "too many large messages are on their way");
    }
    this.#mask = shiftMask(this.#mask, end - start);
    this.#leftBytes -= end - start;
    if (this.#leftBytes === 0) this.#endFrame();
    return end;
  }

  #append(part: Buffer): boolean {
    const used = this.#isSkipped ? part.subarray(0, Math.max(0, BEGINNING_BYTES - this.#filledBytes)) : part;
    if (used.length === 0) return true;
    const start = this.#filledBytes;
    const end = start + used.length;
    const buffer = this.#reserve(end);
    if (buffer === undefined) return this.#skipLate(part);
    const { isAscii, isPlain } = this.#copyTo(buffer, used);
    this.#isAscii &&= isAscii;
    this.#isPlain &&= isPlain;
    this.#filledBytes = end;
    return true;
  }

  /** Copies a part behind what has arrived, without its mask. */
  #copyTo(buffer: Buffer, part: Buffer): Content {
    const start = this.#filledBytes;
    if (this.#scan !== undefined) {
      this.#scan.read(part, { target: buffer, start, mask: this.#mask });
      return this.#scan.content;
    }
    buffer.set(part, start);
    return unmask(buffer, { start, end: start + part.length, mask: this.#mask });
  }

  /**
   * Makes room in the buffer of the message: twice what has arrived, since a peer may announce more than it sends. Only the
   * last frame tells the size of the message: with room for no more than each frame, a message of many small frames would
   * be copied for each of them.
   *
   * @return `undefined` when the Server has no memory for it.
   */
  #reserve(bytes: number): Buffer | undefined {
    const old = this.#buffer;
    if (old !== undefined && old.length >= bytes) return old;
    const largest = this.#isFinal ? this.#filledBytes + this.#leftBytes : this.#limits.maxPayloadBytes;
    const room = this.#isSkipped ? BEGINNING_BYTES : roomFor(bytes);
    const size = Math.max(bytes, Math.min(largest, room));
    if (!this.#limits.memory.hasCapacity(size)) return undefined;
    this.#count(size);
    const buffer = takeBuffer(size);
    if (old !== undefined) {
      buffer.set(old.subarray(0, this.#filledBytes));
      giveBuffer(old);
    }
    return this.#buffer = buffer;
  }

  #count(bytes: number): void {
    if (bytes === this.#countedBytes) return;
    this.#limits.memory.change(bytes - this.#countedBytes);
    this.#countedBytes = bytes;
  }

  #endFrame(): void {
    if (!this.#isFinal) return;
    const isText = this.#isText === true;
    const buffer = this.#buffer ?? Buffer.alloc(0);
    const end = this.#filledBytes;
    const { isSkipped, isAscii, isPlain, sizeBytes, scan } = this.#takeState();
    if (isText && isPlain && !isSkipped && this.#sink.onPlainText(buffer, { end, scan })) return;
    if (isSkipped) this.#sink.onOversize(utf8.decode(buffer.subarray(0, end)), sizeBytes);
    else if (isText) this.#deliverText(buffer, { start: 0, end, isAscii });
    else this.#sink.onBinary(Buffer.from(buffer.subarray(0, end)));
    giveBuffer(buffer);
  }

  /** Begins the next message before this one is delivered. */
  #takeState() {
    const state = {
      isSkipped: this.#isSkipped,
      isAscii: this.#isAscii,
      isPlain: this.#isPlain,
      sizeBytes: this.#messageBytes,
      scan: this.#scan,
    };
    this.#buffer = undefined;
    this.#dropMessage();
    return state;
  }

  #dropMessage(): void {
    if (this.#buffer !== undefined) giveBuffer(this.#buffer);
    this.#buffer = undefined;
    this.#isText = undefined;
    this.#isSkipped = false;
    this.#isAscii = this.#isPlain = true;
    this.#scan = undefined;
    this.#messageBytes = this.#filledBytes = 0;
    this.#count(0);
  }

  #deliverText(bytes: Buffer, text: {
    readonly start: number;
    readonly end: number;
    readonly isAscii: boolean;
  }): boolean {
    const { start, end, isAscii } = text;
    if (isAscii) {
      this.#sink.onText(bytes.toString("latin1", start, end));
      return true;
    }
    const encoded = bytes.subarray(start, end);
    if (isUtf8(encoded)) {
      this.#sink.onText(utf8.decode(encoded));
      return true;
    }
    this.#fail(INVALID_DATA, "a text is not UTF-8");
    return false;
  }

  #readControl(bytes: Buffer, frame: {
    readonly opcode: number;
    readonly payload: number;
    readonly length: number;
    readonly mask: number;
  }): number {
    const { opcode, payload, length, mask } = frame;
    const end = payload + length;
    unmask(bytes, { start: payload, end, mask });
    const content = bytes.subarray(payload, end);
    if (opcode === PING) this.#sink.onPing(Buffer.from(content));
    if (opcode === CLOSE) this.#readClose(content);
    return end;
  }

  #readClose(content: Buffer): void {
    if (content.length === 0) return this.#close(NO_STATUS, "");
    const code = content.length < 2 ? 0 : content.readUInt16BE(0);
    const reason = content.subarray(2);
    if (!isSendable(code)) return void this.#fail(PROTOCOL_ERROR, "an invalid close code");
    if (!isUtf8(reason)) return void this.#fail(INVALID_DATA, "a close reason is not UTF-8");
    this.#close(code, reason.toString("utf8"));
  }

  #close(code: number, reason: string): void {
    this.end();
    this.#sink.onClose(code, reason);
  }

  /** Returns a position behind everything. */
  #fail(code: number, message: string): number {
    this.end();
    this.#sink.onFailure(code, message);
    return Infinity;
  }
}

/** Pending connections may send up to 64 KiB each, and there may be hundreds of them: small buffers grow in small steps. */
function roomFor(bytes: number): number {
  return bytes >= MAX_PENDING_BYTES ? 2 * bytes : Math.ceil(bytes / SMALL_STEP_BYTES) * SMALL_STEP_BYTES;
}

function readLength(bytes: Buffer, start: number, size: number): number {
  if (size === 2) return bytes.readUInt16BE(start);
  const upper = bytes.readUInt32BE(start);
  return upper > MAX_UPPER_LENGTH ? Infinity : upper * 2 ** 32 + bytes.readUInt32BE(start + 4);
}
