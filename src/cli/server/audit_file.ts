/** The lines of the audit trail once more, as JSON, whatever the level of the log: in memory, and in the file of `--audit-log`. */
import { Followers } from "../../async/followers.ts";
import { rateOf, TokenBucket } from "../../async/token_bucket.ts";
import { describeFileError, openLineLog } from "../../files/files.ts";
import { createLogger, type LogFields, type Logger, type LogLevel, parseLogLevels } from "../../log.ts";
import { describeError } from "../../text/text.ts";
import { UsageError } from "../outcome.ts";

export interface AuditFile {
  readonly path: string;
  append(line: string): void;
}

/** @throws {UsageError} when the file cannot be written. */
export function openAuditFile({ auditLog: path }: { readonly auditLog?: string }): AuditFile | undefined {
  if (path === undefined) return undefined;
  try {
    return { path, append: openLineLog(path) };
  } catch (cause) {
    const state = cause instanceof Deno.errors.NotCapable
      ? "writing it needs --allow-write"
      : cause instanceof Deno.errors.NotFound
      ? "its folder does not exist"
      : describeFileError(cause);
    throw new UsageError(`Cannot open audit log "${path}": ${state}`, { cause });
  }
}

/** The most lines that are kept in memory. */
const MAX_KEPT_LINES = 2_000;

/** The last lines of the audit trail. */
export class AuditTrail {
  /** Told of each new line. */
  readonly followers: Followers<string>;
  #lines: string[] = [];

  constructor(log: Logger) {
    this.followers = new Followers(log);
  }

  /** The oldest first, each an object in JSON. */
  get lines(): readonly string[] {
    return this.#lines.slice(-MAX_KEPT_LINES);
  }

  append(line: string): void {
    this.#lines.push(line);
    // Seldom, since each cut copies the rest.
    if (this.#lines.length >= 2 * MAX_KEPT_LINES) this.#lines = this.#lines.slice(-MAX_KEPT_LINES);
    this.followers.tell(line);
  }
}

/** While lines are lost, the log says so this often, in milliseconds. */
const REMINDER_MS = 60_000;

export interface AuditedLogger extends Disposable {
  readonly logger: Logger;
  readonly trail: AuditTrail;
  readonly countLostLines: (() => number) | undefined;
}

/**
 * Makes a logger write the lines of the audit trail to memory, and to the file as well. When that fails, it says so at once, and at most
 * once a minute from then on, with the number of lines that were lost since; the rest when the file is written again, or at its end.
 *
 * @param nowMs Milliseconds since a fixed point; the monotonic clock by default.
 */
export function withAuditFile(
  logger: Logger,
  file: AuditFile | undefined,
  nowMs: () => number = () => performance.now(),
): AuditedLogger {
  const trail = new AuditTrail(logger);
  const reminders = new TokenBucket(rateOf(1, REMINDER_MS), nowMs);
  const lost: { total: number; untold: number; inRow: number; error?: unknown } = {
    total: 0,
    untold: 0,
    inRow: 0,
  };
  const tell = () => {
    if (lost.untold === 0 || file === undefined) return;
    const fields = { path: file.path, lines_lost: lost.untold, error: describeError(lost.error) };
    lost.untold = 0;
    logger.error("failed to write the audit log", fields);
  };
  const write = (line: string) => {
    trail.append(line);
    try {
      file?.append(line);
    } catch (error) {
      lost.total++;
      lost.untold++;
      lost.inRow++;
      lost.error = error;
      if (reminders.take()) tell();
      return;
    }
    if (lost.inRow === 0 || !reminders.take()) return;
    logger.warn("the audit log is written again", { path: file?.path, lines_lost: lost.inRow });
    lost.untold = lost.inRow = 0;
  };
  const audit = createLogger({ levels: parseLogLevels("debug"), format: "json", module: "audit", write });
  const logAt = (level: LogLevel) => (message: string, fields?: LogFields): void => {
    logger[level](message, fields);
    if (fields?.["module"] === "audit") audit[level](message, fields);
  };
  return {
    logger: { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") },
    trail,
    countLostLines: file && (() => lost.total),
    [Symbol.dispose]: tell,
  };
}
