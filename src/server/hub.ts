/** What the event handlers share, and what one handler is. */
import type { FailedRequest, SmcpError } from "../protocol/errors.ts";
import type { Connection, Surroundings } from "./connection.ts";
import type { LoadLimits } from "./limits.ts";
import type { Answer } from "./pending_answer.ts";
import type { OfficeStore } from "./office_store.ts";

/** The Server as the event handlers see it. */
export interface Hub extends Surroundings {
  readonly offices: OfficeStore;
  /** How much longer than a request's time-out the Server waits for the Computer. */
  readonly graceMs: number;
  /** The most requests of one connection that may be open at a time. */
  readonly maxOpenRequests: number;
  /** What may be in flight. */
  readonly loadLimits: LoadLimits;
  connection(sid: string): Connection | undefined;
  /** Sends a notification to all members of an office, except the connection `except`. */
  broadcast(officeId: string, notification: Notification): void;
}

/** A `notify:*` event. */
export interface Notification {
  readonly event: string;
  readonly body: unknown;
  /** The connection that does not receive it. */
  readonly except?: string;
}

/** One event that came in. */
export interface Call {
  readonly hub: Hub;
  readonly connection: Connection;
  readonly event: string;
  /** The event's argument, as it came. */
  readonly body: unknown;
  /** Whether an ack was asked for. */
  readonly isAnswered: boolean;
}

/**
 * The ack's arguments, or a promise of them that the connection's next event need not wait for: of none when whoever
 * asked has left.
 */
export type Handled =
  | { readonly kind: "done"; readonly answer: Answer }
  | { readonly kind: "waiting"; readonly answer: Promise<Answer | undefined> };

/** How one family of events is handled. */
export interface Route {
  /** Does what the event asks for. Throws an {@linkcode SmcpError} to refuse it. */
  handle(call: Call): Handled | Promise<Handled>;
  /** The ack's arguments for a refusal. */
  refuse(error: SmcpError, request: FailedRequest): Answer;
}

/** An answer that is known at once. */
export function done(...answer: unknown[]): Handled {
  return { kind: "done", answer };
}
