/** Parses and runs commands that are typed at a prompt or sent by another process. */
import { Command, CommanderError } from "commander";
import {
  ExitCode,
  ExitRequest,
  failureJson,
  failureText,
  isPrinted,
  paintFailure,
  toFailure,
  UsageError,
} from "../outcome.ts";
import { asksForJson, everyCommand, HELP_FORM, silenceErrors } from "../program.ts";
import { type Palette, PLAIN } from "../../terminal/screen.ts";
import { describeError } from "../../text.ts";
import { splitWords } from "../../terminal/words.ts";

/** Prints text that is safe for a terminal and does not end with a line feed. */
export type Print = (text: string) => void;

/**
 * Creates a program whose help and errors go to `print`, in these colors. An error does not end the process.
 */
export function createPromptProgram(print: Print, palette: Palette = PLAIN): Command {
  const hasColors = () => palette !== PLAIN;
  const write = (text: string) => print(text.replace(/\n$/, ""));
  return new Command()
    .usage("<command> …")
    .configureHelp({ ...HELP_FORM, commandUsage: usageOf, showGlobalOptions: true })
    .configureOutput({
      writeOut: write,
      writeErr: write,
      outputError: (text) => write(paintFailure(text, palette)),
      getOutHasColors: hasColors,
      getErrHasColors: hasColors,
    })
    .helpOption("-h, --help", "show this help")
    .helpCommand("help [command...]", "show all commands, or the help of one")
    .exitOverride();
}

export interface TypedOptions {
  /** Declares the commands, for each run again since commander keeps parsed values. */
  readonly build: () => Command;
  readonly printError: (text: string) => void;
  /** Whether errors are JSON even without `--json` among the words; false by default. */
  readonly json?: boolean;
  /** Once it is aborted, a failure is reported as `interrupted`. */
  readonly signal?: AbortSignal;
}

/**
 * Runs one typed line and resolves to the exit code that a program would have. It never rejects. Empty lines and lines
 * that begin with `#` do nothing.
 */
export async function runTypedLine(line: string, options: TypedOptions): Promise<number> {
  try {
    const words = line.trimStart().startsWith("#") ? [] : wordsOf(line);
    return words.length === 0 ? ExitCode.OK : await runTypedWords(words, options);
  } catch (error) {
    return printFailure(error, options);
  }
}

function wordsOf(line: string): string[] {
  try {
    return splitWords(line);
  } catch (cause) {
    throw new UsageError(describeError(cause), { cause });
  }
}

export async function runTypedWords(words: readonly string[], options: TypedOptions): Promise<number> {
  const program = withUsage(options.build());
  const json = options.json === true || asksForJson(program, words);
  if (json) silenceErrors(program);
  try {
    await program.parseAsync(toFlag(words), { from: "user" });
    return ExitCode.OK;
  } catch (error) {
    if (error instanceof ExitRequest) return error.exitCode;
    if (error instanceof CommanderError && error.exitCode === 0) return ExitCode.OK;
    if (isPrinted(error) && !json) return ExitCode.USAGE;
    return printFailure(error, { ...options, json });
  }
}

function printFailure(
  error: unknown,
  { printError, json = false, signal }: Omit<TypedOptions, "build">,
): number {
  if (signal?.aborted) {
    const exitCode = ExitCode.INTERRUPTED;
    printError(json ? failureJson({ message: "Interrupted", exitCode }) : "interrupted");
    return exitCode;
  }
  const failure = toFailure(error);
  printError(json ? failureJson(failure) : failureText(failure));
  return failure.exitCode;
}

/** Turns `help server add` into `server add --help`: commander's `help` covers the first level only. */
function toFlag(words: readonly string[]): string[] {
  return words[0] === "help" && words.length > 2 ? [...words.slice(1), "--help"] : [...words];
}

function withUsage(program: Command): Command {
  for (const command of everyCommand(program)) {
    command.showHelpAfterError(
      command === program ? `("help" shows the commands)` : `(usage: ${usageOf(command)})`,
    );
  }
  return program;
}

/** The usage without the name of the program: `server start [options] <name>`. */
function usageOf(command: Command): string {
  const names: string[] = [];
  for (let each = command; each.parent !== null; each = each.parent) names.unshift(each.name());
  return [...names, command.usage()].join(" ");
}
