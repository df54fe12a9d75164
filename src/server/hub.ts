/** What the event handlers share, and what one handler is. */
import type { FailedRequest, SmcpError } from "../protocol/errors.ts";
import type { Connection, Surroundings } from "./connection.ts";
import type { LoadLimits } from "./limits.ts";
import type { Answer, Settlement } from "./pending.ts";
import type { Offices } from "./offices.ts";

/** The Server as the event handlers see it. */
export interface Hub extends Surroundings {
  readonly offices: Offices;
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
  /** Ends a call that its route has not answered at once. */
  readonly onSettled: (settlement: Settlement) => void;
}

/** How one family of events is handled. */
export interface Route {
  /**
   * Does what the event asks for. Throws an {@linkcode SmcpError} to refuse it.
   *
   * @return The ack's arguments; `undefined` when `call.onSettled` is called instead, now or later.
   */
  handle(call: Call): Answer | undefined;
  /** The ack's arguments for a refusal. */
  refuse(error: SmcpError, request: FailedRequest): Answer;
}
