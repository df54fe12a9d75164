/** Options that several programs share, and readers for their values. */
import { describeError } from "../text/text.ts";
import { nameProblem } from "../protocol/names.ts";
import { parseServerAddress } from "../protocol/server_address.ts";
import { UsageError } from "./outcome.ts";
import { InvalidArgumentError, Option } from "commander";
import {
  createLogger,
  type LogFields,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  type LogLevels,
  type LogModule,
  parseLogLevels,
} from "../log.ts";
import { permitted } from "../files/state_folder.ts";
import { terminalBottom } from "../terminal/bottom_line.ts";

/** About a word that may be the rest of a path. */
export const SPACES_NEED_QUOTES = "a path with spaces needs quotes";

/** Throws a UsageError that names every missing option; each can also come from the environment as `A2C_NAME`. */
export function requireOptions(options: object, names: readonly string[], hint = "see --help"): void {
  const given = new Map<string, unknown>(Object.entries(options));
  const missing = names.filter((name) => given.get(name) === undefined);
  if (missing.length === 0) return;
  const list = missing.map((name) => `--${name} (or A2C_${name.toUpperCase()})`).join(", ");
  throw new UsageError(`Cannot start: missing ${list}; ${hint}`);
}

export function parseUrl(raw: string): string {
  try {
    parseServerAddress(raw);
    return raw;
  } catch (error) {
    throw new InvalidArgumentError(describeError(error));
  }
}

/** Whether an argument is a URL rather than the name of an office. */
export function isServerUrl(word: string): boolean {
  return /^(?:http|ws)s?:\/\//i.test(word);
}

/** Parses the name of a member or an office and normalizes it to Unicode NFKC, as it is sent. */
export function parseName(raw: string): string {
  const name = raw.normalize("NFKC");
  const problem = nameProblem(name);
  if (problem === undefined) return name;
  throw new InvalidArgumentError(`A name ${problem}`);
}

/** Token files and lists separate offices by commas, so one office with a comma would look like several. */
export function parseGrantedOffice(raw: string): string {
  const office = parseName(raw);
  if (!office.includes(",")) return office;
  throw new InvalidArgumentError(
    "An office has no comma here; give each one by itself",
  );
}

/** Parses a TCP port; 0 means any free port. */
export function parsePort(raw: string): number {
  const port = Number(raw);
  if (!/^\d+$/.test(raw) || port > 65_535) {
    throw new InvalidArgumentError("Expected a port from 0 to 65535");
  }
  return port;
}

export function wholeNumber(min: number): (raw: string) => number {
  return (raw) => {
    const number = Number(raw);
    if (!Number.isSafeInteger(number) || raw.trim() === "" || number < min) {
      throw new InvalidArgumentError(`Expected a whole number, ${min} or above`);
    }
    return number;
  };
}

const SIZE_UNITS: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
};

/** Returns a parser for sizes of at least `min` bytes: `16777216`, `16MB`, `16MiB`. */
export function sizeOf(min: number): (raw: string) => number {
  return (raw) => {
    const [, number = "", unit = "b"] =
      /^(\d+(?:\.\d+)?)(?:\s*([kmg]?i?b))?$/.exec(raw.trim().toLowerCase()) ?? [];
    // Floating point makes 1.1 x 1,000,000 not exactly 1,100,000.
    const sizeBytes = Math.round(Number(number) * (SIZE_UNITS[unit] ?? NaN));
    const isWhole = unit !== "b" || !number.includes(".");
    if (number === "" || !isWhole || !Number.isSafeInteger(sizeBytes)) {
      throw new InvalidArgumentError("Expected whole bytes, or a size such as 500KB, 16MB or 16MiB");
    }
    if (sizeBytes < min) throw new InvalidArgumentError(`Expected ${min} bytes or more`);
    return sizeBytes;
  };
}

const TIME_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses a time above 0 in seconds: `1.5`, `5s`, `500ms`, `2m`, `1h`. */
export function parseSeconds(raw: string): number {
  const timeMs = readTimeMs(raw);
  const seconds = timeMs === undefined ? Number(raw) : timeMs / 1_000;
  if (!(seconds > 0) || !Number.isFinite(seconds)) {
    throw new InvalidArgumentError("Expected seconds above 0, or a time such as 500ms, 5s or 2m");
  }
  return seconds;
}

/** Parses a time above 0 in whole milliseconds: `500`, `5s`, `2m`, `1h`. */
export function parseMilliseconds(raw: string): number {
  const timeMs = raw.trim() === "" ? NaN : readTimeMs(raw) ?? Number(raw);
  if (!Number.isSafeInteger(timeMs) || timeMs < 1) {
    throw new InvalidArgumentError("Expected whole milliseconds above 0, or a time such as 500ms, 5s or 2m");
  }
  return timeMs;
}

/** A number with a unit in milliseconds; `undefined` for anything else. */
function readTimeMs(raw: string): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(raw.trim()) ?? [];
  const unitMs = TIME_UNITS[unit];
  // Floating point makes 0.0011 x 1,000 not exactly 1.1; rounding removes the error.
  return unitMs === undefined ? undefined : Number((Number(number) * unitMs).toFixed(6));
}

export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** Collects the `NAME=VALUE` pairs of a repeatable option; the value may contain `=`. */
export function collectPair(
  pair: string,
  earlier: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const cut = pair.indexOf("=");
  if (cut < 1) throw new InvalidArgumentError("Expected NAME=VALUE");
  return { ...earlier, [pair.slice(0, cut)]: pair.slice(cut + 1) };
}

export interface LogOptions {
  readonly logLevel: LogLevels;
  readonly logFormat: LogFormat;
}

/**
 * `--log-level` and `--log-format`, each also from the environment.
 *
 * @param help The default level as the help shows it, if it depends on the command; `info` by default.
 */
export function logOptions(help = "info"): Option[] {
  return [
    new Option("--log-level <levels>", "log messages of this level and above, such as warn or info,mcp=debug")
      .argParser(parseLevels).default(parseLogLevels("info"), help).env("A2C_LOG_LEVEL"),
    new Option("--log-format <format>", "the format of log lines, which go to stderr")
      .choices(["text", "json"]).default("text").env("A2C_LOG_FORMAT"),
  ];
}

/**
 * Creates the logger of these options. Its lines go to `write`; by default to stderr, above a prompt or progress if one
 * is shown.
 */
export function loggerOf(module: LogModule, options: LogOptions & Pick<LoggerOptions, "write">): Logger {
  const { logLevel: levels, logFormat: format, write = writeLine } = options;
  return createLogger({ module, levels, format, write, hasTime: !isJournal() });
}

const STDERR = "/dev/stderr";

/** Whether standard error is the journal of systemd, which has a time for each line. */
function isJournal(): boolean {
  const variable = "JOURNAL_STREAM";
  const isReadable = Deno.permissions.querySync({ name: "env", variable }).state === "granted";
  const stream = isReadable ? Deno.env.get(variable) : undefined;
  if (stream === undefined || permitted("read", STDERR) === undefined) return false;
  const { dev, ino } = Deno.statSync(STDERR);
  return stream === `${dev}:${ino}`;
}

/** Tells the one thing that goes to standard output: a line of text, or a JSON log line with `--log-format json`. */
export function announce(
  module: LogModule,
  { logFormat }: Pick<LogOptions, "logFormat">,
  told: { readonly text: string; readonly message: string; readonly fields: LogFields },
): void {
  if (logFormat === "text") return console.log(told.text);
  const logger = loggerOf(module, { logFormat, logLevel: parseLogLevels("info"), write: console.log });
  logger.info(told.message, told.fields);
}

function writeLine(line: string): void {
  terminalBottom.writeAbove(() => console.error(line));
}

function parseLevels(text: string): LogLevels {
  try {
    return parseLogLevels(text);
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError(error.message);
    throw error;
  }
}
