/**
 * Logging: the interface that all rooms use, and the logger of the programs, which writes one line per record.
 *
 * A text line has the time, the level, the module, the message and the fields; strings that are not one word are JSON:
 *
 * ```text
 * 2026-01-02T03:04:05.678Z INFO  mcp: server started server=files duration_ms=212
 * ```
 *
 * A JSON line has the same parts as members:
 *
 * ```json
 * {"time":"2026-01-02T03:04:05.678Z","level":"info","module":"mcp","message":"server started","server":"files","duration_ms":212}
 * ```
 *
 * Messages are lower case without a final period. Values that change from line to line are fields, in snake_case and
 * with their unit in the name. A secret is never logged.
 */
import { BaseHandler, Logger as StdLogger, type LogRecord } from "@std/log";
import { escapeUnseen } from "./text/safe_text.ts";

/** The values of a log line beside its message, such as `req_id`, `server`, `duration_ms`. Never a secret. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Takes log records. Any object with these four methods is a logger. */
export interface Logger {
  /** Details for debugging. */
  debug(message: string, fields?: LogFields): void;
  /** Normal events that an operator wants to know. */
  info(message: string, fields?: LogFields): void;
  /** A problem that the program handled. */
  warn(message: string, fields?: LogFields): void;
  /** A failure. */
  error(message: string, fields?: LogFields): void;
}

/** The names of the log levels, from the least severe to the most. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** A log level. */
export type LogLevel = typeof LOG_LEVELS[number];

/** The modules that can have a log level, and the subject of their lines. */
export const LOG_MODULES = {
  server: "the Server: offices, members, relayed requests",
  audit: "the Server: who connects, joins, leaves and is refused",
  hub: "the hub: its seats in offices, and its MCP clients",
  computer: "the Computer: the Agent's requests and their answers",
  agent: "the Agent: its requests and notifications",
  link: "the connection to the Server",
  mcp: "MCP servers: starts, stops, protocol errors",
  tools: "tool calls",
  resources: "resources behind Desktop and Finder",
  config: "problems of the configuration",
  documents: "files that become documents",
} as const;
/** One of {@linkcode LOG_MODULES}. */
export type LogModule = keyof typeof LOG_MODULES;

/** The lowest level of each module that is written. */
export interface LogLevels {
  /** For modules that are not in `modules`. */
  readonly level: LogLevel;
  /** For single modules. */
  readonly modules: Readonly<Partial<Record<LogModule, LogLevel>>>;
}

/** The format of log lines. */
export type LogFormat = "text" | "json";

/** A logger that drops all records; the default in the library. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** A logger that adds `fields` to each record. Fields of the record itself override them. */
export function withFields(log: Logger, fields: LogFields): Logger {
  return {
    debug: (message, own) => log.debug(message, { ...fields, ...own }),
    info: (message, own) => log.info(message, { ...fields, ...own }),
    warn: (message, own) => log.warn(message, { ...fields, ...own }),
    error: (message, own) => log.error(message, { ...fields, ...own }),
  };
}

/**
 * A logger that adds a field `module` to each record, by which {@linkcode createLogger} names and filters lines. When
 * it is nested, the inner module applies.
 */
export function withModule(log: Logger, module: LogModule): Logger {
  return withFields(log, { module });
}

/**
 * Parses log levels as on the command line: a level for all modules, levels of single modules, or both, such as
 * `warn,mcp=debug`. The level for all modules is `info` by default. The last of several levels for a module applies.
 *
 * @throws {RangeError} for an unknown level or module; the message lists the known ones.
 */
export function parseLogLevels(text: string): LogLevels {
  let level: LogLevel = "info";
  const modules: Partial<Record<LogModule, LogLevel>> = {};
  for (const part of text.split(",").map((part) => part.trim())) {
    const cut = part.indexOf("=");
    if (cut < 0) level = toLevel(part);
    else modules[toModule(part.slice(0, cut))] = toLevel(part.slice(cut + 1));
  }
  return { level, modules };
}

function toLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((each) => each === text);
  if (level !== undefined) return level;
  throw new RangeError(`Unknown log level "${text}" (levels: ${LOG_LEVELS.join(", ")})`);
}

function toModule(text: string): LogModule {
  if (isModule(text)) return text;
  throw new RangeError(
    `Unknown log module "${text}" (modules: ${Object.keys(LOG_MODULES).join(", ")})`,
  );
}

function isModule(text: string): text is LogModule {
  return Object.hasOwn(LOG_MODULES, text);
}

/** Options of {@linkcode createLogger}. */
export interface LoggerOptions {
  /** The levels that are written; `info` and above for all modules by default. */
  readonly levels?: LogLevels | undefined;
  /** `text` by default; `json` writes an object with `time`, `level`, `module`, `message` and the fields. */
  readonly format?: LogFormat | undefined;
  /** Whether a text line begins with the time; `true` by default. */
  readonly hasTime?: boolean | undefined;
  /** The module of records without a field `module`; `smcp` by default. */
  readonly module?: LogModule | undefined;
  /** Writes a line, given without a line feed; to stderr by default. */
  readonly write?: ((line: string) => void) | undefined;
}

/** Makes a logger that writes one line per record. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { levels = { level: "info", modules: {} }, format = "text", hasTime = true } = options;
  const formatter = format === "json" ? formatJson : hasTime ? formatText : formatUntimed;
  const handlers = [new LineHandler(formatter, options.write ?? console.error)];
  const std = new StdLogger(options.module ?? "smcp", "DEBUG", { handlers });
  const isWritten = (level: LogLevel, { module = options.module }: LogFields) => {
    const lowest = typeof module === "string" && isModule(module) ? levels.modules[module] : undefined;
    return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(lowest ?? levels.level);
  };
  const logAt = (level: LogLevel) => (message: string, fields: LogFields = {}): void => {
    if (isWritten(level, fields)) std[level](message, fields);
  };
  return { debug: logAt("debug"), info: logAt("info"), warn: logAt("warn"), error: logAt("error") };
}

/** The longest text in a line, in characters: its length may be chosen by a peer. */
const MAX_TEXT_LENGTH = 8_192;

/** The text, or its beginning and its length. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  return `${text.slice(0, MAX_TEXT_LENGTH)}… (${text.length} characters)`;
}

class LineHandler extends BaseHandler {
  readonly #write: (line: string) => void;

  constructor(formatter: (record: LogRecord) => string, write: (line: string) => void) {
    super("NOTSET", { formatter });
    this.#write = write;
  }

  override log(line: string): void {
    // A JSON line keeps its meaning: what is escaped occurs only within its strings.
    this.#write(escapeUnseen(line));
  }
}

/** The module of a record, and its other fields. */
function partsOf(record: LogRecord): { readonly module: string; readonly fields: LogFields } {
  const [given] = record.args;
  const { module, ...fields }: Record<string, unknown> = typeof given === "object" ? { ...given } : {};
  return { module: typeof module === "string" ? module : record.loggerName, fields };
}

function formatText(record: LogRecord): string {
  return `${record.datetime.toISOString()} ${formatUntimed(record)}`;
}

function formatUntimed(record: LogRecord): string {
  const { module, fields } = partsOf(record);
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${record.levelName.padEnd(5)} ${module}: ${shortened(record.msg)}${pairs.join("")}`;
}

function formatValue(value: unknown): string {
  if (typeof value !== "string") return shortened(JSON.stringify(toWritable(value)) ?? "undefined");
  const text = shortened(value);
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text);
}

/** The value, or what is said in place of one that JSON cannot have, such as a cycle. A log line must not end its caller. */
function toWritable(value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  try {
    JSON.stringify(value);
    return value;
  } catch {
    return "(cannot be written as JSON)";
  }
}

function formatJson(record: LogRecord): string {
  const { module, fields } = partsOf(record);
  const own = {
    time: record.datetime.toISOString(),
    level: record.levelName.toLowerCase(),
    module,
    message: record.msg,
  };
  const written = Object.entries(fields).map(([key, value]) => [key, toWritable(value)]);
  // First for their place in the line, and last so that no field replaces them.
  return JSON.stringify(
    { ...own, ...Object.fromEntries(written), ...own },
    (_key, value: unknown) => typeof value === "string" ? shortened(value) : value,
  );
}
