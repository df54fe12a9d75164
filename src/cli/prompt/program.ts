/** Parses and runs commands that are typed at a prompt or sent by another process. */
import { Command } from "commander";
import { ExitCode, failureJson, failureText, paintFailure, toFailure, UsageError } from "../outcome.ts";
import { everyCommand, HELP_FORM, runCommand, type RunOptions } from "../program.ts";
import { type Palette, PLAIN } from "../../terminal/screen.ts";
import { describeError } from "../../text/text.ts";
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

export interface TypedOptions extends Omit<RunOptions, "onInterrupted"> {
  /** Declares the commands, for each run again since commander keeps parsed values. */
  readonly build: () => Command;
}

/**
 * Runs one typed line and resolves to the exit code that a program would have. It never rejects. Empty lines and lines
 * that begin with `#` do nothing.
 */
export async function runTypedLine(line: string, options: TypedOptions): Promise<number> {
  if (line.trimStart().startsWith("#")) return ExitCode.OK;
  try {
    const words = splitWords(line);
    return words.length === 0 ? ExitCode.OK : await runTypedWords(words, options);
  } catch (cause) {
    options.printError(failureText(toFailure(new UsageError(describeError(cause), { cause }))));
    return ExitCode.USAGE;
  }
}

/** The most words of a command: commander hands a list over as the arguments of a function, which the stack bounds. */
const MAX_WORDS = 10_000;

export function runTypedWords(
  words: readonly string[],
  { build, ...options }: TypedOptions,
): Promise<number> {
  const { printError, json = false } = options;
  if (words.length > MAX_WORDS) {
    const problem = `Cannot run the command: it has ${words.length} words; the most are ${MAX_WORDS}`;
    const failure = toFailure(new UsageError(problem));
    printError(json ? failureJson(failure) : failureText(failure));
    return Promise.resolve(failure.exitCode);
  }
  const interrupted = { message: "Interrupted", exitCode: ExitCode.INTERRUPTED };
  return runCommand(withUsage(build()), toFlag(words), {
    ...options,
    onInterrupted: (json) => printError(json ? failureJson(interrupted) : "interrupted"),
  });
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
