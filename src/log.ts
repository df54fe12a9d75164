/** The logger that every part is given, and the one that the doors use: lines on stderr. */
import { BaseHandler, Logger as StdLogger, type LogRecord } from "@std/log";

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

/** The parts of the program that a person can set a log level for, and what each tells of. */
export const LOG_MODULES = {
  server: "the Server: offices, members, what is relayed",
  computer: "the Computer: the Agent's requests and their answers",
  agent: "the Agent: its requests and notifications",
  link: "the connection to the Server",
  mcp: "MCP servers: starts, stops, what they get wrong",
  tools: "tool calls",
  resources: "what Desktop and Finder are made of",
  config: "what the configuration gets wrong",
} as const;
/** One of {@linkcode LOG_MODULES}. */
export type LogModule = keyof typeof LOG_MODULES;

/** The lowest level that is written of each module. */
export interface LogLevels {
  /** Of every module that has no level of its own. */
  readonly level: LogLevel;
  /** Of single modules. */
  readonly modules: Readonly<Partial<Record<LogModule, LogLevel>>>;
}

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

/**
 * The same logger, for one part of the program: its lines have a field `module`, by which {@linkcode createLogger}
 * names and filters them. What is named within is the more exact and counts.
 */
export function withModule(log: Logger, module: LogModule): Logger {
  return withFields(log, { module });
}

/**
 * Reads log levels as a person writes them: a level for all, levels of single modules, or both, such as
 * `warn,mcp=debug`. Without a level for all it is `info`; what is said twice counts the last time.
 *
 * @throws {RangeError} for a level or module that there is not, with those that there are.
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
  throw new RangeError(`Cannot read log level "${text}": the levels are ${LOG_LEVELS.join(", ")}`);
}

function toModule(text: string): LogModule {
  if (isModule(text)) return text;
  throw new RangeError(
    `Cannot read log module "${text}": the modules are ${Object.keys(LOG_MODULES).join(", ")}`,
  );
}

function isModule(text: string): text is LogModule {
  return Object.hasOwn(LOG_MODULES, text);
}

/** What {@linkcode createLogger} may be told. */
export interface LoggerOptions {
  /** What is written; `info` and above of everything by default. */
  readonly levels?: LogLevels | undefined;
  /** `text` by default; `json` is one object a line with `time`, `level`, `module`, `message` and the fields. */
  readonly format?: LogFormat | undefined;
  /** Who is speaking where a line does not say it; `smcp` by default. */
  readonly module?: LogModule | undefined;
  /** Takes each line, without a line feed; stderr by default, so that stdout stays for results. */
  readonly write?: ((line: string) => void) | undefined;
}

/** A logger that writes lines. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { levels = { level: "info", modules: {} }, format = "text", write = console.error } = options;
  const handlers = [new LineHandler(format, write)];
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

/** What would end a line, command a terminal, or reorder what stands beside it. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Bidi_Control}\u2028\u2029]/gu;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([["\n", "\\n"], ["\r", "\\r"], ["\t", "\\t"]]);

/** A record is one line whatever strangers wrote into it; JSON, where this touches only strings, means the same. */
function toOneLine(line: string): string {
  return line.replace(
    UNSAFE,
    (unit) => SHORT_ESCAPES.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** So much of one text is written, in characters: a stranger may have chosen how long it is. */
const MAX_TEXT_LENGTH = 8_192;

/** The text, or its beginning and how long it is. */
function shortened(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  return `${text.slice(0, MAX_TEXT_LENGTH)}… (${text.length} characters)`;
}

class LineHandler extends BaseHandler {
  readonly #write: (line: string) => void;

  constructor(format: LogFormat, write: (line: string) => void) {
    super("NOTSET", { formatter: format === "json" ? formatJson : formatText });
    this.#write = write;
  }

  override log(line: string): void {
    this.#write(toOneLine(line));
  }
}

/** Who is speaking, and the fields that are left to tell. */
function partsOf(record: LogRecord): { readonly module: string; readonly fields: LogFields } {
  const [given] = record.args;
  const { module, ...fields }: Record<string, unknown> = typeof given === "object" ? { ...given } : {};
  return { module: typeof module === "string" ? module : record.loggerName, fields };
}

function formatText(record: LogRecord): string {
  const { module, fields } = partsOf(record);
  const time = record.datetime.toISOString();
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}=${formatValue(value)}`);
  return `${time} ${record.levelName.padEnd(5)} ${module}: ${shortened(record.msg)}${pairs.join("")}`;
}

function formatValue(value: unknown): string {
  if (typeof value !== "string") return shortened(JSON.stringify(value) ?? "undefined");
  const text = shortened(value);
  return /^[\w.:/@+-]+$/.test(text) ? text : JSON.stringify(text);
}

function formatJson(record: LogRecord): string {
  const { module, fields } = partsOf(record);
  return JSON.stringify({
    time: record.datetime.toISOString(),
    level: record.levelName.toLowerCase(),
    module,
    message: record.msg,
    ...fields,
  }, (_key, value: unknown) => typeof value === "string" ? shortened(value) : value);
}
