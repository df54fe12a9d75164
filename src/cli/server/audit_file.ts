/** The file of `--audit-log`: the lines of the audit trail once more, as JSON, whatever the level of the log. */
import { describeFileError } from "../../files.ts";
import { createLogger, type LogFields, type Logger, type LogLevel, parseLogLevels } from "../../log.ts";
import { describeError } from "../../text.ts";
import { UsageError } from "../outcome.ts";

/** A file that lines are appended to. */
export interface AuditFile extends Disposable {
  readonly path: string;
  /** Appends a line; throws when it cannot be written. */
  append(line: string): void;
}

/**
 * Opens the file, and creates it if it does not exist, readable for its owner alone. Each line is written as it comes, so
 * that the file can be truncated meanwhile, as `logrotate` does with `copytruncate`.
 *
 * @return `undefined` without the option.
 * @throws {UsageError} when the file cannot be opened.
 */
export function openAuditFile({ auditLog: path }: { readonly auditLog?: string }): AuditFile | undefined {
  if (path === undefined) return undefined;
  const encoder = new TextEncoder();
  try {
    const file = Deno.openSync(path, { append: true, create: true, mode: 0o600 });
    return {
      path,
      append(line) {
        const bytes = encoder.encode(`${line}\n`);
        for (let start = 0; start < bytes.length;) start += file.writeSync(bytes.subarray(start));
      },
      [Symbol.dispose]: () => file.close(),
    };
  } catch (cause) {
    const state = cause instanceof Deno.errors.NotCapable
      ? "writing it needs --allow-write"
      : cause instanceof Deno.errors.NotFound
      ? "its folder does not exist"
      : describeFileError(cause);
    throw new UsageError(`Cannot open audit log "${path}": ${state}`, { cause });
  }
}

/** A logger that writes the lines of the audit trail to the file as well. When that fails, it says so once. */
export function withAuditFile(logger: Logger, file: AuditFile | undefined): Logger {
  if (file === undefined) return logger;
  let isFailing = false;
  const write = (line: string) => {
    try {
      file.append(line);
      isFailing = false;
    } catch (error) {
      if (!isFailing) {
        logger.error("failed to write the audit log", { path: file.path, error: describeError(error) });
      }
      isFailing = true;
    }
  };
  const audit = createLogger({ levels: parseLogLevels("debug"), format: "json", module: "audit", write });
  const logAt = (level: LogLevel) => (message: string, fields?: LogFields): void => {
    logger[level](message, fields);
    if (fields?.["module"] === "audit") audit[level](message, fields);
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}
