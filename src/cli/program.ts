/** The command lines of the programs: one way to declare, parse, run and end them. */
import { Command, CommanderError, Help, type HelpConfiguration, Option } from "commander";
import { PROTOCOL_VERSION } from "../protocol/version.ts";
import { PACKAGE_VERSION } from "../version.ts";
import {
  ExitCode,
  ExitRequest,
  failureJson,
  failureText,
  isTold,
  paintFailure,
  printError,
  toFailure,
  UsageError,
} from "./outcome.ts";
import { COLORS, errorPalette, hasColors } from "../terminal/screen.ts";
import { logOptions } from "./options.ts";
import { LOG_LEVELS, LOG_MODULES } from "../log.ts";

/**
 * Starts a program's command line, by the name that it was called by: `--help`, `--version`, `--log-level`, `--log-format`.
 *
 * @param help `defaultLogLevel`: how the default is told where it depends on the command.
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
  "  500ms, 5s, 2m and 1h are understood; a number alone is in the unit that the option shows.",
);

const LOG_HELP = helpPart(
  "Log levels:",
  [
    `  ${LOG_LEVELS.join(", ")}; modules that may have one of their own (module=level):`,
    ...Object.entries(LOG_MODULES).map(([name, what]) => `  ${name.padEnd(10)} ${what}`),
  ].join("\n"),
);

const EXIT_CODE_HELP = helpPart(
  "Exit codes:",
  `  0 done, 1 failed, 2 wrong command line or config, 3 Server out of reach,
  4 refused by the Server, 5 no answer in time, 130 interrupted.`,
);

/**
 * Runs a door's command line and gives its exit code. Ctrl-C (or SIGTERM) aborts the signal that `build` was given,
 * so that the command can close what it opened; a second one ends the process at once. A failure is told on stderr:
 * in words, or with `--json` as one JSON object.
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
    // What is wrong with a command line is told by its reader, unless it was silenced.
    if (isJson) printError(failureJson(failure));
    else if (!isTold(error)) printError(failureText(failure));
    return failure.exitCode;
  }
}

/** Whether `--json` is given, which may be known before the command line is, or even cannot be, understood. */
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

function listenForInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];
  const onSignal = () => {
    if (controller.signal.aborted) Deno.exit(ExitCode.INTERRUPTED);
    controller.abort(new UsageError("Interrupted"));
  };
  for (const name of signals) Deno.addSignalListener(name, onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const name of signals) Deno.removeSignalListener(name, onSignal);
    },
  };
}

/** The programs, which are the sub-commands of `a2c-smcp` as well. */
const PROGRAMS = ["server", "computer", "agent"] as const;

/** The name of a program. */
export type ProgramName = typeof PROGRAMS[number];

/**
 * What starts a program, in the way that this process was started: `deno run -A agent.ts` where a door was run, and
 * `a2c-smcp agent` where that is what runs.
 */
export function commandLineOf(program: ProgramName, mainModule: string = Deno.mainModule): string {
  const isDoor = PROGRAMS.some((name) => mainModule.endsWith(`/${name}.ts`));
  return isDoor ? `deno run -A ${program}.ts` : `a2c-smcp ${program}`;
}

/** A command and all commands below it. */
export function* everyCommand(command: Command): Generator<Command> {
  yield command;
  for (const below of command.commands) yield* everyCommand(below);
}

/**
 * For `configureHelp`. Options that are only understood are no reason for `[options]`; a flag is off by default.
 * Commander takes the colours out where none are wanted.
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

/** A part of a help text below its title. */
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
