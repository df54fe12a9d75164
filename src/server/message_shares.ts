/**
 * Messages that have not arrived completely, and their shares of the memory for messages: one principal could otherwise fill
 * all of it with messages that it does not finish, and the large messages of all others would be refused.
 */
import { SMALL_MESSAGE_BYTES } from "./limits.ts";
import type { MemoryBudget } from "./memory_budget.ts";

/** Whose incomplete messages share a part of the memory: all connections of one principal, or of one address. */
export interface MessageOwner {
  incompleteBytes: number;
}

export interface MessageShares {
  readonly memory: MemoryBudget;
  readonly maxShareBytes: number;
  /** The owner of an Engine.IO session; `undefined` before its admission and after its end: only small messages have room then. */
  readonly ownerOf: (session: string) => MessageOwner | undefined;
}

export class IncompleteMessage {
  readonly #shares: MessageShares;
  #session: string | undefined;
  #owner: MessageOwner | undefined;
  #bytes = 0;

  constructor(shares: MessageShares, session: string | undefined) {
    this.#shares = shares;
    this.#session = session;
  }

  get bytes(): number {
    return this.#bytes;
  }

  belongTo(session: string): void {
    this.#session = session;
  }

  /** Counts that more bytes are held, or fewer if negative. */
  change(bytes: number): void {
    this.#bytes += bytes;
    this.#shares.memory.change(bytes);
    if (this.#owner !== undefined) this.#owner.incompleteBytes += bytes;
  }

  /**
   * Counts that so many bytes are held now, and returns whether there is room for them. Those of a message without room
   * count no longer: its connection ends, and until it has ended they would take the room of others.
   */
  hold(bytes: number): boolean {
    this.change(-this.#bytes);
    const isFine = this.hasCapacity(bytes);
    if (isFine) this.change(bytes);
    return isFine;
  }

  /** Whether so many bytes may be held in place of the present ones. */
  hasCapacity(bytes: number): boolean {
    if (bytes <= SMALL_MESSAGE_BYTES) return true;
    const owner = this.#owner ??= this.#findOwner();
    if (owner === undefined) return false;
    const ownBytes = owner.incompleteBytes - this.#bytes + bytes;
    return ownBytes <= this.#shares.maxShareBytes && this.#shares.memory.hasCapacity(bytes);
  }

  #findOwner(): MessageOwner | undefined {
    const owner = this.#session === undefined ? undefined : this.#shares.ownerOf(this.#session);
    if (owner !== undefined) owner.incompleteBytes += this.#bytes;
    return owner;
  }
}
