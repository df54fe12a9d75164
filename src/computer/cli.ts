/** The command line of `computer.ts`. */
import {
  type Command,
  type CommonOptions,
  createProgram,
  loggerOf,
  Option,
  runProgram,
  untilAborted,
} from "../cli/program.ts";
import { authOf, type ConnectionOptions, connectionOptions } from "../cli/options.ts";
import { UsageError } from "../cli/exit_codes.ts";
import { Computer } from "./computer.ts";
import { fileResolver } from "./file_resolver.ts";
import { environmentInputs } from "./inputs.ts";
import type { ComputerConfig } from "./config.ts";
import { readConfigFile } from "./config_file.ts";
import { ConfigError } from "./config_problem.ts";

/** How long the MCP servers may keep the join waiting; whatever starts later is told to the Agent as a change. */
const START_GRACE_MS = 3_000;

interface ComputerCliOptions extends CommonOptions, ConnectionOptions {
  readonly config: string;
  readonly dpeFiles?: string;
  readonly autoApply: boolean;
}

/** Declares the command line; the command runs until `signal` is aborted. */
export function createComputerProgram(signal: AbortSignal): Command {
  const program = createProgram("computer", "Host MCP servers and offer them to an office's Agent.");
  for (const option of connectionOptions("computer")) program.addOption(option);
  return program
    .addOption(
      new Option("--config <file>", "the MCP servers: a file of A2C-SMCP, VS Code, Claude, Cursor …").env(
        "A2C_CONFIG",
      )
        .makeOptionMandatory(),
    )
    .addOption(new Option("--auto-apply", "run every tool without a confirmation").default(false))
    .addOption(
      new Option("--dpe-files <dir>", "answer client:get_dpe with JSON files that are written there")
        .env("A2C_DPE_FILES"),
    )
    .action((options: ComputerCliOptions) => runComputer(options, signal));
}

/** Runs the command line and gives its exit code. */
export function runComputerCli(args: readonly string[]): Promise<number> {
  return runProgram(args, createComputerProgram);
}

async function runComputer(options: ComputerCliOptions, signal: AbortSignal): Promise<void> {
  const logger = loggerOf("computer", options);
  const config = await readConfig(options.config);
  await using computer = asUsage(() =>
    Computer.open({
      name: options.name,
      config,
      inputs: environmentInputs((name) => Deno.env.get(name)),
      confirm: options.autoApply ? () => true : undefined,
      resolveDpe: options.dpeFiles === undefined ? undefined : fileResolver({ directory: options.dpeFiles }),
      logger,
    })
  );
  const failed = Promise.withResolvers<Error>();
  const { url, office, header, path } = options;
  const join = {
    url,
    office,
    path,
    headers: header,
    auth: authOf(options),
    signal,
    onFailed: failed.resolve,
  };
  await computer.ready({ timeoutMs: START_GRACE_MS, signal });
  await computer.join(join);
  console.log(`joined office "${office}" as "${options.name}"`);
  const error = await Promise.race([untilAborted(signal), failed.promise]);
  if (error !== undefined) throw error;
}

async function readConfig(file: string): Promise<ComputerConfig> {
  try {
    return await readConfigFile(file);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

/** A name that cannot be one is the user's to mend. */
function asUsage<T>(open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(error.message, { cause: error });
  }
}
