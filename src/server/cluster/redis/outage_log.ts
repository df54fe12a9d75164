/** Log lines about Redis: what is wrong in words, and each problem again every minute while it lasts. */
import { REDIS_ACL_HINT } from "./settings.ts";
import type { LogFields, Logger } from "../../../log.ts";
import { describeError } from "../../../text.ts";

/** The time after which the same problem is logged again. */
const REPEAT_MS = 60_000;
/** What errors of Redis and of the network mean. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/WRONGPASS|invalid username-password/i, "wrong user name or password"],
  [/NOAUTH/, "it needs a password; write it into the URL, redis://user:password@host"],
  [/NOPERM|no permissions/i, REDIS_ACL_HINT],
  [/ECONNREFUSED|connection refused/i, "connection refused, no program listens there"],
  [/ENOTFOUND|EAI_AGAIN|failed to lookup/i, "host not found"],
];

/** Logs the problems of one kind. */
export class OutageLog {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  #last: string | undefined;
  #loggedAtMs = -Infinity;

  /** @param nowMs Milliseconds since a fixed point; the monotonic clock by default. */
  constructor(logger: Logger, nowMs: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** Logs a problem, unless the same one was logged in the last minute. */
  failed(
    level: "warn" | "error",
    message: string,
    { cause, ...fields }: LogFields & { readonly cause: unknown },
  ): void {
    const error = explainRedisError(cause);
    const nowMs = this.#nowMs();
    if (error === this.#last && nowMs < this.#loggedAtMs + REPEAT_MS) return;
    this.#last = error;
    this.#loggedAtMs = nowMs;
    this.#logger[level](message, { ...fields, error });
  }

  /** Says that the problem is over, if one was logged. */
  restored(message?: string): void {
    if (this.#last !== undefined && message !== undefined) this.#logger.info(message);
    this.#last = undefined;
    this.#loggedAtMs = -Infinity;
  }
}

/** Describes an error, with its meaning in words before it. */
export function explainRedisError(cause: unknown): string {
  const text = describeError(cause);
  const meaning = MEANINGS.find(([pattern]) => pattern.test(text))?.[1];
  return meaning === undefined ? text : `${meaning} (${text})`;
}
