/** What the requests of both command lines, the Agent's and the Computer's, are told by. */
import { DEFAULT_TIMEOUT_SECONDS, MAX_TIMEOUT_SECONDS } from "../protocol/timeouts.ts";
import { CallParams } from "./answers/arguments.ts";
import { UsageError } from "./outcome.ts";
import { collect, parseSeconds, wholeNumber } from "./options.ts";
import { type Command, InvalidArgumentError, Option } from "commander";

/** The options of `call`. */
export interface CallFlags {
  readonly params: CallParams;
  /** In seconds. */
  readonly timeout: number;
}

/** The options of `desktop`. */
export interface DesktopFlags {
  readonly size?: number;
  readonly window?: string;
  readonly lines?: number;
}

/** The options of `finder`. */
export interface FinderFlags {
  readonly keyword?: string[];
  readonly fileType?: string;
  readonly offset?: number;
  readonly limit?: number;
}

/** `--params JSON` */
export function paramsOption(): Option {
  return new Option("--params <json>", "its arguments as a JSON object, @FILE, or - for standard input")
    .argParser((written) => new CallParams(written)).default(new CallParams("{}"), "{}");
}

/** `--timeout S` */
export function timeoutOption(): Option {
  return new Option("--timeout <seconds>", "how long it may take").argParser(parseCallSeconds)
    .default(DEFAULT_TIMEOUT_SECONDS);
}

/** {@linkcode DesktopFlags} */
export function desktopOptions(): Option[] {
  return [
    new Option("--size <n>", "at most n windows").argParser(wholeNumber(0)),
    new Option("--window <uri>", "only this one"),
    new Option("--lines <n>", "on a terminal, lines of each window; 0 for all (default: 20, all of one)")
      .argParser(wholeNumber(0)),
  ];
}

/** {@linkcode FinderFlags} */
export function finderOptions(): Option[] {
  return [
    new Option("--keyword <k>", "in title, keywords or summary; may be repeated").argParser(collect),
    new Option("--file-type <type>", "of exactly this type, such as pdf"),
    new Option("--offset <n>", "leave out the first n").argParser(wholeNumber(0)),
    new Option("--limit <n>", "at most n of them, 20 by default").argParser(wholeNumber(0)),
  ];
}

/** Adds options to a command. */
export function addAll(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option);
  return command;
}

/**
 * Checks that it is plain which MCP server a URI is read from.
 *
 * @throws {UsageError} that names the option.
 */
export function assertReadable(
  uri: string,
  { mcpServer }: { readonly mcpServer?: string | undefined },
): void {
  if (mcpServer !== undefined || /^(dpe|window):/i.test(uri)) return;
  throw new UsageError(
    `Cannot read "${uri}": say from which MCP server with --mcp-server NAME; only dpe:// and window:// URIs name it`,
  );
}

function parseCallSeconds(raw: string): number {
  const seconds = parseSeconds(raw);
  if (seconds > MAX_TIMEOUT_SECONDS) throw new InvalidArgumentError(`At most ${MAX_TIMEOUT_SECONDS}`);
  return seconds;
}
