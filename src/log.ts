/** The logger that every part is given, and the one that the doors use: lines on stderr. */
import { BaseHandler, type LevelName, Logger as StdLogger, type LogRecord } from "@std/log";

/** What a log line says beyond its message: `req_id`, `server`, `duration_ms` … Never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where a part of the program tells what it did. Any object with these four methods will do. */
export interface Logger {
  /** For whoever looks for a fault. */
  debug(message: string, fields?: LogFields): void;
  /** What a person who runs the program wants to know. */
  info(message: string, fields?: LogFields): void;
  /** Something is wrong, and was dealt with. */
  warn(message: string, fields?: LogFields): void;
  /** Something failed. */
  error(message: string, fields?: LogFields): void;
}

/** The log levels by name, most talkative first. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** A log level. */
export type LogLevel = typeof LOG_LEVELS[number];

/** How a log line is written. */
export type LogFormat = "text" | "json";

/** A logger that says nothing: what a library uses until its host gives it one. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** The same logger, with `fields` on each of its lines. */
export function withFields(log: Logger, fields: LogFields): Logger {
  return {
    debug: (message, own) => log.debug(message, { ...fields, ...own }),
    info: (message, own) => log.info(message, { ...fields, ...own }),
    warn: (message, own) => log.warn(message, { ...fields, ...own }),
    error: (message, own) => log.error(message, { ...fields, ...own }),
  };
}

const stdLevels: Readonly<Record<LogLevel, LevelName>> = {
  debug: "DEBUG",
  info: "INFO",
  warn: "WARN",
  error: "ERROR",
};

/**
 * A logger on stderr, so that stdout stays for results.
 *
 * @param options `level`: the lowest level written, `info` by default. `format`: `text` by default; `json` is one
 * object a line with `time`, `level`, `message` and the fields. `module`: who is speaking.
 */
export function createLogger(
  options: { readonly level?: LogLevel; readonly format?: LogFormat; readonly module?: string } = {},
): Logger {
  const { level = "info", format = "text", module = "smcp" } = options;
  const std = new StdLogger(module, stdLevels[level], { handlers: [new StderrHandler(format)] });
  return {
    debug: (message, fields = {}) => void std.debug(message, fields),
    info: (message, fields = {}) => void std.info(message, fields),
    warn: (message, fields = {}) => void std.warn(message, fields),
    error: (message, fields = {}) => void std.error(message, fields),
  };
}

class StderrHandler extends BaseHandler {
  constructor(format: LogFormat) {
    super("NOTSET", { formatter: format === "json" ? formatJson : formatText });
  }

  override log(line: string): void {
    console.error(line);
  }
}

function fieldsOf(record: LogRecord): LogFields {
  const [fields] = record.args;
  return typeof fields === "object" && fields !== null ? { ...fields } : {};
}

function formatText(record: LogRecord): string {
  const time = record.datetime.toISOString().slice(11, 23);
  const pairs = Object.entries(fieldsOf(record)).filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${time} ${record.levelName.padEnd(5)} ${record.loggerName}: ${record.msg}${pairs.join("")}`;
}

function formatValue(value: unknown): string {
  return typeof value === "string" && /^[\w.:/@+-]+$/.test(value)
    ? value
    : JSON.stringify(value) ?? "undefined";
}

function formatJson(record: LogRecord): string {
  return JSON.stringify({
    time: record.datetime.toISOString(),
    level: record.levelName.toLowerCase(),
    module: record.loggerName,
    message: record.msg,
    ...fieldsOf(record),
  });
}
