/**
 * Stands in for `jsr:@std/log` where only npm can be reached. npm has no copy of that package, so this is our own
 * writing of what `src/log.ts` uses, with the same names, signatures and behaviour. Never published.
 *
 * @module
 */

/** The log levels by name. The numbers are those of `jsr:@std/log`. */
const LEVELS = { NOTSET: 0, DEBUG: 10, INFO: 20, WARN: 30, ERROR: 40 } as const;

/** The name of a log level. */
export type LevelName = keyof typeof LEVELS;

/** One logged message with its arguments, level, logger and time. */
export interface LogRecord {
  readonly msg: string;
  readonly args: unknown[];
  readonly level: number;
  readonly levelName: LevelName;
  readonly loggerName: string;
  readonly datetime: Date;
}

/** How a handler writes records. */
export interface BaseHandlerOptions {
  formatter?: (logRecord: LogRecord) => string;
}

/** Writes the records of its level and above, one text each. Subclasses say where. */
export abstract class BaseHandler {
  readonly #formatter: (logRecord: LogRecord) => string;
  readonly #level: number;

  constructor(levelName: LevelName, options: BaseHandlerOptions = {}) {
    this.#level = LEVELS[levelName];
    this.#formatter = options.formatter ?? ((record) => `${record.levelName} ${record.msg}`);
  }

  handle(logRecord: LogRecord): void {
    if (logRecord.level >= this.#level) this.log(this.#formatter(logRecord));
  }

  abstract log(msg: string): void;
}

/** Where a logger's records go. */
export interface LoggerOptions {
  handlers?: BaseHandler[];
}

/** Passes texts of its level and above to its handlers. */
export class Logger {
  readonly #name: string;
  readonly #level: number;
  readonly #handlers: readonly BaseHandler[];

  constructor(loggerName: string, levelName: LevelName, options: LoggerOptions = {}) {
    this.#name = loggerName;
    this.#level = LEVELS[levelName];
    this.#handlers = options.handlers ?? [];
  }

  debug(msg: string, ...args: unknown[]): void {
    this.#log("DEBUG", msg, args);
  }

  info(msg: string, ...args: unknown[]): void {
    this.#log("INFO", msg, args);
  }

  warn(msg: string, ...args: unknown[]): void {
    this.#log("WARN", msg, args);
  }

  error(msg: string, ...args: unknown[]): void {
    this.#log("ERROR", msg, args);
  }

  #log(levelName: LevelName, msg: string, args: unknown[]): void {
    const level = LEVELS[levelName];
    if (level < this.#level) return;
    const record = { msg, args, level, levelName, loggerName: this.#name, datetime: new Date() };
    for (const handler of this.#handlers) handler.handle(record);
  }
}
