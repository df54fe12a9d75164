import type { BaseHandler } from "./handlers.ts";
import { getLevelByName, getLevelName, type LevelName, type LogLevel, LogLevels } from "./levels.ts";

/** Any function: what a logger takes for a lazy message. */
// deno-lint-ignore no-explicit-any -- the genuine type: only `any` accepts every signature
export type GenericFunction = (...args: any[]) => any;

/** What a log record is made of. */
export interface LogRecordOptions {
  msg: string;
  args: unknown[];
  level: LogLevel;
  loggerName: string;
}

/** One logged message with its arguments, level, logger and time. */
export class LogRecord {
  readonly msg: string;
  readonly level: LogLevel;
  readonly levelName: LevelName;
  readonly loggerName: string;
  readonly #args: readonly unknown[];
  readonly #timeMs = Date.now();

  constructor(options: LogRecordOptions) {
    this.msg = options.msg;
    this.level = options.level;
    this.levelName = getLevelName(options.level);
    this.loggerName = options.loggerName;
    this.#args = [...options.args];
  }

  get args(): unknown[] {
    return [...this.#args];
  }

  get datetime(): Date {
    return new Date(this.#timeMs);
  }
}

/** Where a logger's records go. */
export interface LoggerOptions {
  handlers?: BaseHandler[];
}

type Message<T> = (T extends GenericFunction ? never : T) | (() => T);

/** Passes what is logged at its level or above to its handlers, and returns the message. */
export class Logger {
  handlers: BaseHandler[];
  readonly #loggerName: string;
  #level: LogLevel;

  constructor(loggerName: string, levelName: LevelName, options: LoggerOptions = {}) {
    this.#loggerName = loggerName;
    this.#level = getLevelByName(levelName);
    this.handlers = options.handlers ?? [];
  }

  get level(): LogLevel {
    return this.#level;
  }

  set level(level: LogLevel) {
    this.#level = getLevelByName(getLevelName(level));
  }

  get levelName(): LevelName {
    return getLevelName(this.#level);
  }

  set levelName(levelName: LevelName) {
    this.#level = getLevelByName(levelName);
  }

  get loggerName(): string {
    return this.#loggerName;
  }

  asString(value: unknown, isProperty = false): string {
    if (typeof value === "string") return isProperty ? `"${value}"` : value;
    if (value instanceof Error) return value.stack ?? String(value);
    if (typeof value === "function") return "undefined";
    if (typeof value !== "object" || value === null) return String(value);
    const members = Object.entries(value).map(([key, member]) => `"${key}":${this.asString(member, true)}`);
    return `{${members.join(",")}}`;
  }

  debug<T>(msg: () => T, ...args: unknown[]): T | undefined;
  debug<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  debug<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.DEBUG, msg, args);
  }

  info<T>(msg: () => T, ...args: unknown[]): T | undefined;
  info<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  info<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.INFO, msg, args);
  }

  warn<T>(msg: () => T, ...args: unknown[]): T | undefined;
  warn<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  warn<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.WARN, msg, args);
  }

  error<T>(msg: () => T, ...args: unknown[]): T | undefined;
  error<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  error<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.ERROR, msg, args);
  }

  critical<T>(msg: () => T, ...args: unknown[]): T | undefined;
  critical<T>(msg: T extends GenericFunction ? never : T, ...args: unknown[]): T;
  critical<T>(msg: Message<T>, ...args: unknown[]): T | undefined {
    return this.#log(LogLevels.CRITICAL, msg, args);
  }

  #log<T>(level: LogLevel, msg: Message<T>, args: unknown[]): T | undefined {
    const isLazy = msg instanceof Function;
    if (level < this.#level) return isLazy ? undefined : msg;
    const value = isLazy ? (msg as () => T)() : msg;
    const record = new LogRecord({ msg: this.asString(value), args, level, loggerName: this.#loggerName });
    for (const handler of this.handlers) handler.handle(record);
    return value;
  }
}
