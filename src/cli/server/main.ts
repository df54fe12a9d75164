/** The command line of `server.ts`. */
import {
  addCommandHelp,
  commandLineOf,
  createProgram,
  helpPart,
  runProgram,
  shareOptions,
  withoutSharedOptions,
} from "../program.ts";
import { didYouMean } from "../../text/spelling.ts";
import { UsageError } from "../outcome.ts";
import { addServerCommands } from "./commands.ts";
import { type Command, Option } from "commander";
import { parsePort } from "../options.ts";
import { checkJwtOptions } from "./credentials.ts";
import { completeOptions, misspeltVariables } from "./option_sources.ts";
import { type ServerCliOptions, serverOptionGroups } from "./options.ts";
import type { OptionName } from "../../server/options/table.ts";
import { runServer } from "./run.ts";

/** Runs a Server until Ctrl-C, SIGTERM or SIGHUP and returns the exit code. */
export function runServerCli(args: readonly string[]): Promise<number> {
  return runProgram(args, (signal) => createServerProgram(signal, args));
}

/** @param args The words of the command line, which are sent to a running Server. */
export function createServerProgram(signal: AbortSignal, args: readonly string[] = []): Command {
  const program = createProgram(
    "server",
    "Run the A2C-SMCP Server, which relays messages between the Agent and the Computers of each office. Its commands " +
      "are for a Server, or a hub, that runs on this machine (give --port when several run).",
  );
  addServerOptions(program);
  program.addHelpText("after", examples(commandLineOf("server")));
  program.argument("[command]").allowExcessArguments().usage("[options] [command]");
  program.action(async (word: string | undefined) => {
    if (word !== undefined) {
      throw new UsageError(`Cannot run "${word}": ${unknownCommandText(program, word)}`);
    }
    const warnings = await readServerOptions(program);
    await runServer(program, { signal, warnings, claim: () => {} });
  });
  addServerCommands(program, ({ json }) => runElsewhere(program, { args, json, signal }));
  addCommandHelp(program, "server");
  shareOptions(program);
  return program;
}

/** Sends the command to the Server that runs. */
async function runElsewhere(
  program: Command,
  { args, ...rest }: {
    readonly args: readonly string[];
    readonly json: boolean;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { askServer } = await import("./ask_server.ts");
  // A variable is for a Server that starts.
  const port = program.getOptionValueSource("port") === "cli"
    ? program.opts<ServerCliOptions>().port
    : undefined;
  await askServer({ ...rest, port, words: withoutSharedOptions(program, args) });
}

/** Declares the options of a Server, for a program that runs one. */
export function addServerOptions(program: Command): void {
  for (const { heading, options } of serverOptionGroups()) {
    for (const option of options) program.addOption(option.helpGroup(`${heading}:`));
  }
  program.addOption(
    new Option(
      "--console [port]",
      "open the page of the operator at the start, on loopback, and print its link (default: a free port)",
    ).argParser(parsePort).helpGroup("Operator:"),
  );
}

/**
 * Completes the options of a program that runs a Server by the environment and the file of `--config`. Resolves to warnings.
 *
 * @throws {UsageError} for a value that cannot be used.
 */
export async function readServerOptions(program: Command): Promise<readonly string[]> {
  await completeOptions(program, (name) => Deno.env.get(name));
  const variables = variableNames();
  checkJwtOptions(program, variables);
  return [...misspeltVariables(program, variables), ...uselessOptions(program)];
}

/** Warns of options that were given, and have no effect without another, or beside it. */
function uselessOptions(program: Command): readonly string[] {
  const { redisUrl, metricsPort, maxMessageMemoryBytes, maxPayloadBytes } = program.opts<ServerCliOptions>();
  const isGiven = (name: OptionName) => !["default", undefined].includes(program.getOptionValueSource(name));
  const useless = [
    isGiven("redisPrefix") && redisUrl === undefined && "--redis-prefix has no effect without --redis",
    isGiven("metricsHost") && metricsPort === undefined &&
    "--metrics-host has no effect without --metrics-port",
    maxMessageMemoryBytes < maxPayloadBytes &&
    "--max-message-memory is smaller than --max-payload: it is the limit of a message, too",
  ];
  return useless.filter((warning) => warning !== false);
}

/** The names of the environment variables; none where the permission covers only some of them, so that nobody is asked. */
function variableNames(): readonly string[] {
  const { state } = Deno.permissions.querySync({ name: "env" });
  return state === "granted" ? Object.keys(Deno.env.toObject()) : [];
}

function unknownCommandText(program: Command, word: string): string {
  const hint = didYouMean(word, program.commands.map((command) => command.name()));
  return `unknown command${hint || "; --help lists the commands"}`;
}

function examples(server: string): string {
  return helpPart(
    "Examples:",
    `  ${server}
  ${server} --port 8080 --token "$(openssl rand -hex 16)"
  ${server} --host 0.0.0.0 --token-file tokens.txt --ping-interval 25s
  ${server} --config server.json
  ${server} members lab`,
  );
}
