/** Declares, parses and runs the command lines of the programs, and writes their help. */
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
  UsageError,
} from "./outcome.ts";
import { COLORS, errorPalette, hasColors } from "../terminal/screen.ts";
import { logOptions } from "./options.ts";
import { LOG_LEVELS, LOG_MODULES } from "../log.ts";
import { quoteWord } from "../terminal/words.ts";

/**
 * Declares what the command lines of all programs share: `--help`, `--version`, `--log-level`, `--log-format`.
 *
 * @param help `defaultLogLevel`: the default as the help shows it, if it depends on the command.
 */
export function createProgram(
  name: ProgramName,
  description: string,
  help: { readonly defaultLogLevel?: string; readonly commandLine?: string } = {},
): Command {
  const program = new Command(help.commandLine ?? commandLineOf(name))
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

/** Adds the command `help`, and to the help of each command which options of the program apply: all of them by default. */
export function addCommandHelp(
  program: Command,
  name: ProgramName,
  which = `The options of "${commandLineOf(name)} --help" also apply.`,
): void {
  for (const command of everyCommand(program)) {
    if (command === program) continue;
    command.addHelpText("after", `\n${which}`);
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
  const { signal } = interruption;
  return await runCommand(build(signal), args, { printError, signal });
}

export interface RunOptions {
  readonly printError: (text: string) => void;
  /** Whether errors are JSON even without `--json` among the words; false by default. */
  readonly json?: boolean;
  /** Once it is aborted, the command was interrupted, whatever it throws. */
  readonly signal?: AbortSignal;
  /** Tells that the command was interrupted; says nothing by default. */
  readonly onInterrupted?: (json: boolean) => void;
}

/** Runs the command that the words name, prints its error, and resolves to its exit code. It never rejects. */
export async function runCommand(
  program: Command,
  words: readonly string[],
  { printError, json = false, signal, onInterrupted }: RunOptions,
): Promise<number> {
  const isJson = json || asksForJson(program, words);
  if (isJson) silenceErrors(program);
  try {
    await program.parseAsync([...words], { from: "user" });
    return ExitCode.OK;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return ExitCode.OK;
    if (error instanceof ExitRequest) return error.exitCode;
    if (signal?.aborted) {
      onInterrupted?.(isJson);
      return ExitCode.INTERRUPTED;
    }
    const failure = toFailure(error);
    // Commander has already printed errors of the command line, unless it was silenced.
    if (isJson) printError(failureJson(failure));
    else if (!isPrinted(error)) printError(failureText(failure));
    return failure.exitCode;
  }
}

/** Whether `--json` is among the words; works before commander parses them, and if it cannot. */
function asksForJson(program: Command, args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const isGiven = args.slice(0, end < 0 ? args.length : end).includes("--json");
  return isGiven &&
    everyCommand(program).some(({ options }) => options.some(({ long }) => long === "--json"));
}

/** Keeps commander from printing errors, which are printed as JSON instead. */
function silenceErrors(program: Command): void {
  for (const command of everyCommand(program)) {
    command.configureOutput({ outputError: () => {}, writeErr: () => {} });
  }
}

const PROGRAMS = ["server", "computer", "agent", "hub", "documents"] as const;

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

/** Why the work of a program is aborted. */
export class InterruptedError extends UsageError {
  readonly signal: Deno.Signal;

  constructor(signal: Deno.Signal) {
    super("Interrupted");
    this.signal = signal;
  }
}

/** A signal to a process group comes twice through a program that passes it on, such as the launcher of npm. */
const REPEAT_MS = 500;

/**
 * Aborts the signal on Ctrl-C, SIGTERM and SIGHUP; a later one ends the process at once. A later SIGHUP does not: the end of
 * a terminal sends several.
 */
export function listenForInterrupt(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  let firstMs = Infinity;
  const listeners = signals().map((name) => {
    const listener = () => {
      const nowMs = performance.now();
      firstMs = Math.min(firstMs, nowMs);
      if (!controller.signal.aborted) controller.abort(new InterruptedError(name));
      else if (name !== "SIGHUP" && nowMs - firstMs > REPEAT_MS) Deno.exit(ExitCode.INTERRUPTED);
    };
    Deno.addSignalListener(name, listener);
    return { name, listener };
  });
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const { name, listener } of listeners) Deno.removeSignalListener(name, listener);
    },
  };
}

function signals(): readonly Deno.Signal[] {
  // On Windows these are Ctrl-C, Ctrl-Break and the end of the window.
  return Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK", "SIGHUP"] : ["SIGINT", "SIGTERM", "SIGHUP"];
}

export function loginCommand(server: string): string {
  return `"auth login ${quoteWord(server)}"`;
}

/** The same for a shell, where no Computer need run. */
export function shellLoginCommand(server: string, { config }: { readonly config: string }): string {
  const words = ["auth", "login", server, "--config", config].map((word) => quoteWord(word));
  return `"${commandLineOf("computer")} ${words.join(" ")}"`;
}

/** `server "x" is starting`, `server "x" failed`, or `server "x" needs a sign-in (run "auth login x")` */
export function serverStatusText(server: string, status: string): string {
  if (status === "needs sign-in") return `server "${server}" needs a sign-in (run ${loginCommand(server)})`;
  return `server "${server}" ${status === "failed" ? "failed" : `is ${status}`}`;
}

/**
 * Makes every command accept the options of its program, except those that it declares itself. A program's option after
 * a command counts as if it came before the command.
 */
export function shareOptions(program: Command): void {
  for (const command of everyCommand(program)) {
    // Otherwise a parent would take an option that belongs to its command.
    command.enablePositionalOptions();
    if (command === program) continue;
    const missing = program.options.filter((option) => findOption(command, option) === undefined);
    for (const option of missing) share(option, { program, command });
  }
}

/** Removes the options of the program, and their values, from the words of a command line. */
export function withoutSharedOptions(program: Command, args: readonly string[]): string[] {
  return splitSharedOptions(program, args).words;
}

/** The options of the program in the words of a command line, each with its value, and the other words. */
export function splitSharedOptions(
  program: Command,
  args: readonly string[],
): { readonly words: string[]; readonly given: readonly (readonly [option: Option, ...value: string[]])[] } {
  const words: string[] = [];
  const given: (readonly [Option, ...string[]])[] = [];
  let command = program;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (arg === "--") return { words: [...words, ...args.slice(i)], given };
    const [flag = ""] = arg.split("=", 1);
    const option = findFlag(command, flag);
    const takesNext = flag === arg && takesValue(option, args[i + 1]);
    const value = takesNext ? args.slice(i + 1, i + 2) : [];
    if (option === undefined || (command !== program && !option.hidden)) {
      words.push(arg, ...value);
      command = command.commands.find((each) => each.name() === arg) ?? command;
    } else given.push([option, ...flag === arg ? value : [arg.slice(flag.length + 1)]]);
    if (takesNext) i++;
  }
  return { words, given };
}

function takesValue(option: Option | undefined, next: string | undefined): boolean {
  return option?.required === true || option?.optional === true && next?.startsWith("-") === false;
}

function share(
  { flags, description, parseArg, argChoices, negate }: Option,
  { program, command }: { readonly program: Command; readonly command: Command },
): void {
  const shared = new Option(flags, description).hideHelp();
  if (parseArg !== undefined) shared.argParser(parseArg);
  if (argChoices !== undefined) shared.choices(argChoices);
  command.addOption(shared);
  const name = shared.attributeName();
  command.on(`option:${shared.name()}`, () => {
    program.setOptionValueWithSource(name, negate ? false : command.getOptionValue(name), "cli");
  });
}

function findOption(command: Command, { long }: Option): Option | undefined {
  return command.options.find((option) => option.long === long);
}

function findFlag(command: Command, flag: string): Option | undefined {
  return command.options.find(({ long, short }) => flag === long || flag === short);
}
