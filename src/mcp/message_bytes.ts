/** The bytes of one message as they come in pieces, bounded in size and in what they will cost as values. */
import { MAX_MESSAGE_DEPTH, type MessageLimits } from "./limits.ts";

/** The smallest buffer, in bytes. */
const FIRST_CAPACITY = 4_096;
/** The largest buffer that is kept for the next message, in bytes. */
const KEPT_CAPACITY = 65_536;
/** An escape in a text costs about a sixteenth of a value. */
const ESCAPES_PER_VALUE = 16;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
/** `,` `:` `[` `{`: each stands for one value or one name. */
const STRUCTURE = 1;
/** `[` `{` and `]` `}`, which open and close a level as well. */
const OPENING = 2;
const CLOSING = 3;
const SIGNS = new Uint8Array(256);
for (const sign of ",:") SIGNS[sign.charCodeAt(0)] = STRUCTURE;
for (const sign of "[{") SIGNS[sign.charCodeAt(0)] = OPENING;
for (const sign of "]}") SIGNS[sign.charCodeAt(0)] = CLOSING;

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
  #structures = 0;
  #escapes = 0;
  #depth = 0;
  #isInText = false;
  #isEscaped = false;

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
    this.#count(piece);
    if (this.#structures + this.#escapes / ESCAPES_PER_VALUE > maxMessageValues) {
      throw new RangeError(`Cannot read a message of more than ${maxMessageValues} values`);
    }
    this.#reserve(length);
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  /** The whole message; the next one begins. */
  take(): Uint8Array<ArrayBuffer> {
    const isSmall = this.#buffer.length <= KEPT_CAPACITY;
    const bytes = isSmall ? this.#buffer.slice(0, this.#length) : this.#buffer.subarray(0, this.#length);
    this.clear();
    return bytes;
  }

  /** Forgets what came so far. */
  clear(): void {
    if (this.#buffer.length > KEPT_CAPACITY) this.#giveUpBuffer();
    this.#length = 0;
    this.#structures = 0;
    this.#escapes = 0;
    this.#depth = 0;
    this.#isInText = false;
    this.#isEscaped = false;
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

  #giveUpBuffer(): void {
    this.#budget?.release(this.#buffer.length);
    this.#buffer = new Uint8Array(0);
  }

  #reserve(length: number): void {
    const before = this.#buffer.length;
    if (length <= before) return;
    const { maxMessageBytes } = this.#limits;
    const capacity = Math.max(length, Math.min(maxMessageBytes, Math.max(FIRST_CAPACITY, before * 2)));
    this.#budget?.take(capacity - before);
    // The old memory is free at once, not when garbage is collected.
    this.#buffer = new Uint8Array(this.#buffer.buffer.transfer(capacity));
  }

  /** A text of JSON ends on its line at the latest: what is no JSON cannot hide what follows. */
  #count(piece: Uint8Array): void {
    let isInText = this.#isInText;
    let isEscaped = this.#isEscaped;
    let depth = this.#depth;
    let deepest = depth;
    for (let index = 0; index < piece.length; index++) {
      const byte = piece[index] ?? 0;
      if (!isInText) {
        if (byte === QUOTE) isInText = true;
        else {
          const sign = SIGNS[byte] ?? 0;
          if (sign === 0) continue;
          if (sign === CLOSING) depth = Math.max(0, depth - 1);
          else this.#structures++;
          if (sign === OPENING && ++depth > deepest) deepest = depth;
        }
      } else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) isInText = isEscaped = false;
      else if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) {
        isEscaped = true;
        this.#escapes++;
      } else if (byte === QUOTE) isInText = false;
    }
    this.#isInText = isInText;
    this.#isEscaped = isEscaped;
    this.#depth = depth;
    if (deepest > MAX_MESSAGE_DEPTH) {
      throw new RangeError(`Cannot read a message that is nested more than ${MAX_MESSAGE_DEPTH} levels deep`);
    }
  }
}
