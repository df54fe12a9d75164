/** `--log-level` and `--log-format`, and the logger that they ask for. */
import { InvalidArgumentError, Option } from "commander";
import {
  createLogger,
  LOG_LEVELS,
  LOG_MODULES,
  type LogFormat,
  type Logger,
  type LoggerOptions,
  type LogLevels,
  type LogModule,
  parseLogLevels,
} from "../log.ts";
import { helpPart } from "./help_form.ts";
import { terminalBottom } from "../terminal/bottom_line.ts";

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

/** What `--help` says about levels and modules. */
export const LOG_HELP: string = helpPart(
  "Log levels:",
  [
    `  ${LOG_LEVELS.join(", ")}; modules that may have one of their own (module=level):`,
    ...Object.entries(LOG_MODULES).map(([name, what]) => `  ${name.padEnd(10)} ${what}`),
  ].join("\n"),
);

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
