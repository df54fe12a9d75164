/** The command line of `server.ts`. */
import { commandLineOf, createProgram, helpPart, runProgram } from "../program.ts";
import { UsageError } from "../outcome.ts";
import type { Command } from "commander";
import { checkJwtOptions } from "./credentials.ts";
import { completeOptions, misspeltVariables } from "./option_sources.ts";
import { type ServerCliOptions, serverOptionGroups } from "./options.ts";
import type { OptionName } from "../../server/options/table.ts";
import { runServer } from "./run.ts";

/** Runs a Server until Ctrl-C, SIGTERM or SIGHUP and returns the exit code. */
export function runServerCli(args: readonly string[]): Promise<number> {
  return runProgram(args, (signal) => createServerProgram(signal));
}

export function createServerProgram(signal: AbortSignal): Command {
  const program = createProgram(
    "server",
    "Run the A2C-SMCP Server, which relays messages between the Agent and the Computers of each office.",
  );
  addServerOptions(program);
  program.addHelpText("after", examples(commandLineOf("server")));
  program.argument("[command]").allowExcessArguments().usage("[options]");
  return program.action(async (word: string | undefined) => {
    if (word !== undefined) throw new UsageError(`Cannot run "${word}": ${noCommandsText()}`);
    const warnings = await readServerOptions(program);
    await runServer(program, { signal, warnings });
  });
}

/** Declares the options of a Server, for a program that runs one. */
export function addServerOptions(program: Command): void {
  for (const { heading, options } of serverOptionGroups()) {
    for (const option of options) program.addOption(option.helpGroup(`${heading}:`));
  }
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

function noCommandsText(): string {
  const [computer, agent] = [commandLineOf("computer"), commandLineOf("agent")];
  return `a Server has options only; "${computer} --help" and "${agent} --help" list commands`;
}

function examples(server: string): string {
  return helpPart(
    "Examples:",
    `  ${server}
  ${server} --port 8080 --token "$(openssl rand -hex 16)"
  ${server} --host 0.0.0.0 --token-file tokens.txt --ping-interval 25s
  ${server} --config server.json`,
  );
}
