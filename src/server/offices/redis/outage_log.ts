/** Log lines about Redis: what is wrong in words, and each problem again every minute while it lasts. */
import { REDIS_ACL_HINT } from "./settings.ts";
import type { LogFields, Logger } from "../../../log.ts";
import { describeError } from "../../../text.ts";

const REPEAT_MS = 60_000;
/** The most problems that are remembered; the texts of Redis are few. */
const MAX_PROBLEMS = 32;
const MEANINGS: readonly (readonly [RegExp, string | ((match: RegExpExecArray) => string)])[] = [
  [/WRONGPASS|invalid username-password/i, "wrong user name or password"],
  [/NOAUTH/, "it needs a password; write it into the URL, redis://user:password@host"],
  [/permissions to run the '([^']+)' command/i, ([, command = ""]) => commandHint(command)],
  [/NOPERM|no permissions/i, REDIS_ACL_HINT],
  [/ECONNREFUSED|connection refused/i, "connection refused, no program listens there"],
  [/ENOTFOUND|EAI_AGAIN|failed to lookup/i, "host not found"],
  [/cluster support disabled/i, "it is a single Redis and no cluster; write the URL without +cluster"],
];
/** Errors that follow from another one, which says more. */
const CONSEQUENCE = /All the root nodes are unavailable/i;
/** Problems that no further attempt mends. */
const LASTING = /NOPERM|no permissions/i;

export class OutageLog {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #loggedAtMs = new Map<string, number>();

  /** @param nowMs Milliseconds since a fixed point; the monotonic clock by default. */
  constructor(logger: Logger, nowMs: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** Logs a problem, unless the same one was logged in the last minute. One that only a change of Redis mends is an error. */
  failed(
    level: "warn" | "error",
    message: string,
    { cause, hint, ...fields }: LogFields & {
      readonly cause: unknown;
      /** What the error may mean, if its text says too little. */
      readonly hint?: string | undefined;
    },
  ): void {
    const error = explainRedisError(cause, hint);
    if (CONSEQUENCE.test(error) && this.#loggedAtMs.size > 0) return;
    const nowMs = this.#nowMs();
    if (nowMs < (this.#loggedAtMs.get(error) ?? -Infinity) + REPEAT_MS) return;
    if (this.#loggedAtMs.size >= MAX_PROBLEMS) this.#loggedAtMs.clear();
    this.#loggedAtMs.set(error, nowMs);
    this.#logger[LASTING.test(error) ? "error" : level](message, { ...fields, error });
  }

  /** Says that the problem is over, if one was logged. */
  restored(message?: string): void {
    if (this.#loggedAtMs.size > 0 && message !== undefined) this.#logger.info(message);
    this.#loggedAtMs.clear();
  }
}

/** Describes an error, with its meaning in words before it: that of its text, or else `hint`. */
export function explainRedisError(cause: unknown, hint?: string): string {
  const text = describeError(cause);
  for (const [pattern, meaning] of MEANINGS) {
    const match = pattern.exec(text);
    if (match !== null) return `${typeof meaning === "string" ? meaning : meaning(match)} (${text})`;
  }
  return hint === undefined ? text : `${hint} (${text})`;
}

/** A Redis that speaks TLS, or does not, where the other is expected, says nothing, or closes the connection. */
export function schemeHint(cause: unknown, isTls: boolean): string | undefined {
  const text = describeError(cause);
  if (isTls && /timeout|closed|tls|corrupt|InvalidContentType/i.test(text)) {
    return "no answer to TLS; if the port of Redis does not speak TLS, use redis:// in place of rediss://";
  }
  if (!isTls && /closed/i.test(text)) {
    return "closed without an answer; if the port of Redis speaks TLS, use rediss:// in place of redis://";
  }
  return undefined;
}

function commandHint(command: string): string {
  return `the ACL of the user does not allow the command "${command}"; add +${command}, or take the line of ` +
    "docs/cluster.md#redis";
}
