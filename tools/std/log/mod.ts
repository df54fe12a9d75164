/**
 * Stands in for `jsr:@std/log` where only npm can be reached. npm has no copy of that package, so this is our own
 * writing of the parts that we use, with the same names, signatures and behaviour. Never published.
 *
 * @module
 */

import { type BaseHandler, ConsoleHandler } from "./handlers.ts";
import type { LevelName } from "./levels.ts";
import { Logger } from "./logger.ts";

export {
  BaseHandler,
  type BaseHandlerOptions,
  ConsoleHandler,
  type ConsoleHandlerOptions,
  type FormatterFunction,
  formatters,
  jsonFormatter,
} from "./handlers.ts";
export {
  getLevelByName,
  getLevelName,
  type LevelName,
  type LogLevel,
  LogLevelNames,
  LogLevels,
} from "./levels.ts";
export {
  type GenericFunction,
  Logger,
  type LoggerOptions,
  LogRecord,
  type LogRecordOptions,
} from "./logger.ts";

/** The level and the handlers, by name, of one logger. */
export interface LoggerConfig {
  level?: LevelName;
  handlers?: string[];
}

/** Handlers and loggers by name. */
export interface LogConfig {
  handlers?: Record<string, BaseHandler>;
  loggers?: Record<string, LoggerConfig>;
}

const defaultConfig = {
  handlers: { default: new ConsoleHandler("INFO") },
  loggers: { default: { level: "INFO", handlers: ["default"] } },
} satisfies LogConfig;

let activeHandlers: Record<string, BaseHandler> = {};
const loggers = new Map<string, Logger>();

/** Replaces all handlers and loggers by those of the configuration, over the default ones. */
export function setup(config: LogConfig): void {
  for (const handler of Object.values(activeHandlers)) handler.destroy();
  activeHandlers = { ...defaultConfig.handlers, ...config.handlers };
  for (const handler of Object.values(activeHandlers)) handler.setup();

  loggers.clear();
  for (
    const [name, logger] of Object.entries<LoggerConfig>({ ...defaultConfig.loggers, ...config.loggers })
  ) {
    const handlers = (logger.handlers ?? []).flatMap((handlerName) => activeHandlers[handlerName] ?? []);
    loggers.set(name, new Logger(name, logger.level ?? "INFO", { handlers }));
  }
}

/** The logger of this name, made silent when the configuration has none; without a name the default one. */
export function getLogger(name?: string): Logger {
  const key = name || "default";
  const logger = loggers.get(key) ?? new Logger(key, "NOTSET", { handlers: [] });
  loggers.set(key, logger);
  return logger;
}

setup(defaultConfig);
