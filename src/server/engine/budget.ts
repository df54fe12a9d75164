/**
 * The memory of all messages on their way through a Server. What comes in of one owner takes at most a quarter of the
 * bytes, and what waits outward takes at most half of them; messages up to 64 KiB always have room.
 */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { optionLabel } from "../options/checks.ts";
import { CONSTANTS } from "../options/constants.ts";

/** The share of one owner in what comes in. */
const OWNER_SHARE = CONSTANTS.ownerShare.value;
/** The share of what waits outward. */
const OUTWARD_SHARE = CONSTANTS.outwardShare.value;
/** Messages up to this size are never refused for lack of memory. */
export const SMALL_MESSAGE_BYTES = CONSTANTS.smallMessageBytes.value;

/** Whose incoming messages share a quarter of the budget: all sessions of one principal, or of one address. */
export interface MessageOwner {
  incompleteBytes: number;
}

export class Budget {
  readonly maxBytes: number;
  /** What comes in, counted by the accounts of sessions. */
  inwardBytes = 0;
  /** What waits outward, counted by the outboxes of sessions. */
  outwardBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.inwardBytes + this.outwardBytes;
  }

  /** Whether an owner that holds `ownBytes` may hold `bytes` more. */
  hasInwardRoom(bytes: number, ownBytes: number): boolean {
    return ownBytes + bytes <= this.maxBytes * OWNER_SHARE && this.usedBytes + bytes <= this.maxBytes;
  }

  hasOutwardRoom(bytes: number): boolean {
    return this.outwardBytes + bytes <= this.maxBytes * OUTWARD_SHARE &&
      this.usedBytes + bytes <= this.maxBytes;
  }
}

/** What one session holds of messages that come in: frames, a polling body, attachments, events that wait. */
export class Account {
  readonly #budget: Budget;
  #owner: MessageOwner | undefined;
  #bytes = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Until a session has an owner, it has room for small messages only. */
  assignTo(owner: MessageOwner): void {
    this.#owner = owner;
    owner.incompleteBytes += this.#bytes;
  }

  change(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.inwardBytes += bytes;
    if (this.#owner !== undefined) this.#owner.incompleteBytes += bytes;
  }

  hasRoom(bytes: number): boolean {
    return this.#owner !== undefined && this.#budget.hasInwardRoom(bytes, this.#owner.incompleteBytes);
  }
}

/** One message, or one queue of messages, of a session. */
export class Holding {
  readonly #account: Account;
  #bytes = 0;

  constructor(account: Account) {
    this.#account = account;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Counts more bytes, or fewer if negative, whether there is room or not. */
  change(bytes: number): void {
    this.#bytes += bytes;
    this.#account.change(bytes);
  }

  /** Holds so many bytes in place of the present ones; without room it holds none, and returns `false`. */
  hold(bytes: number): boolean {
    const hasRoom = this.hasRoom(bytes);
    this.change((hasRoom ? bytes : 0) - this.#bytes);
    return hasRoom;
  }

  /** Whether so many bytes may be held in place of the present ones. */
  hasRoom(bytes: number): boolean {
    return bytes <= SMALL_MESSAGE_BYTES || this.#account.hasRoom(bytes - this.#bytes);
  }
}

/** @param limit The limit for the details of the error. */
export function noMemory(size: number, limit?: number): SmcpError {
  return new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot relay a message of ${size} bytes: other messages on their way take the memory for them, or your share of it, ` +
      `by ${
        optionLabel("maxMessageMemoryBytes")
      }. Try again, send less than ${SMALL_MESSAGE_BYTES} bytes, or ask the operator for a higher limit`,
    { details: { size, ...(limit === undefined ? {} : { limit }), option: "maxMessageMemoryBytes" } },
  );
}
