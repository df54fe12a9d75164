/** Collects the bytes of one message from chunks, bounded in size and in the cost of its values. */
import { MAX_MESSAGE_DEPTH } from "../json/json.ts";
import { JsonCost, MAX_COST_PER_BYTE } from "../json/cost.ts";
import type { MessageLimits } from "./limits.ts";

const FIRST_CAPACITY = 4_096;
/** The growth step of a large buffer, in bytes. */
const MAX_STEP = 1_048_576;
/** The largest buffer that is kept for the next message, in bytes. */
const KEPT_CAPACITY = 262_144;
/** The bytes that are kept of either end of a message above a limit: its id may be there. */
const KEPT_END_BYTES = 4_096;
/** A message that is so many times larger than allowed is none. */
const MAX_EXCESS = 8;

/** What is left of a message above a limit. */
export interface Oversized {
  readonly flaw: RangeError;
  /** Its beginning and its end, unless it has no end. */
  readonly ends?: Uint8Array;
}

/** The ends of a message that is dropped. */
class Ends {
  readonly flaw: RangeError;
  readonly #head: Uint8Array;
  readonly #tail = new Uint8Array(2 * KEPT_END_BYTES);
  #tailLength = 0;

  constructor(flaw: RangeError, begun: readonly Uint8Array[]) {
    this.flaw = flaw;
    this.#head = Uint8Array.from(begun.flatMap((piece) => [...piece.subarray(0, KEPT_END_BYTES)]));
    for (const piece of begun) this.push(piece);
  }

  push(piece: Uint8Array): void {
    const end = piece.subarray(-KEPT_END_BYTES);
    if (this.#tailLength + end.length > this.#tail.length) {
      this.#tail.copyWithin(0, this.#tailLength - KEPT_END_BYTES, this.#tailLength);
      this.#tailLength = KEPT_END_BYTES;
    }
    this.#tail.set(end, this.#tailLength);
    this.#tailLength += end.length;
  }

  get bytes(): Uint8Array {
    return Uint8Array.from([...this.#head, ...this.#tail.subarray(0, this.#tailLength)]);
  }
}

/**
 * Collects a message in one growing buffer, so that many small chunks cost no more than their bytes. Throws a `RangeError`
 * as soon as the message exceeds a limit or, where somebody wants to know of it, goes on as if it had no end.
 */
export class MessageBytes {
  readonly #limits: MessageLimits;
  #buffer = new Uint8Array(0);
  #length = 0;
  /** `undefined` while the message is too short to exceed the limit of values. */
  #cost: JsonCost | undefined;
  readonly #onOversized: ((message: Oversized) => void) | undefined;
  #ends: Ends | undefined;

  /** @param onOversized Receives what is left of a message above a limit, when it has ended. */
  constructor(limits: MessageLimits, onOversized?: (message: Oversized) => void) {
    this.#limits = limits;
    this.#onOversized = onOversized;
  }

  get length(): number {
    return this.#length;
  }

  /** @throws {RangeError} when the message exceeds a limit. */
  push(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (this.#ends !== undefined) this.#ends.push(piece);
    else this.#attempt(() => this.#append(piece, length), piece);
    this.#length = length;
    if (this.#ends !== undefined && length > MAX_EXCESS * this.#limits.maxMessageBytes) throw this.#ends.flaw;
  }

  /** Ends the message; returns whether it can be used. */
  settle(): boolean {
    this.#attempt(() => this.#cost === undefined && this.#mayBeDeep() && this.#countAll());
    if (this.#ends === undefined) return true;
    this.#onOversized?.({ flaw: this.#ends.flaw, ends: this.#ends.bytes });
    this.clear();
    return false;
  }

  /** Gives the message up, but for its ends. */
  fail(flaw: RangeError, piece: Uint8Array = new Uint8Array(0)): void {
    if (this.#onOversized === undefined) throw flaw;
    this.#ends ??= new Ends(flaw, [this.#buffer.subarray(0, this.#length), piece]);
    this.#giveUpBuffer();
  }

  #attempt(run: () => unknown, piece?: Uint8Array): void {
    try {
      run();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.fail(error, piece);
    }
  }

  #append(piece: Uint8Array, length: number): void {
    const { maxMessageBytes, maxMessageValues } = this.#limits;
    if (length > maxMessageBytes) throw new RangeError(tooLarge(maxMessageBytes, "bytes", "maxMessageBytes"));
    if (this.#costOf(piece) > maxMessageValues) {
      throw new RangeError(tooLarge(maxMessageValues, "values", "maxMessageValues"));
    }
    this.#reserve(length);
    this.#buffer.set(piece, this.#length);
  }

  /**
   * Returns the whole message, and begins the next one.
   *
   * @throws {RangeError} when it is nested too deep.
   */
  take(): Uint8Array<ArrayBuffer> {
    const isKept = this.#buffer.length <= KEPT_CAPACITY;
    const bytes = isKept ? this.view().slice() : this.view();
    if (!isKept) this.#buffer = new Uint8Array(0);
    this.clear();
    return bytes;
  }

  /** Returns a view of the whole message, which is valid until the next call of another method. */
  view(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Drops the bytes of the current message. */
  clear(): void {
    if (this.#buffer.length > KEPT_CAPACITY) this.#giveUpBuffer();
    this.#length = 0;
    this.#cost = undefined;
    this.#ends = undefined;
  }

  close(): void {
    this.#giveUpBuffer();
    this.clear();
  }

  /** Frees the memory at once, not at the next garbage collection. */
  #giveUpBuffer(): void {
    this.#buffer.buffer.transfer(0);
    this.#buffer = new Uint8Array(0);
  }

  #reserve(length: number): void {
    const before = this.#buffer.length;
    if (length <= before) return;
    const { maxMessageBytes } = this.#limits;
    const step = Math.min(Math.max(FIRST_CAPACITY, before), MAX_STEP);
    const capacity = Math.max(length, Math.min(maxMessageBytes, before + step));
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

function tooLarge(limit: number, unit: string, name: keyof MessageLimits): string {
  return `Cannot read a message of more than ${limit} ${unit}; "limits": { "${name}": … } of the configuration allows more`;
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
