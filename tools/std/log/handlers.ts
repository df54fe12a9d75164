import { getLevelByName, getLevelName, type LevelName, type LogLevel } from "./levels.ts";
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
