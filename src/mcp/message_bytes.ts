/** Collects the bytes of one message from chunks, bounded in size and in the cost of its values. */
import { MAX_MESSAGE_DEPTH } from "../protocol/depth.ts";
import { JsonCost, MAX_COST_PER_BYTE } from "../protocol/json_cost.ts";
import type { MessageLimits } from "./limits.ts";

/** The smallest buffer, in bytes. */
const FIRST_CAPACITY = 4_096;
/** The growth step of a large buffer, in bytes. */
const MAX_STEP = 1_048_576;
/** The largest buffer that is kept for the next message, in bytes. */
const KEPT_CAPACITY = 262_144;
/** Limits the memory of several incomplete messages together. */
export class BufferBudget {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** @throws {RangeError} when there is no room. */
  take(bytes: number): void {
    if (this.#usedBytes + bytes > this.#maxBytes) {
      throw new RangeError(`Cannot read messages of more than ${this.#maxBytes} bytes at the same time`);
    }
    this.#usedBytes += bytes;
  }

  /** Releases bytes that were taken. */
  release(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}

/**
 * Collects a message in one growing buffer, so that many small chunks cost no more than their bytes. Throws a `RangeError`
 * as soon as the message exceeds a limit.
 */
export class MessageBytes {
  readonly #limits: MessageLimits;
  readonly #budget: BufferBudget | undefined;
  #buffer = new Uint8Array(0);
  #length = 0;
  /** `undefined` while the message is too short to exceed the limit of values. */
  #cost: JsonCost | undefined;

  constructor(limits: MessageLimits, budget?: BufferBudget) {
    this.#limits = limits;
    this.#budget = budget;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws {RangeError} when the message exceeds a limit. */
  push(piece: Uint8Array): void {
    const { maxMessageBytes, maxMessageValues } = this.#limits;
    const length = this.#length + piece.length;
    if (length > maxMessageBytes) {
      throw new RangeError(`Cannot read a message of more than ${maxMessageBytes} bytes`);
    }
    if (this.#costOf(piece) > maxMessageValues) {
      throw new RangeError(`Cannot read a message of more than ${maxMessageValues} values`);
    }
    this.#reserve(length);
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /**
   * Returns the whole message, and begins the next one.
   *
   * @throws {RangeError} when it is nested too deep.
   */
  take(): Uint8Array<ArrayBuffer> {
    const isKept = this.#buffer.length <= KEPT_CAPACITY;
    const bytes = isKept ? this.view().slice() : this.view();
    if (!isKept) this.#handOverBuffer();
    this.clear();
    return bytes;
  }

  /**
   * Returns a view of the whole message, which is valid until the next call of another method.
   *
   * @throws {RangeError} when it is nested too deep.
   */
  view(): Uint8Array<ArrayBuffer> {
    if (this.#cost === undefined && this.#mayBeDeep()) this.#countAll();
    return this.#buffer.subarray(0, this.#length);
  }

  /** Drops the bytes of the current message. */
  clear(): void {
    if (this.#buffer.length > KEPT_CAPACITY) this.#giveUpBuffer();
    this.#length = 0;
    this.#cost = undefined;
  }

  /** Drops the bytes from an offset on. They still count toward the limit of values. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** Returns whether the message has these bytes at the offset. */
  startsWith(bytes: Uint8Array, offset: number): boolean {
    return offset + bytes.length <= this.#length &&
      bytes.every((byte, index) => this.#buffer[offset + index] === byte);
  }

  /** Frees the buffer. */
  close(): void {
    this.#giveUpBuffer();
    this.clear();
  }

  /** Frees the memory at once, not at the next garbage collection. */
  #giveUpBuffer(): void {
    const { buffer } = this.#buffer;
    this.#handOverBuffer();
    buffer.transfer(0);
  }

  #handOverBuffer(): void {
    this.#budget?.release(this.#buffer.length);
    this.#buffer = new Uint8Array(0);
  }

  #reserve(length: number): void {
    const before = this.#buffer.length;
    if (length <= before) return;
    const { maxMessageBytes } = this.#limits;
    const step = Math.min(Math.max(FIRST_CAPACITY, before), MAX_STEP);
    const capacity = Math.max(length, Math.min(maxMessageBytes, before + step));
    this.#budget?.take(capacity - before);
    this.#buffer = new Uint8Array(grow(this.#buffer.buffer, capacity, maxMessageBytes), 0, capacity);
  }

  /** Returns the cost of the message with this chunk; 0 while it cannot exceed the limit. */
  #costOf(piece: Uint8Array): number {
    const mayMatter = (this.#length + piece.length) * MAX_COST_PER_BYTE > this.#limits.maxMessageValues;
    if (!mayMatter) return 0;
    const cost = this.#cost ?? this.#countAll();
    cost.push(piece);
    return cost.values;
  }

  #countAll(): JsonCost {
    const cost = this.#cost = new JsonCost();
    cost.push(this.#buffer.subarray(0, this.#length));
    return cost;
  }

  /** Returns whether the message has enough `[` and `{` to be nested too deep. Much faster than computing its cost. */
  #mayBeDeep(): boolean {
    if (this.#length <= MAX_MESSAGE_DEPTH) return false;
    const words = new Uint32Array(this.#buffer.buffer, 0, this.#length >>> 2);
    let openings = this.#length & 3;
    for (let index = 0; index < words.length; index++) {
      const others = ((words[index] ?? 0) | 0x20202020) ^ 0x7b7b7b7b;
      // Zero bytes mark `[` and `{`, which differ in one bit.
      if (((others - 0x01010101) & ~others & 0x80808080) === 0) continue;
      openings += 4;
      if (openings > MAX_MESSAGE_DEPTH) return true;
    }
    return false;
  }
}

/** Grows a large buffer in place: the memory of a copy would be free only after a garbage collection. */
function grow(buffer: ArrayBuffer, capacity: number, maxBytes: number): ArrayBuffer {
  if (capacity <= KEPT_CAPACITY) return buffer.transfer(capacity);
  if (buffer.resizable) {
    buffer.resize(capacity);
    return buffer;
  }
  const grown = new ArrayBuffer(capacity, { maxByteLength: maxBytes });
  new Uint8Array(grown).set(new Uint8Array(buffer));
  return grown;
}
