/**
 * Stands in for `jsr:@std/log` where only npm can be reached. npm has no copy of that package, so this is our own
 * writing of the parts that we use, with the same names, signatures and behaviour. Never published.
 *
 * @module
 */

export { BaseHandler, type BaseHandlerOptions, type FormatterFunction } from "./handlers.ts";
export { getLevelByName, getLevelName, type LevelName, type LogLevel, LogLevels } from "./levels.ts";
export {
  type GenericFunction,
  Logger,
  type LoggerOptions,
  LogRecord,
  type LogRecordOptions,
} from "./logger.ts";
