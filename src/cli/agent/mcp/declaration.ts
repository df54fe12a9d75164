/** Declares `mcp`, the command that serves the office to MCP clients. Loads nothing of the gateway. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, parseSeconds, wholeNumber } from "../../options.ts";

/** The options of the command. */
export interface McpOptions {
  readonly nameLength?: number;
  readonly tools: "all" | "search" | "auto";
  readonly builtinTools: boolean;
  readonly state?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly activityLog?: string;
  readonly activityArguments?: boolean;
  readonly http?: HttpPlace;
  readonly httpToken?: string;
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

/** Where the gateway listens: a host and a port, 0 for any free one. */
export interface HttpPlace {
  readonly host: string;
  readonly port: number;
}

/** Adds the command to the Agent's program. */
export function addMcpCommand(program: Command, run: (options: McpOptions) => Promise<void>): void {
  program.command("mcp")
    .description(
      "serve the office to an MCP client on standard input and output, or to many over HTTP; repeat --computer to " +
        "choose Computers",
    )
    .addOption(
      new Option("--name-length <characters>", "the most characters of a tool's name (default: 48)")
        .argParser(wholeNumber(16)).env("A2C_NAME_LENGTH"),
    )
    .addOption(
      new Option(
        "--tools <mode>",
        "offer all tools, or a few to search and call them; auto decides by their number",
      )
        .choices(["all", "search", "auto"]).default("all").env("A2C_TOOLS"),
    )
    .option("--no-builtin-tools", "leave out list_computers, view_desktop, find_documents and read_document")
    .addOption(
      new Option("--state <file>", "a file that keeps the names of tools over restarts").env("A2C_STATE"),
    )
    .addOption(
      new Option("--timeout <seconds>", "how long a call may take without progress (default: 300)")
        .argParser(parseSeconds),
    )
    .addOption(
      new Option("--http <[host:]port>", "serve clients over HTTP, at /mcp, /mcp/search and /mcp/c/COMPUTER")
        .argParser(parsePlace).env("A2C_GATEWAY_HTTP"),
    )
    .addOption(
      new Option("--http-token <token>", "the bearer token of clients over HTTP; prefer the variable")
        .env("A2C_GATEWAY_TOKEN"),
    )
    .option("--allow-host <name>", "a host name of the gateway besides localhost; can be repeated", collect)
    .option(
      "--allow-origin <name>",
      "a host name of pages that may use the gateway; can be repeated",
      collect,
    )
    .option(
      "--activity-log <file>",
      "append a line of JSON to this file for each call, without its arguments",
    )
    .option("--activity-arguments", "write the arguments of calls into the activity log, too")
    .action(run);
}

/** Parses `PORT`, `HOST:PORT` or `[ADDRESS]:PORT`. */
function parsePlace(raw: string): HttpPlace {
  const [, host = "127.0.0.1", digits = ""] = /^(?:(\[[^\]]+\]|[^:]+):)?(\d{1,5})$/.exec(raw) ?? [];
  const port = Number(digits);
  if (digits === "" || port > 65_535) throw new InvalidArgumentError("Expected PORT or HOST:PORT");
  return { host, port };
}
