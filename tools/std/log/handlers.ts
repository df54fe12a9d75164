import { getLevelByName, getLevelName, type LevelName, type LogLevel, LogLevels } from "./levels.ts";
import type { LogRecord } from "./logger.ts";

/** Turns a record into the text that a handler writes. */
export type FormatterFunction = (logRecord: LogRecord) => string;

/** How a handler writes records. */
export interface BaseHandlerOptions {
  formatter?: FormatterFunction;
}

/** Writes the records of its level and above, one text each. Subclasses say where. */
export abstract class BaseHandler {
  formatter: FormatterFunction;
  #level: LogLevel;

  constructor(levelName: LevelName, options: BaseHandlerOptions = {}) {
    this.#level = getLevelByName(levelName);
    this.formatter = options.formatter ?? ((record) => `${record.levelName} ${record.msg}`);
  }

  get level(): LogLevel {
    return this.#level;
  }

  set level(level: LogLevel) {
    this.#level = level;
  }

  get levelName(): LevelName {
    return getLevelName(this.#level);
  }

  set levelName(levelName: LevelName) {
    this.#level = getLevelByName(levelName);
  }

  handle(logRecord: LogRecord): void {
    if (logRecord.level >= this.#level) this.log(this.format(logRecord));
  }

  format(logRecord: LogRecord): string {
    return this.formatter(logRecord);
  }

  abstract log(msg: string): void;

  setup(): void {}

  destroy(): void {}

  [Symbol.dispose](): void {
    this.destroy();
  }
}

/** How a console handler writes records. */
export interface ConsoleHandlerOptions extends BaseHandlerOptions {
  useColors?: boolean;
}

// The colours of the genuine handler, as ANSI escape codes: blue, yellow, red, bold red.
const colors: Readonly<Record<number, readonly [string, string]>> = {
  [LogLevels.INFO]: ["\x1b[34m", "\x1b[39m"],
  [LogLevels.WARN]: ["\x1b[33m", "\x1b[39m"],
  [LogLevels.ERROR]: ["\x1b[31m", "\x1b[39m"],
  [LogLevels.CRITICAL]: ["\x1b[1m\x1b[31m", "\x1b[39m\x1b[22m"],
};

/** Writes records to standard output, in colour unless told otherwise. */
export class ConsoleHandler extends BaseHandler {
  readonly #useColors: boolean;

  constructor(levelName: LevelName, options: ConsoleHandlerOptions = {}) {
    super(levelName, options);
    this.#useColors = options.useColors ?? true;
  }

  override format(logRecord: LogRecord): string {
    const text = super.format(logRecord);
    return this.#useColors ? this.applyColors(text, logRecord.level) : text;
  }

  applyColors(msg: string, level: number): string {
    const [before, after] = Deno.noColor ? ["", ""] : colors[level] ?? ["", ""];
    return `${before}${msg}${after}`;
  }

  override log(msg: string): void {
    console.log(msg);
  }
}

/** A record as one line of JSON. */
export function jsonFormatter(logRecord: LogRecord): string {
  const { args } = logRecord;
  return JSON.stringify({
    level: logRecord.levelName,
    datetime: logRecord.datetime.getTime(),
    message: logRecord.msg,
    args: args.length > 1 ? args : args[0],
  });
}

/** The formatters that come with the library. */
export const formatters = { jsonFormatter } as const;
