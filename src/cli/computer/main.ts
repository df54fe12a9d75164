/**
 * The command line of `computer.ts`: a prompt at a terminal, a service without one, or one command. It declares the
 * commands and loads what they need when they run, so that `--help` and a command for a running Computer start fast.
 */
import { type Command, Option } from "commander";
import { parseLogLevels } from "../../log.ts";
import { didYouMean } from "../../text/spelling.ts";
import { addConnectionOptions } from "../credentials.ts";
import { completeByMachine } from "../machine/complete.ts";
import { JoinRefusedError } from "../../link/errors.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { collect, loggerOf, parsePort, parseSeconds, SPACES_NEED_QUOTES } from "../options.ts";
import { UsageError } from "../outcome.ts";
import {
  addCommandHelp,
  commandLineOf,
  createProgram,
  helpPart,
  runProgram,
  shareOptions,
} from "../program.ts";
import { addCommands } from "./commands.ts";
import { SIGN_IN_PLACES } from "./keychain.ts";
import { runOnce } from "./once.ts";
import type { ComputerCliOptions } from "./open_computer.ts";
import { addService } from "./service/commands.ts";

export function runComputerCli(args: readonly string[]): Promise<number> {
  return runProgram(args, (signal) => createComputerProgram(signal, args));
}

/** @param args The words of the command line, which are sent to a running Computer. */
export function createComputerProgram(signal: AbortSignal, args: readonly string[] = []): Command {
  const program = createProgram("computer", DESCRIPTION, {
    defaultLogLevel: "info; warn at a prompt and for one command",
  });
  program.addHelpText("after", examples(commandLineOf("computer")));
  addConnectionOptions(program, "computer");
  for (const option of ownOptions()) program.addOption(option);
  program.argument("[command]").allowExcessArguments().usage("[options] [command]");
  program.action(async (unknown: string | undefined) => {
    if (unknown !== undefined) throw new UsageError(unknownCommandText(program, unknown));
    await runComputer(program, signal);
  });
  addCommands(program, (call) => {
    // This command prints itself what the module would warn of.
    setDefaultLogLevels(program, call.name === "skills" ? "warn,resources=error" : "warn");
    return runOnce(call, { program, args, signal });
  });
  addCheck(program);
  addService(program, { args, signal });
  addCommandHelp(program, "computer");
  shareOptions(program);
  return program;
}

/** Opens a prompt at a terminal; runs as a service without one, or with `--headless`. */
async function runComputer(program: Command, signal: AbortSignal): Promise<void> {
  await completeByMachine(program, signal);
  const options = program.opts<ComputerCliOptions>();
  const { runAtTerminal } = await import("./run.ts");
  if (!Deno.stdin.isTerminal() || !Deno.stdout.isTerminal() || options.headless) {
    return await runService(program, signal);
  }
  setDefaultLogLevels(program, PROMPT_LOG_LEVELS);
  await runAtTerminal(program.opts<ComputerCliOptions>(), signal);
}

/** Starts again where an operator has moved or renamed the machine, so that its old office or name is refused. */
async function runService(program: Command, signal: AbortSignal): Promise<void> {
  const { runHeadless } = await import("./run.ts");
  while (true) {
    const options = { ...program.opts<ComputerCliOptions>() };
    try {
      return await runHeadless(options, signal);
    } catch (error) {
      const isForbidden = error instanceof JoinRefusedError && error.serverCode === ErrorCode.FORBIDDEN;
      if (!isForbidden || signal.aborted) throw error;
      await completeByMachine(program, signal);
      const { name, office } = program.opts<ComputerCliOptions>();
      if (name === options.name && office === options.office) throw error;
      loggerOf("computer", options).warn(
        "the operator of the Server has changed this machine; starting again",
        {
          office,
          name,
        },
      );
    }
  }
}

function addCheck(program: Command): void {
  program.command("check [files...]")
    .description(
      "check configs without starting anything: files, - for standard input, or the file of --config; " +
        "exit code 2 when a server in them cannot start",
    )
    .action(async (files: string[]) => {
      const { json, config, inputs, protocol, name, signIns } = program.opts<ComputerCliOptions>();
      const wanted = files.length > 0 || config === undefined ? files : [config];
      if (wanted.length === 0) {
        throw new UsageError("Cannot check config: no file given; give one, or - for standard input");
      }
      const { runCheck, withOwnChecks } = await import("./check.ts");
      const { defaultName } = await import("./open_computer.ts");
      const own = { protocol, inputs, signIns, name: name ?? defaultName() };
      await withOwnChecks(own, (checks) => runCheck(wanted, { json, checks }));
    });
}

function unknownCommandText(program: Command, word: string): string {
  const hint = didYouMean(word, program.commands.map((command) => command.name()));
  const { documents, skills } = program.opts<ComputerCliOptions>();
  const help = documents === undefined && skills === undefined
    ? "; --help lists the commands"
    : `, and ${SPACES_NEED_QUOTES}`;
  return `Cannot run "${word}": unknown command${hint || help}`;
}

/** At a prompt: warnings, and what happens to edits of the config and to the connection. */
const PROMPT_LOG_LEVELS = "warn,config=info,link=info";

const DESCRIPTION = [
  "Host MCP servers and offer them to the Agent of an office.",
  "At a terminal it opens a prompt. Elsewhere it runs as a service until it is stopped, and needs --url, --office, " +
  "--name, and --config, --documents or --skills.",
  "Each command of the prompt is also a command of the shell. It is sent to the Computer that runs on this machine " +
  "(give --name when several run). With --config, --documents or --skills, a Computer is started for this command alone.",
].join("\n\n");

function examples(computer: string): string {
  return helpPart(
    "Examples:",
    `  ${computer} --config mcp.json
  ${computer} --config mcp.json --url http://127.0.0.1:3000 --office lab --name laptop --headless
  ${computer} status --json
  ${computer} call echo message=hi --config mcp.json
  ${computer} server add files --config mcp.json -- npx -y @modelcontextprotocol/server-filesystem .`,
  );
}

function ownOptions(): Option[] {
  return [
    new Option(
      "--config <file>",
      "the MCP servers: a config of this project or of another program (JSON, TOML, YAML)",
    ).env("A2C_CONFIG"),
    new Option("--inputs <file>", "values of inputs by id, as JSON; only you may have access to the file")
      .env("A2C_INPUTS"),
    new Option("--auto-apply", "run tools without a confirmation, where the config does not say otherwise")
      .default(false),
    new Option("--auto-apply-reads", "the same for tools that modify nothing, as their MCP servers say")
      .default(false),
    new Option(
      "--documents <dir>",
      "offer the files in this folder as documents, which Agents read without a question; repeatable",
    ).argParser(
      collect,
    ),
    new Option("--skills <dir>", "offer the skills in this folder; repeatable").argParser(collect),
    new Option(
      "--uploads <dir>",
      "take files that the Agent uploads into this folder, for 24 hours; needs --protocol 0.4",
    ).env("A2C_UPLOADS"),
    new Option(
      "--sign-ins <place>",
      "what keeps the sign-ins at MCP servers: a private file, or a file that is sealed with a key in the keychain of " +
        "the system, or of pass",
    ).choices(SIGN_IN_PLACES).default("file").env("A2C_SIGN_INS"),
    new Option(
      "--start-timeout <seconds>",
      "how long one command, or the first join, waits for MCP servers to start (default: 10; 60 for a tool that is " +
        "not listed yet; 3 for the join)",
    ).argParser(parseSeconds).env("A2C_START_TIMEOUT"),
    new Option("--no-watch", "do not apply edits of the config and the inputs"),
    new Option(
      "--console [port]",
      "open the page of this Computer at the start, on loopback, and print its link (default: a free port)",
    ).argParser(parsePort),
    new Option("--headless", "open no prompt, even at a terminal").default(false),
    new Option("--json", "print one JSON document").default(false),
  ];
}

/** Sets `--log-level` unless the command line or the environment does. */
function setDefaultLogLevels(program: Command, levels: string): void {
  if (program.getOptionValueSource("logLevel") === "default") {
    program.setOptionValueWithSource("logLevel", parseLogLevels(levels), "implied");
  }
}
