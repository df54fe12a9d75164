/** Relayed requests that a Computer has not answered yet: how each ends, and how many may be in flight. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";
import { TOOL_CALL_EVENTS } from "../../protocol/call.ts";
import type { Expirable, Scheduled, Timeouts } from "../../async/timeouts.ts";
import { quoted } from "../../text/text.ts";
import { CONSTANTS } from "../options/constants.ts";
import { RawAnswer, readErrorCode } from "../engine/raw.ts";

export type Answer = readonly unknown[];

/** The code of the error that an answer tells, if it tells one. */
export function errorCodeOf([first]: Answer): number | undefined {
  return first instanceof RawAnswer ? first.errorCode : readErrorCode(first);
}

export interface RelayedRequest {
  readonly event: string;
  readonly reqId: string;
  readonly agent: string;
  readonly computer: string;
  readonly officeId: string;
  readonly isObserving: boolean;
  readonly timeoutMs: number;
}

/** @param circumstance Such as `before the Server shut down`. */
export function describeUnanswered(
  { event, computer }: Pick<RelayedRequest, "event" | "computer">,
  circumstance: string,
): { readonly message: string; readonly details: ErrorDetails } {
  const effect = TOOL_CALL_EVENTS.has(event) ? "the tool may have run" : "it may have been carried out";
  return {
    message: `No answer to "${quoted(event)}" of Computer '${quoted(computer)}' ${circumstance}; ${effect}`,
    details: { computer_name: computer, may_have_run: true },
  };
}

export interface Sent {
  readonly bytes: number;
  readonly ackId: number;
}

/** How a request ended: by the ack of the Computer, by a failure, or because its sender has left. One that is given up is cancelled. */
export type Settlement =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly error: unknown; readonly isGivenUp?: true }
  | { readonly kind: "dropped"; readonly mayReturn: boolean };

/** The requests that two sides, their sender and their Computer, have open. */
export interface Side {
  add(pending: PendingRequest): unknown;
  delete(pending: PendingRequest): unknown;
}

interface Open {
  readonly sides: readonly Side[];
  readonly timeouts: Timeouts;
  /** Called once, when no side has the request any more. */
  readonly onSettled: (settlement: Settlement) => void;
}

/**
 * A request that its Computer has not answered. It settles once. From then on it refers to nothing: a `Map` or `Set` that
 * grows and shrinks leaves tables behind that still point at former entries, and a request that such an entry leads to would
 * stay in memory long after its answer. (Measured: a tenth of the relay's whole cost.)
 */
export class PendingRequest implements Expirable {
  readonly ack = (...answer: unknown[]): void => {
    const [first] = answer;
    // The parser puts an error in place of an answer that it did not read.
    if (first instanceof SmcpError) {
      this.fail(withDetails(first, { computer_name: this.request.computer, may_have_run: true }));
    } else if (first instanceof Error) this.fail(first);
    else this.#settle({ kind: "answered", answer });
  };
  readonly request: RelayedRequest;
  /** The ack of the Computer's connection, once it was sent there. */
  ackId: number | undefined;
  bytes = 0;
  #open: Open | undefined;
  readonly #scheduled: Scheduled;

  constructor(request: RelayedRequest, open: Open) {
    this.#open = open;
    this.request = request;
    this.#scheduled = open.timeouts.add(this, request.timeoutMs);
  }

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  /** Counts it once at its sides, until it settles. */
  onSent(bytes: number): void {
    if (this.bytes > 0) return;
    this.bytes = bytes;
    for (const side of this.#open?.sides ?? []) side.add(this);
  }

  fail(error: unknown): void {
    this.#settle({ kind: "failed", error });
  }

  /** Ends it with an error, although the Computer may still work on it. */
  giveUp(error: SmcpError): void {
    this.#settle({ kind: "failed", error, isGivenUp: true });
  }

  /** Ends it without an answer, because its sender has left, or has lost its connection and may return. */
  drop({ mayReturn = false } = {}): void {
    this.#settle({ kind: "dropped", mayReturn });
  }

  expire(): void {
    const { message, details } = describeUnanswered(this.request, `in ${this.request.timeoutMs} ms`);
    this.giveUp(new SmcpError(ErrorCode.TIMEOUT, message, { details }));
  }

  #settle(settlement: Settlement): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    open.timeouts.cancel(this.#scheduled);
    for (const side of open.sides) side.delete(this);
    open.onSettled(settlement);
  }
}

/** The same error with further details. */
export function withDetails(cause: SmcpError, details: ErrorDetails): SmcpError {
  const { code, message } = cause;
  return new SmcpError(code, message, { cause, details: { ...cause.details, ...details } });
}

/** The most cancels of one Computer that wait; further ones are sent at once. */
const MAX_LATE_CANCELS = 1_024;

/** The cancels of requests whose sender has lost its connection: it may return, and ask again. */
export class LateCancels {
  readonly #timeouts: Timeouts;
  readonly #returnMs: number;
  readonly #waiting = new Set<Scheduled>();

  constructor({ timeouts, returnMs }: { readonly timeouts: Timeouts; readonly returnMs: number }) {
    this.#timeouts = timeouts;
    this.#returnMs = returnMs;
  }

  /** Calls `cancel` later. */
  add(cancel: () => void): void {
    if (this.#waiting.size >= MAX_LATE_CANCELS) return cancel();
    const expire = () => {
      this.#waiting.delete(scheduled);
      cancel();
    };
    const scheduled = this.#timeouts.add({ expire }, this.#returnMs);
    this.#waiting.add(scheduled);
  }

  /** The Computer has left. */
  clear(): void {
    for (const scheduled of this.#waiting) this.#timeouts.cancel(scheduled);
    this.#waiting.clear();
  }
}

export interface RequestLimit {
  /** Any number by default. */
  readonly requests?: number;
  readonly bytes: number;
}

/** What one connection may have in flight. Its requests are bounded before, when they are opened. */
export const REQUESTER_LIMIT: RequestLimit = { bytes: CONSTANTS.maxRequesterBytes.value };

/** The open requests of a connection, those to it, or those of the observers of an office. */
export class OpenRequests extends Set<PendingRequest> implements Side {
  bytes = 0;

  override add(pending: PendingRequest): this {
    this.bytes += pending.bytes;
    return super.add(pending);
  }

  override delete(pending: PendingRequest): boolean {
    const isKnown = super.delete(pending);
    if (isKnown) this.bytes -= pending.bytes;
    return isKnown;
  }

  /** Whether the Computer was sent a call that is the same as this request, and is to answer it. */
  hasCall({ agent, reqId }: RelayedRequest): boolean {
    for (const { ackId, request } of this) {
      if (ackId === undefined || request.reqId !== reqId || request.agent !== agent) continue;
      if (TOOL_CALL_EVENTS.has(request.event)) return true;
    }
    return false;
  }

  /**
   * Checks whether another request may be sent. Its own size does not count: below the limit, any size passes.
   *
   * @param whose Whose requests these are, for the message.
   * @throws {SmcpError} 400 for too many requests, 413 for too many bytes.
   */
  requireRoom(whose: string, { requests = Infinity, bytes }: RequestLimit): void {
    if (this.size >= requests) {
      throw new SmcpError(
        ErrorCode.BAD_REQUEST,
        `Cannot relay a request: ${this.size} requests of ${whose} are in flight`,
        { details: { field: "event", limit: requests } },
      );
    }
    if (this.bytes < bytes) return;
    throw new SmcpError(
      ErrorCode.PAYLOAD_TOO_LARGE,
      `Cannot relay a request: requests of ${whose} with ${this.bytes} bytes are in flight`,
      { details: { size: this.bytes, limit: bytes } },
    );
  }
}

/**
 * The open requests of all observers, by office. An office has one Agent, so that its bounds and these bound the requests in
 * the office, and to each Computer, too.
 */
export class ObserverRequests implements Side {
  readonly #limit: RequestLimit;
  readonly #offices = new Map<string, OpenRequests>();

  constructor({ maxOpenRequests }: { readonly maxOpenRequests: number }) {
    const { maxObserversBytes, observersShare } = CONSTANTS;
    const requests = Math.ceil(observersShare.value * maxOpenRequests);
    this.#limit = { requests, bytes: maxObserversBytes.value };
  }

  add(pending: PendingRequest): void {
    const { officeId } = pending.request;
    this.#offices.set(officeId, this.#of(officeId).add(pending));
  }

  delete(pending: PendingRequest): void {
    const { officeId } = pending.request;
    const open = this.#of(officeId);
    open.delete(pending);
    if (open.size === 0) this.#offices.delete(officeId);
  }

  /** As {@linkcode OpenRequests.requireRoom}, for an observer of this office. */
  requireRoom(officeId: string): void {
    this.#of(officeId).requireRoom("the observers of this office", this.#limit);
  }

  /** An empty one is not kept. */
  #of(officeId: string): OpenRequests {
    return this.#offices.get(officeId) ?? new OpenRequests();
  }
}
