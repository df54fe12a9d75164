/** The contract between the Server and its event handlers. */
import type { SmcpError } from "../../protocol/errors.ts";
import type { Notification, Offices } from "../offices/offices.ts";
import type { Connection, ConnectionContext } from "./connection.ts";
import type { Drain } from "../drain.ts";
import type { LoadLimits } from "../limits.ts";
import type { IncompleteMessage } from "../message_shares.ts";
import type { Meter } from "../observe/meter.ts";
import type { Answer, Settlement } from "./pending_requests.ts";
import type { QuotaLedger } from "../quotas.ts";

export interface Hub extends ConnectionContext {
  readonly offices: Offices;
  /** The time that the Server waits for a Computer beyond the time-out of a request. */
  readonly graceMs: number;
  readonly maxOpenRequests: number;
  readonly quotas: QuotaLedger;
  readonly loadLimits: LoadLimits;
  readonly drain: Drain;
  readonly meter: Meter | undefined;
  connection(sid: string): Connection | undefined;
  /** Why the memberships of closed connections end, by `sid`, until they have ended. */
  readonly departureReasons: Map<string, string>;
  /** Opens the counting of messages of a connection that wait. */
  openCount(sid: string): IncompleteMessage;
  /** Sends a notification to the members of an office on this process, except the connection `except`. */
  deliver(officeId: string, notification: Notification): void;
}

export interface Call {
  readonly hub: Hub;
  readonly connection: Connection;
  readonly event: string;
  /** The argument of the event, unchecked. */
  readonly body: unknown;
  readonly wantsAck: boolean;
  /** Ends a call whose route returned `undefined`. */
  readonly onSettled: (settlement: Settlement) => void;
}

export interface Route {
  /**
   * Handles the event. Throws an {@linkcode SmcpError} to refuse it.
   *
   * @return The arguments of the ack, or a promise of them: later events of the connection then wait for it, unless
   * `isUnordered`. `undefined` when `call.onSettled` is called instead, now or later.
   */
  handle(call: Call): Answer | Promise<Answer> | undefined;
  /** Whether later events of the connection are handled before a promise of it is settled; `false` by default. */
  readonly isUnordered?: boolean;
  refuse(error: SmcpError, request: RefusedRequest): Answer;
}

export interface RefusedRequest {
  readonly event: string;
  readonly connection: Connection;
}
