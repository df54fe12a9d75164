/** Declares, parses and runs the command lines of the three programs, and writes their help. */
import { Command, CommanderError, Help, type HelpConfiguration, Option } from "commander";
import { PROTOCOL_VERSION } from "../protocol/version.ts";
import { PACKAGE_VERSION } from "../version.ts";
import {
  ExitCode,
  ExitRequest,
  failureJson,
  failureText,
  isPrinted,
  paintFailure,
  printError,
  toFailure,
} from "./outcome.ts";
import { COLORS, errorPalette, hasColors } from "../terminal/screen.ts";
import { logOptions } from "./options.ts";
import { listenForInterrupt } from "./signals.ts";
import { LOG_LEVELS, LOG_MODULES } from "../log.ts";

/**
 * Declares what the command lines of all programs share: `--help`, `--version`, `--log-level`, `--log-format`.
 *
 * @param help `defaultLogLevel`: the default as the help shows it, if it depends on the command.
 */
export function createProgram(
  name: ProgramName,
  description: string,
  help: { readonly defaultLogLevel?: string } = {},
): Command {
  const program = new Command(commandLineOf(name))
    .description(description)
    .version(`${name} ${PACKAGE_VERSION} (protocol ${PROTOCOL_VERSION})`)
    .showHelpAfterError("(--help shows all options)")
    .helpOption("-h, --help", "show this help")
    .configureHelp(HELP_FORM)
    .configureOutput({
      outputError: (text, write) => write(paintFailure(text, errorPalette())),
      getOutHasColors: () => Deno.stdout.isTerminal() && hasColors(),
      getErrHasColors: () => Deno.stderr.isTerminal() && hasColors(),
    })
    .addHelpText("after", [TIME_HELP, LOG_HELP, EXIT_CODE_HELP].join("\n"))
    .exitOverride();
  for (const option of logOptions(help.defaultLogLevel)) program.addOption(option);
  return program;
}

const TIME_HELP = helpPart(
  "Times:",
  "  Write 500ms, 5s, 2m or 1h. A number without a unit is in the unit that the option shows.",
);

const LOG_HELP = helpPart(
  "Log levels:",
  [
    `  ${LOG_LEVELS.join(", ")}. A module can have another level, such as mcp=debug. Modules:`,
    ...Object.entries(LOG_MODULES).map(([name, what]) => `  ${name.padEnd(10)} ${what}`),
  ].join("\n"),
);

const EXIT_CODE_HELP = helpPart(
  "Exit codes:",
  `  0 success, 1 failure, 2 invalid command line or config, 3 Server or Computer not reachable,
  4 refused by the Server, 5 timeout, 130 interrupted.`,
);

/** Adds the command `help`, and to the help of each command a pointer to the options of the program. */
export function addCommandHelp(program: Command, name: ProgramName): void {
  for (const command of everyCommand(program)) {
    if (command === program) continue;
    command.addHelpText("after", `\nThe options of "${commandLineOf(name)} --help" also apply.`);
  }
  program.helpCommand("help [command]", "show the help of a command");
}

/**
 * Runs a program's command line and returns its exit code. Ctrl-C, SIGTERM or SIGHUP aborts the signal that `build` gets, so
 * that the command can close what it opened; a second one ends the process at once. An error is printed on stderr: as
 * a line, or with `--json` as one JSON object.
 */
export async function runProgram(
  args: readonly string[],
  build: (signal: AbortSignal) => Command,
): Promise<number> {
  using interruption = listenForInterrupt();
  const program = build(interruption.signal);
  const isJson = asksForJson(program, args);
  if (isJson) silenceErrors(program);
  try {
    await program.parseAsync([...args], { from: "user" });
    return ExitCode.OK;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return ExitCode.OK;
    if (error instanceof ExitRequest) return error.exitCode;
    if (interruption.signal.aborted) return ExitCode.INTERRUPTED;
    const failure = toFailure(error);
    // Commander has already printed errors of the command line, unless it was silenced.
    if (isJson) printError(failureJson(failure));
    else if (!isPrinted(error)) printError(failureText(failure));
    return failure.exitCode;
  }
}

/** Whether `--json` is among the words; works before commander parses them, and if it cannot. */
export function asksForJson(program: Command, args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const isGiven = args.slice(0, end < 0 ? args.length : end).includes("--json");
  return isGiven &&
    everyCommand(program).some(({ options }) => options.some(({ long }) => long === "--json"));
}

/** Keeps commander from printing errors, which are printed as JSON instead. */
export function silenceErrors(program: Command): void {
  for (const command of everyCommand(program)) {
    command.configureOutput({ outputError: () => {}, writeErr: () => {} });
  }
}

const PROGRAMS = ["server", "computer", "agent", "documents"] as const;

export type ProgramName = typeof PROGRAMS[number];

/**
 * The words that start a program, for help and hints that can be copied: `deno run -A agent.ts` if this process was
 * started that way, otherwise `a2c-smcp agent`.
 */
export function commandLineOf(program: ProgramName, mainModule: string = Deno.mainModule): string {
  const isDoor = PROGRAMS.some((name) => mainModule.endsWith(`/${name}.ts`));
  return isDoor ? `deno run -A ${program}.ts` : `a2c-smcp ${program}`;
}

export function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const below of command.commands) yield* everyCommand(below);
}

/**
 * For `configureHelp`. A command with hidden options alone shows no `[options]`, and a flag shows no default. Commander
 * removes the colors if the output has none.
 */
export const HELP_FORM: HelpConfiguration = {
  styleTitle: COLORS.strong,
  styleSubcommandText: COLORS.accent,
  styleOptionText: COLORS.accent,
  subcommandTerm: (command) => {
    const hasOptions = command.options.some(({ hidden }) => !hidden);
    const below = command.commands.length > 0 ? ["…"] : [];
    const names = command.registeredArguments.map(toArgumentName);
    return [command.name(), ...hasOptions ? ["[options]"] : [], ...below, ...names].join(" ");
  },
  optionDescription: (option) => new Help().optionDescription(withoutFalse(option)),
};

export function helpPart(title: string, text: string): string {
  return `\n${COLORS.strong(title)}\n${text}`;
}

function toArgumentName(argument: Command["registeredArguments"][number]): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function withoutFalse(option: Option): Option {
  if (option.defaultValue !== false) return option;
  return Object.assign(new Option(option.flags, option.description), option, { defaultValue: undefined });
}
