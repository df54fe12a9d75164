/** What waits until the peer of a session reads it. */
import { Buffer } from "node:buffer";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { payloadTooLarge, SmcpError } from "../../protocol/errors.ts";
import { CONSTANTS } from "../options/constants.ts";
import { type Budget, noMemory, SMALL_MESSAGE_BYTES } from "./budget.ts";
import { frameBytesOf, isFrame, type Outgoing } from "./frame_writer.ts";
import type { Expirable, Scheduled, Timeouts } from "../../async/timeouts.ts";

/** The memory of a message besides its content, measured. */
export const MESSAGE_OVERHEAD_BYTES = 2048;
/** The least that may wait, also when the largest message is smaller. */
const MIN_WAITING_BYTES = 1024 * 1024;
/** How often it is looked whether a peer reads, within the time for which it may read nothing. */
const CHECKS = 4;
/** What notifications to an office, which are never refused, may add before the session ends. */
const MARGIN_BYTES = CONSTANTS.waitingMarginBytes.value;
/** Texts up to this length count two bytes per character: measuring them would be slower. */
const SMALL_TEXT_LENGTH = 1024;

export interface OutboxOptions {
  readonly maxPayloadBytes: number;
  readonly budget: Budget;
  readonly timeouts: Timeouts;
  /** How long a peer may read nothing of what waits, in milliseconds. */
  readonly stallMs: number;
}

/** Called once at most, when the peer does not read. */
export type OutboxEnd = (reason: string) => void;

/** The messages of a session in their order. Its transport takes them, and tells when the peer has read them. */
export class EngineOutbox implements Expirable {
  readonly #options: OutboxOptions;
  readonly #onEnd: OutboxEnd;
  readonly #maxBytes: number;
  #messages: Outgoing[] = [];
  #queuedBytes = 0;
  #takenBytes = 0;
  #addedBytes = 0;
  /** Whether the next message is the first of a packet that may be refused. */
  #mayRefuse = false;
  /** The checks since the peer has read anything. */
  #idleChecks = 0;
  #stall: Scheduled | undefined;
  #isClosed = false;

  /** @param options The same object for all sessions: there may be thousands. */
  constructor(options: OutboxOptions, onEnd: OutboxEnd) {
    this.#options = options;
    this.#onEnd = onEnd;
    this.#maxBytes = Math.max(options.maxPayloadBytes, MIN_WAITING_BYTES);
  }

  /** The messages that no transport has taken yet. */
  get messages(): readonly Outgoing[] {
    return this.#messages;
  }

  get waitingBytes(): number {
    return this.#queuedBytes + this.#takenBytes;
  }

  /** Whether anything is being written. What waits else is for a client that polls, and has not asked for it. */
  get isWriting(): boolean {
    return this.#takenBytes > 0;
  }

  /**
   * Sends a packet by `send`, and returns the bytes that it takes.
   *
   * @throws {SmcpError} 413 when the peer has too much to read, or the Server has no memory; nothing is sent then.
   */
  push(send: () => void): number {
    const before = this.#addedBytes;
    this.#mayRefuse = true;
    try {
      send();
    } finally {
      this.#mayRefuse = false;
    }
    return this.#addedBytes - before;
  }

  add(message: Outgoing): void {
    if (this.#isClosed) return;
    const bytes = sizeOf(message) + MESSAGE_OVERHEAD_BYTES;
    if (this.#mayRefuse) {
      // Only the first message of a packet: its attachments must follow it.
      this.#mayRefuse = false;
      this.#requireRoom(bytes);
    }
    this.#messages.push(message);
    this.#queuedBytes += bytes;
    this.#addedBytes += bytes;
    this.#options.budget.outwardBytes += bytes;
    if (this.#stall === undefined) {
      this.#idleChecks = 0;
      this.#watchStall();
    }
    const excessBytes = this.waitingBytes - this.#maxBytes - MARGIN_BYTES;
    // Deferred, since the sender may be in the middle of a broadcast.
    if (excessBytes > 0 && excessBytes <= bytes) queueMicrotask(() => this.#end("it reads too slowly"));
  }

  /** Takes the first `count` messages, and returns their bytes for {@linkcode EngineOutbox.release}. */
  take(count: number): { readonly messages: readonly Outgoing[]; readonly bytes: number } {
    const isAll = count >= this.#messages.length;
    const messages = isAll ? this.#messages : this.#messages.splice(0, count);
    let bytes = this.#queuedBytes;
    if (isAll) this.#messages = [];
    else bytes = messages.reduce((sum, message) => sum + sizeOf(message) + MESSAGE_OVERHEAD_BYTES, 0);
    this.#queuedBytes -= bytes;
    this.#takenBytes += bytes;
    return { messages, bytes };
  }

  /** Frees messages that were taken: the peer has read them, as far as can be told. */
  release(bytes: number): void {
    if (this.#isClosed) return;
    this.#takenBytes -= bytes;
    this.#options.budget.outwardBytes -= bytes;
    this.#idleChecks = 0;
  }

  /** Implements {@linkcode Expirable}: checks whether the peer has read anything. */
  expire(): void {
    this.#stall = undefined;
    if (this.#isClosed || this.waitingBytes === 0) return;
    if (++this.#idleChecks > CHECKS) return this.#end("it reads nothing");
    this.#watchStall();
  }

  /** Drops what waits, and takes nothing more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#stall !== undefined) this.#options.timeouts.cancel(this.#stall);
    this.#options.budget.outwardBytes -= this.waitingBytes;
    this.#messages = [];
    this.#queuedBytes = this.#takenBytes = 0;
  }

  #requireRoom(bytes: number): void {
    const { budget, maxPayloadBytes } = this.#options;
    // The JSON of a message that is written again may be longer than it was.
    if (bytes > maxPayloadBytes + SMALL_MESSAGE_BYTES) {
      throw payloadTooLarge({ size: bytes - MESSAGE_OVERHEAD_BYTES, limit: maxPayloadBytes });
    }
    const size = this.waitingBytes + bytes;
    // The largest message still passes beside a few small ones.
    if (size > this.#maxBytes && this.waitingBytes > SMALL_MESSAGE_BYTES) {
      throw tooMuchUnread(size, this.#maxBytes);
    }
    if (size > SMALL_MESSAGE_BYTES && !budget.hasOutwardRoom(bytes)) throw noMemory(bytes, budget.maxBytes);
  }

  #watchStall(): void {
    const { timeouts, stallMs } = this.#options;
    this.#stall = timeouts.add(this, stallMs / CHECKS);
  }

  #end(reason: string): void {
    if (!this.#isClosed) this.#onEnd(reason);
  }
}

/** Estimates the bytes in memory. */
function sizeOf(message: Outgoing): number {
  if (typeof message === "string") {
    return message.length <= SMALL_TEXT_LENGTH
      ? message.length * 2
      : Math.max(message.length, Buffer.byteLength(message));
  }
  return isFrame(message) ? frameBytesOf(message) : message.byteLength;
}

function tooMuchUnread(size: number, limit: number): SmcpError {
  return new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot send a message: the receiver reads slowly, and ${size} of ${limit} bytes would wait for it`,
    { details: { size, limit } },
  );
}
