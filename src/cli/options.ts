/** Options that several programs share, and readers for their values. */
import { describeError } from "../text.ts";
import { nameProblem } from "../protocol/names.ts";
import { DEFAULT_SOCKET_PATH, parseServerAddress } from "../protocol/server_address.ts";
import { UsageError } from "./outcome.ts";
import { InvalidArgumentError, Option } from "commander";
import {
  createLogger,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  type LogLevels,
  type LogModule,
  parseLogLevels,
} from "../log.ts";
import { terminalBottom } from "../terminal/bottom_line.ts";

/** How a client of the Server says who it is. */
export interface ConnectionOptions {
  readonly url: string;
  readonly office: string;
  readonly name: string;
  readonly token?: string;
  readonly auth: Readonly<Record<string, string>>;
  readonly header: Readonly<Record<string, string>>;
  readonly path: string;
}

/**
 * `--url`, `--office`, `--name`, `--token`, `--auth`, `--header`, `--path`, each also from the environment.
 * None is mandatory to the command line, which else would tell of it before a misspelled command: see
 * {@linkcode requireOptions}.
 */
export function connectionOptions(role: "computer" | "agent"): Option[] {
  return [
    new Option("--url <url>", "the Server, such as http://127.0.0.1:3000").env("A2C_URL").argParser(parseUrl),
    new Option("--office <office>", "the office to join").env("A2C_OFFICE").argParser(parseName),
    new Option("--name <name>", `the name of this ${role} in the office`).env("A2C_NAME").argParser(
      parseName,
    ),
    ...credentialOptions(),
    new Option("--path <path>", "the Socket.IO path, below that of the URL")
      .default(DEFAULT_SOCKET_PATH).env("A2C_PATH"),
  ];
}

/**
 * Checks that options have a value.
 *
 * @param names As in `options`; each may stand in the environment as `A2C_NAME`.
 * @throws {UsageError} that names all that are missing.
 */
export function requireOptions(options: object, names: readonly string[]): void {
  const given = new Map<string, unknown>(Object.entries(options));
  const missing = names.filter((name) => given.get(name) === undefined);
  if (missing.length === 0) return;
  const list = missing.map((name) => `--${name} (or A2C_${name.toUpperCase()})`).join(", ");
  throw new UsageError(`Cannot start: give ${list}; --help says more`);
}

/** `--token`, `--auth FIELD=VALUE`, `--header NAME=VALUE`. */
function credentialOptions(): Option[] {
  return [
    new Option("--token <token>", "sent as the auth field `token`").env("A2C_TOKEN"),
    new Option("--auth <FIELD=VALUE>", "a field of the auth object; may be repeated")
      .argParser(collectPair).default({}, "none").env("A2C_AUTH"),
    new Option("--header <NAME=VALUE>", "an HTTP header of the connection; may be repeated")
      .argParser(collectPair).default({}, "none").env("A2C_HEADER"),
  ];
}

/** The Socket.IO `auth` object that the options ask for. */
export function authOf(options: Pick<ConnectionOptions, "token" | "auth">): Record<string, string> {
  return options.token === undefined ? { ...options.auth } : { token: options.token, ...options.auth };
}

/** Reads `http://host:port`; `ws` and `wss` are the same to Socket.IO. */
export function parseUrl(raw: string): string {
  try {
    parseServerAddress(raw);
    return raw;
  } catch (error) {
    throw new InvalidArgumentError(describeError(error));
  }
}

/** Reads the name of a member or an office, in the one spelling that its letters have on the wire. */
function parseName(raw: string): string {
  const name = raw.normalize("NFC");
  const problem = nameProblem(name);
  if (problem === undefined) return name;
  throw new InvalidArgumentError(`A name ${problem}`);
}

/** Reads a TCP port, 0 for a free one. */
export function parsePort(raw: string): number {
  const port = Number(raw);
  if (!/^\d+$/.test(raw) || port > 65_535) {
    throw new InvalidArgumentError("A port is a number from 0 to 65535");
  }
  return port;
}

/** Reads a whole number of at least `min`. */
export function wholeNumber(min: number): (raw: string) => number {
  return (raw) => {
    const number = Number(raw);
    if (!Number.isSafeInteger(number) || raw.trim() === "" || number < min) {
      throw new InvalidArgumentError(`Give a whole number, ${min} or above`);
    }
    return number;
  };
}

/** What a time may end with, and how many milliseconds that is. */
const TIME_UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads a time above 0 as seconds: `1.5`, `5s`, `500ms`, `2m`, `1h`. */
export function parseSeconds(raw: string): number {
  const timeMs = readTimeMs(raw);
  const seconds = timeMs === undefined ? Number(raw) : timeMs / 1_000;
  if (!(seconds > 0) || !Number.isFinite(seconds)) {
    throw new InvalidArgumentError("Give seconds above 0, or a time such as 500ms, 5s or 2m");
  }
  return seconds;
}

/** Reads a time above 0 as whole milliseconds: `500`, `5s`, `2m`, `1h`. */
export function parseMilliseconds(raw: string): number {
  const timeMs = raw.trim() === "" ? NaN : readTimeMs(raw) ?? Number(raw);
  if (!Number.isSafeInteger(timeMs) || timeMs < 1) {
    throw new InvalidArgumentError("Give whole milliseconds above 0, or a time such as 500ms, 5s or 2m");
  }
  return timeMs;
}

/** A number with a unit in milliseconds; `undefined` for anything else. */
function readTimeMs(raw: string): number | undefined {
  const [, number, unit = ""] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(raw.trim()) ?? [];
  const unitMs = TIME_UNITS[unit];
  // 0.0011 x 1,000 is no whole number to a computer; a millionth of a millisecond is nothing to a person.
  return unitMs === undefined ? undefined : Number((Number(number) * unitMs).toFixed(6));
}

/** Gathers the values of an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** Gathers `NAME=VALUE` pairs; the value may hold further `=`. */
export function collectPair(
  pair: string,
  earlier: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const cut = pair.indexOf("=");
  if (cut < 1) throw new InvalidArgumentError("Write it as NAME=VALUE");
  return { ...earlier, [pair.slice(0, cut)]: pair.slice(cut + 1) };
}

/** What every door's command line says about logging. */
export interface LogOptions {
  readonly logLevel: LogLevels;
  readonly logFormat: LogFormat;
}

/**
 * `--log-level` and `--log-format`, each also from the environment.
 *
 * @param help How the default is told where it depends on the command; `info` by default.
 */
export function logOptions(help = "info"): Option[] {
  return [
    new Option("--log-level <levels>", "the lowest level written to stderr, such as warn or info,mcp=debug")
      .argParser(parseLevels).default(parseLogLevels("info"), help).env("A2C_LOG_LEVEL"),
    new Option("--log-format <format>", "how log lines are written")
      .choices(["text", "json"]).default("text").env("A2C_LOG_FORMAT"),
  ];
}

/**
 * The logger that the options ask for. Its lines go to stderr, above a prompt or progress where there is one, or to
 * `write`.
 */
export function loggerOf(module: LogModule, options: LogOptions & Pick<LoggerOptions, "write">): Logger {
  const { logLevel: levels, logFormat: format, write = writeLine } = options;
  return createLogger({ module, levels, format, write });
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
