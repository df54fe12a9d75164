/**
 * The log lines whose number peers decide: bounded logs, and the audit trail, which tells who connected, joined, left, was
 * refused, or tried to reach another office. The lines of the trail go to the logger with the module `audit`, so that they
 * can be kept apart.
 */
import { type Rate, rateOf, TokenBucket } from "../../async/token_bucket.ts";
import { BoundedLog } from "../../bounded_log.ts";
import type { LogFields, Logger } from "../../log.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";
import { FarewellCode } from "../../protocol/farewell.ts";

/** The log lines about the events of one connection, and of all connections together; further lines are counted. */
export const CONNECTION_LINES: Rate = rateOf(20, 10_000);
const ALL_CONNECTIONS_LINES = rateOf(200, 10_000);
/** The lines about errors of Computers that one connection is relayed, and all connections together. */
const RELAYED_ERROR_LINES = rateOf(300, 10_000);
const ALL_RELAYED_ERRORS_LINES = rateOf(3_000, 10_000);
/** The lines about connections, joins and leaves, which an audit wants complete: more than a busy Server has. */
const AUDIT_LINES = rateOf(5_000, 10_000);
/** The lines about refused connections. */
const REFUSAL_LINES = rateOf(20, 60_000);

export function createRefusalLog(logger: Logger): BoundedLog {
  return new BoundedLog(logger, { buckets: [new TokenBucket(REFUSAL_LINES)], about: "refused connections" });
}

/** What the log of a connection is about, and the rates of its lines and of those of all connections. */
const EVENT_LOGS = {
  events: { about: "a connection", own: CONNECTION_LINES, all: ALL_CONNECTIONS_LINES },
  relayedErrors: { about: "relayed errors", own: RELAYED_ERROR_LINES, all: ALL_RELAYED_ERRORS_LINES },
} as const;

export function createEventLogs(
  logger: Logger,
  { kind = "events", now }: { readonly kind?: keyof typeof EVENT_LOGS; readonly now?: () => number } = {},
): (sid: string) => BoundedLog {
  const { about, own, all } = EVENT_LOGS[kind];
  const shared = new TokenBucket(all, now);
  return (sid) =>
    new BoundedLog(logger, { buckets: [new TokenBucket(own, now), shared], about, fields: { sid } });
}

export type AuditAction =
  | "connect"
  | "dismiss"
  | "join"
  | "leave"
  | "list"
  | "machine"
  | "operate"
  | "renew"
  | "request";

/** What Socket.IO calls the end of a connection that the client, or this process, wanted. */
export const CONNECTION_LOST = "connection_lost";
const WANTED_ENDS: ReadonlyMap<string, string> = new Map([
  ["client namespace disconnect", "left"],
  ["server shutting down", FarewellCode.SERVER_CLOSING],
]);

/**
 * Returns why the membership of a closed connection ends: `left`, `connection_lost`, or the code of a farewell.
 *
 * @param cause The reason that Socket.IO gives.
 */
export function departureReason(cause: string, farewell: string | undefined): string {
  return farewell ?? WANTED_ENDS.get(cause) ?? CONNECTION_LOST;
}

/** A refusal whose line in the log has further fields, which the client is not told. */
export class LoggedRefusal extends SmcpError {
  readonly log: LogFields;

  constructor(
    code: number,
    message: string,
    { log = {}, ...options }: {
      readonly log?: LogFields | undefined;
      readonly cause?: unknown;
      readonly details?: ErrorDetails | undefined;
    } = {},
  ) {
    super(code, message, options);
    this.log = log;
  }

  /** What Socket.IO sends to the client in its connect error, besides the message. */
  get data() {
    const { code, message, details } = this;
    return { code, message, details };
  }
}

/** The fields of a line of the audit trail, which any logger may write. */
export function auditFields(action: AuditAction, fields: LogFields): LogFields {
  const own = { module: "audit", action };
  // Last as well: an AuthProvider adds fields of its own.
  return { ...own, ...fields, ...own };
}

/** Opens the log of what was allowed. Lines about refusals are in the logs of connections and of refusals. */
export function openAudit(logger: Logger): BoundedLog {
  return new BoundedLog(logger, {
    buckets: [new TokenBucket(AUDIT_LINES)],
    about: "the audit trail",
    fields: { module: "audit" },
  });
}
