/** The command line of `computer.ts`: a prompt at a terminal, a service without one, or one command. */
import { commandLineOf, createProgram, everyCommand, helpPart, runProgram } from "../program.ts";
import { connectionOptions, parseSeconds } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { type Command, Option } from "commander";
import { shareOptions } from "../shared_options.ts";
import { parseLogLevels } from "../../log.ts";
import { runCheck } from "./check.ts";
import { withConfigChecks } from "./config_store.ts";
import { addCommands } from "./commands.ts";
import { runOnce } from "./once.ts";
import type { ComputerCliOptions } from "./session.ts";
import { runAtTerminal, runHeadless } from "./run.ts";
import { didYouMean } from "../../spelling.ts";

/** Runs the command line and gives its exit code. */
export function runComputerCli(args: readonly string[]): Promise<number> {
  return runProgram(args, (signal) => createComputerProgram(signal, args));
}

/**
 * Declares the Computer's commands; `signal` ends what they do.
 *
 * @param args The command line, which is handed on to a Computer that runs.
 */
export function createComputerProgram(signal: AbortSignal, args: readonly string[] = []): Command {
  const program = createProgram("computer", DESCRIPTION, {
    defaultLogLevel: "info; warn at a prompt and for one command",
  });
  program.addHelpText("after", examples(commandLineOf("computer")));
  for (const option of [...connectionOptions("computer"), ...ownOptions()]) {
    program.addOption(option);
  }
  program.argument("[command]").allowExcessArguments().usage("[options] [command]");
  program.action((stray: string | undefined) => {
    if (stray !== undefined) throw new UsageError(unknownCommandText(program, stray));
    const options = program.opts<ComputerCliOptions>();
    const isAtTerminal = Deno.stdin.isTerminal() && Deno.stdout.isTerminal() && !options.headless;
    return isAtTerminal
      ? runAtTerminal(quietly(program, PROMPT_LOG_LEVELS), signal)
      : runHeadless(options, signal);
  });
  addCommands(program, (call) => {
    quietly(program, "warn");
    return runOnce(call, { program, args, signal });
  });
  program.command("check [files...]")
    .description(
      "check configs without starting anything: files, - for standard input, or that of --config; " +
        "exit code 2 when a server in them cannot start",
    )
    .action((files: string[]) => {
      const { json, config } = program.opts<ComputerCliOptions>();
      const wanted = files.length > 0 || config === undefined ? files : [config];
      if (wanted.length === 0) {
        throw new UsageError("Cannot check config: no file is named; name one, or - for standard input");
      }
      return withConfigChecks((checks) => runCheck(wanted, { json, checks: { ...checks, programs: true } }));
    });
  for (const command of everyCommand(program)) {
    if (command !== program) {
      command.addHelpText(
        "after",
        `\nThe options of "${commandLineOf("computer")} --help" may stand here, too.`,
      );
    }
  }
  shareOptions(program);
  return program;
}

function unknownCommandText(program: Command, stray: string): string {
  const hint = didYouMean(stray, program.commands.map((command) => command.name()));
  return `Cannot run "${stray}": no such command${hint || "; --help shows all of them"}`;
}

/** Besides warnings whoever sits there wants to know what became of an edit, and that the Server is back. */
const PROMPT_LOG_LEVELS = "warn,config=info,link=info";

const DESCRIPTION = [
  "Host MCP servers and offer them to an office's Agent.",
  "At a terminal it opens a prompt; elsewhere it needs --url, --office, --name and --config, and works until it is " +
  "told to end. Each command of the prompt is also one of the shell: it reaches the Computer that runs here (the " +
  "one that --name says, where there are several), or, with --config, starts one for this command alone.",
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
      "the MCP servers: of this project, or the config of another program (JSON, TOML, YAML)",
    ).env(
      "A2C_CONFIG",
    ),
    new Option("--inputs <file>", "values of inputs by id, as JSON; nobody else may read the file").env(
      "A2C_INPUTS",
    ),
    new Option("--auto-apply", "run every tool without a confirmation").default(false),
    new Option("--dpe-files <dir>", "answer client:get_dpe with JSON files that are written there")
      .env("A2C_DPE_FILES"),
    new Option(
      "--start-timeout <seconds>",
      "how long one command waits for MCP servers to start (default: 10; 60 for a tool that is not there yet)",
    ).argParser(parseSeconds).env("A2C_START_TIMEOUT"),
    new Option("--no-watch", "do not take over edits of the config and the inputs"),
    new Option("--headless", "open no prompt, also at a terminal").default(false),
    new Option("--json", "print one JSON document").default(false),
  ];
}

/** Whoever waits for an answer wants to read it, not what led to it. */
function quietly(program: Command, levels: string): ComputerCliOptions {
  if (program.getOptionValueSource("logLevel") === "default") {
    program.setOptionValueWithSource("logLevel", parseLogLevels(levels), "implied");
  }
  return program.opts<ComputerCliOptions>();
}
