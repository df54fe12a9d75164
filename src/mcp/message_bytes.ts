/** The bytes of one message as they come in pieces, bounded in size and in what they will cost as values. */
import { MAX_MESSAGE_DEPTH } from "../protocol/depth.ts";
import { JsonCost, MAX_COST_PER_BYTE } from "../protocol/json_cost.ts";
import type { MessageLimits } from "./limits.ts";

/** The smallest buffer, in bytes. */
const FIRST_CAPACITY = 4_096;
/** How much a large buffer grows at a time, in bytes. */
const MAX_STEP = 1_048_576;
/** The largest buffer that is kept for the next message, in bytes. */
const KEPT_CAPACITY = 262_144;
/** What several messages under way may hold together. */
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

  /** Gives back what was taken. */
  release(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}

/**
 * Collects a message in one growing buffer, so that many small pieces cost no more than their bytes. Too long a
 * message throws a `RangeError` while it comes.
 */
export class MessageBytes {
  readonly #limits: MessageLimits;
  readonly #budget: BufferBudget | undefined;
  #buffer = new Uint8Array(0);
  #length = 0;
  /** Nothing while the message is so short that its cost cannot be over the limit. */
  #cost: JsonCost | undefined;

  constructor(limits: MessageLimits, budget?: BufferBudget) {
    this.#limits = limits;
    this.#budget = budget;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws {RangeError} when the message becomes too long. */
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
   * The whole message; the next one begins.
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
   * The whole message, to be read before anything else is done with this.
   *
   * @throws {RangeError} when it is nested too deep.
   */
  view(): Uint8Array<ArrayBuffer> {
    if (this.#cost === undefined && this.#mayBeDeep()) this.#countAll();
    return this.#buffer.subarray(0, this.#length);
  }

  /** Forgets what came so far. */
  clear(): void {
    if (this.#buffer.length > KEPT_CAPACITY) this.#giveUpBuffer();
    this.#length = 0;
    this.#cost = undefined;
  }

  /** Whether these bytes stand at that place. */
  startsWith(bytes: Uint8Array, offset: number): boolean {
    return offset + bytes.length <= this.#length &&
      bytes.every((byte, index) => this.#buffer[offset + index] === byte);
  }

  /** Takes no more room. */
  close(): void {
    this.#giveUpBuffer();
    this.clear();
  }

  /** Its memory is free at once, not when garbage is collected. */
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

  /** What the message costs with this piece, as far as it is known to matter. */
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

  /** Whether there are as many `[` and `{`, which differ in one bit: far faster than to count the message. */
  #mayBeDeep(): boolean {
    if (this.#length <= MAX_MESSAGE_DEPTH) return false;
    const words = new Uint32Array(this.#buffer.buffer, 0, this.#length >>> 2);
    let openings = this.#length & 3;
    for (let index = 0; index < words.length; index++) {
      const others = ((words[index] ?? 0) | 0x20202020) ^ 0x7b7b7b7b;
      // Any byte of it that is zero
      if (((others - 0x01010101) & ~others & 0x80808080) === 0) continue;
      openings += 4;
      if (openings > MAX_MESSAGE_DEPTH) return true;
    }
    return false;
  }
}

export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

/** A large buffer grows where it is: no copy is made, whose memory would be free when garbage is collected. */
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
