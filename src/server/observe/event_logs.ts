/** The logs of a Server about what its peers decide the number of. */
import { TokenBucket } from "../../async/token_bucket.ts";
import { BoundedLog } from "../../bounded_log.ts";
import type { Logger } from "../../log.ts";
import {
  ALL_CONNECTIONS_LINES,
  ALL_RELAYED_ERRORS_LINES,
  CONNECTION_LINES,
  REFUSAL_LINES,
  RELAYED_ERROR_LINES,
} from "../limits.ts";

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
