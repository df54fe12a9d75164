/**
 * The memory of all messages that are on their way: those that have not arrived completely, and those that wait for a
 * member that reads slowly. Each connection has bounds of its own, but there may be thousands of connections.
 */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { SMALL_MESSAGE_BYTES } from "./limits.ts";
import { optionLabel } from "./options/checks.ts";

/** Counts bytes against a limit, which all connections of a Server share. */
export class MemoryBudget {
  readonly maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Counts more bytes, or fewer if negative. */
  change(bytes: number): void {
    this.#usedBytes += bytes;
  }

  /** Whether a message of this size may take memory. Small ones always may, so that small calls work under attack. */
  hasCapacity(bytes: number): boolean {
    return bytes <= SMALL_MESSAGE_BYTES || this.#usedBytes + bytes <= this.maxBytes;
  }
}

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
