/** Relayed requests that a Computer has not answered yet. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";
import { TOOL_CALL_EVENT } from "../../protocol/events.ts";
import { Load } from "./load.ts";
import type { Expirable, Scheduled, TimingWheel } from "../timing_wheel.ts";
import { quoted } from "../limits.ts";

export type Answer = readonly unknown[];

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
  const effect = event === TOOL_CALL_EVENT ? "the tool may have run" : "it may have been carried out";
  return {
    message: `No answer to "${quoted(event)}" of Computer '${quoted(computer)}' ${circumstance}; ${effect}`,
    details: { computer_name: computer, may_have_run: true },
  };
}

export interface Sent {
  readonly bytes: number;
  readonly ackId: number;
}

/** How a request ended: by the ack of the Computer, by a failure, or because its sender has left. */
export type Settlement =
  | { readonly kind: "answered"; readonly answer: Answer }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "dropped" };

interface Open {
  readonly request: RelayedRequest;
  readonly timeouts: TimingWheel;
  /** Called once. */
  readonly onSettled: (settlement: Settlement) => void;
}

/**
 * Settles once. From then on it refers to nothing: a `Map` or `Set` that grows and shrinks leaves tables behind that still
 * point at former entries, and a request that such an entry leads to would stay in memory long after its answer.
 * (Measured: a tenth of the relay's whole cost.)
 */
export class PendingRequest implements Expirable {
  readonly ack = (...answer: unknown[]): void => {
    const [first] = answer;
    // The parser puts an error in place of an answer that it did not read.
    if (first instanceof SmcpError) this.fail(withComputer(first, this.request.computer));
    else if (first instanceof Error) this.fail(first);
    else this.#settle({ kind: "answered", answer });
  };
  readonly request: RelayedRequest;
  sent: Sent | undefined;
  requesterIndex = 0;
  targetIndex = 0;
  #open: Open | undefined;
  readonly #scheduled: Scheduled;

  constructor(open: Open) {
    this.#open = open;
    this.request = open.request;
    this.#scheduled = open.timeouts.add(this, open.request.timeoutMs);
  }

  fail(error: unknown): void {
    this.#settle({ kind: "failed", error });
  }

  /** Ends it without an answer, because the sender of the request has left. */
  drop(): void {
    this.#settle({ kind: "dropped" });
  }

  expire(): void {
    this.fail(timeoutOf(this.request));
  }

  #settle(settlement: Settlement): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    open.timeouts.cancel(this.#scheduled);
    open.onSettled(settlement);
  }
}

/** Adds the name of the Computer: an Agent may have requests to several. */
export function withComputer(cause: SmcpError, computer: string | undefined): SmcpError {
  const { code, message, details } = cause;
  return new SmcpError(code, message, { cause, details: { ...details, computer_name: computer } });
}

function timeoutOf({ event, computer, timeoutMs }: RelayedRequest): SmcpError {
  return new SmcpError(
    ErrorCode.TIMEOUT,
    `Computer with name '${quoted(computer)}' did not answer "${quoted(event)}" in ${timeoutMs} ms`,
    { details: { computer_name: computer } },
  );
}

/**
 * The open requests of a connection, or those to it, unordered, and their load. Adding and removing takes constant time. A
 * `Map` or `Set` would allocate a new table every few requests, and keep the old one reachable.
 */
export class PendingRequests {
  readonly load = new Load();
  readonly #side: "requesterIndex" | "targetIndex";
  readonly #requests: PendingRequest[] = [];

  constructor(side: "requesterIndex" | "targetIndex") {
    this.#side = side;
  }

  add(request: PendingRequest): void {
    request[this.#side] = this.#requests.push(request) - 1;
  }

  /** Removes a request of this list; the last one takes its place. */
  remove(request: PendingRequest): void {
    const last = this.#requests.pop();
    if (last === undefined || last === request) return;
    const place = request[this.#side];
    this.#requests[place] = last;
    last[this.#side] = place;
  }

  snapshot(): readonly PendingRequest[] {
    return [...this.#requests];
  }
}
