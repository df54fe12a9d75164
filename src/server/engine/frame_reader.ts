/** Reads the frames of a WebSocket client (RFC 6455, section 5) from the chunks of its TCP connection. */
import { Buffer, isUtf8 } from "node:buffer";
import {
  ABNORMAL,
  INVALID_DATA,
  MESSAGE_TYPE,
  NO_STATUS,
  PROTOCOL_ERROR,
  TOO_BIG,
  TRY_AGAIN,
} from "./frame_writer.ts";
import { type Incoming, type MessageLimits, OversizeText, PartialMessage } from "./incoming.ts";
import { MIN_CUT_BYTES } from "./long_text.ts";
import { decodeText, shiftMask, unmask } from "./masking.ts";

/** Receives what a peer sends. After `onClose` or `onFailure`, nothing follows. */
export interface FrameSink {
  /** Receives a whole text, the type of the Engine.IO packet first. */
  onText(text: string): void;
  /** Receives an Engine.IO message, without its type. */
  onMessage(message: Incoming): void;
  onPing(payload: Buffer): void;
  onClose(code: number): void;
  /** Receives the code with which to close a peer that broke a rule. */
  onFailure(code: number, message: string): void;
}

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

interface FrameHead {
  readonly opcode: number;
  readonly isFinal: boolean;
  /** Where the payload begins, and its length. */
  readonly payload: number;
  readonly length: number;
  readonly mask: number;
}

export class FrameReader {
  readonly #sink: FrameSink;
  readonly #limits: MessageLimits;
  #isEnded = false;
  /** The beginning of a frame that is not there as a whole. */
  #rest: Buffer | undefined;
  /** The current message, and what is missing of its frame; `undefined` between messages. */
  #message: PartialMessage | undefined;
  #isFinal = false;
  #leftBytes = 0;
  #mask = 0;

  constructor(sink: FrameSink, limits: MessageLimits) {
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
    this.#message?.drop();
    this.#message = undefined;
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
    const frame = {
      opcode: first & OPCODE_BITS,
      isFinal: (first & FINAL_BIT) !== 0,
      payload,
      length,
      mask: bytes.readInt32LE(payload - MASK_BYTES),
    };
    const isWhole = bytes.length - payload >= length;
    if ((first & CONTROL_BIT) !== 0) return isWhole ? this.#readControl(bytes, frame) : undefined;
    const isShortText = isWhole && length < MIN_CUT_BYTES && frame.isFinal && frame.opcode === TEXT;
    return isShortText ? this.#readText(bytes, frame) : this.#openFrame(frame);
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
    if (opcode === CONTINUATION) return this.#message === undefined ? "nothing to continue" : undefined;
    if (opcode !== TEXT && opcode !== BINARY) return "an unknown opcode";
    return this.#message === undefined ? undefined : "a message begins within another";
  }

  /** Reads a text that is one short frame: nearly all messages are. */
  #readText(bytes: Buffer, frame: FrameHead): number {
    const { payload: start, length, mask } = frame;
    if (length > this.#limits.maxPayloadBytes) return this.#openFrame(frame);
    const end = start + length;
    unmask(bytes, { start, end, mask });
    this.#deliverText(decodeText(bytes.subarray(start, end)));
    return end;
  }

  #openFrame({ opcode, isFinal, payload, length, mask }: FrameHead): number {
    const message = this.#message ??= new PartialMessage(opcode === TEXT, this.#limits);
    if (!message.addFrame({ length, isFinal })) return this.#fail(TOO_BIG, "a message is too large");
    this.#isFinal = isFinal;
    this.#leftBytes = length;
    this.#mask = mask;
    if (length === 0) this.#endFrame(message);
    return payload;
  }

  #readPart(bytes: Buffer, start: number): number {
    const end = Math.min(bytes.length, start + this.#leftBytes);
    const message = this.#message;
    if (message?.add(bytes.subarray(start, end), this.#mask) !== true) {
      return this.#fail(TRY_AGAIN, "too many large messages are on their way");
    }
    this.#mask = shiftMask(this.#mask, end - start);
    this.#leftBytes -= end - start;
    if (this.#leftBytes === 0) this.#endFrame(message);
    return end;
  }

  #endFrame(message: PartialMessage): void {
    if (!this.#isFinal) return;
    this.#message = undefined;
    const content = message.take();
    if (content === undefined || typeof content === "string") this.#deliverText(content);
    else if (content instanceof OversizeText) this.#deliverOversize(content);
    else this.#sink.onMessage(content);
  }

  #deliverText(text: string | undefined): void {
    if (text === undefined) this.#fail(INVALID_DATA, "a text is not UTF-8");
    else this.#sink.onText(text);
  }

  #deliverOversize({ beginning, sizeBytes }: OversizeText): void {
    if (!beginning.startsWith(MESSAGE_TYPE)) return void this.#fail(TOO_BIG, "a message is too large");
    this.#sink.onMessage(new OversizeText(beginning.slice(MESSAGE_TYPE.length), sizeBytes));
  }

  #readControl(bytes: Buffer, { opcode, payload, length, mask }: FrameHead): number {
    const end = payload + length;
    unmask(bytes, { start: payload, end, mask });
    const content = bytes.subarray(payload, end);
    if (opcode === PING) this.#sink.onPing(Buffer.from(content));
    if (opcode === CLOSE) this.#readClose(content);
    return end;
  }

  #readClose(content: Buffer): void {
    if (content.length === 0) return this.#close(NO_STATUS);
    const code = content.length < 2 ? 0 : content.readUInt16BE(0);
    if (!isSendable(code)) return void this.#fail(PROTOCOL_ERROR, "an invalid close code");
    if (!isUtf8(content.subarray(2))) return void this.#fail(INVALID_DATA, "a close reason is not UTF-8");
    this.#close(code);
  }

  #close(code: number): void {
    this.end();
    this.#sink.onClose(code);
  }

  /** Returns a position behind everything. */
  #fail(code: number, message: string): number {
    this.end();
    this.#sink.onFailure(code, message);
    return Infinity;
  }
}

function readLength(bytes: Buffer, start: number, size: number): number {
  if (size === 2) return bytes.readUInt16BE(start);
  const upper = bytes.readUInt32BE(start);
  return upper > MAX_UPPER_LENGTH ? Infinity : upper * 2 ** 32 + bytes.readUInt32BE(start + 4);
}

/** Whether a peer may send this close code (RFC 6455, section 7.4). */
function isSendable(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== NO_STATUS && code !== ABNORMAL;
}
