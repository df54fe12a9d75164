/** The logs of a Server about what its peers decide the number of. */
import { BoundedLog, LineBudget } from "../../bounded_log.ts";
import type { Logger } from "../../log.ts";
import {
  LOG_WINDOW_MS,
  MAX_LOG_LINES_PER_CONNECTION,
  MAX_LOG_LINES_PER_SERVER,
  MAX_REFUSAL_LINES,
  MAX_RELAYED_ERRORS_PER_CONNECTION,
  MAX_RELAYED_ERRORS_PER_SERVER,
  REFUSAL_LOG_WINDOW_MS,
} from "../limits.ts";

export function createRefusalLog(logger: Logger): BoundedLog {
  const budgets = [new LineBudget(MAX_REFUSAL_LINES, REFUSAL_LOG_WINDOW_MS)];
  return new BoundedLog(logger, { budgets, about: "refused connections" });
}

/** What the log of a connection is about, and its lines and those of all connections per window. */
const EVENT_LOGS = {
  events: { about: "a connection", own: MAX_LOG_LINES_PER_CONNECTION, all: MAX_LOG_LINES_PER_SERVER },
  relayedErrors: {
    about: "relayed errors",
    own: MAX_RELAYED_ERRORS_PER_CONNECTION,
    all: MAX_RELAYED_ERRORS_PER_SERVER,
  },
} as const;

export function createEventLogs(
  logger: Logger,
  kind: keyof typeof EVENT_LOGS = "events",
): (sid: string) => BoundedLog {
  const { about, own, all } = EVENT_LOGS[kind];
  const shared = new LineBudget(all, LOG_WINDOW_MS);
  return (sid) => {
    const budgets = [new LineBudget(own, LOG_WINDOW_MS), shared];
    return new BoundedLog(logger, { budgets, about, fields: { sid } });
  };
}
