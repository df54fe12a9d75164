/** What may come next on a line that is being typed: commands, options, file names, and values that only the program knows. */
import type { Command, Option } from "commander";
import { readLineSoFar } from "../../terminal/words.ts";

/** A place for a value. */
export interface CompletionPlace {
  /** The commands that lead there, such as `["server", "start"]`. */
  readonly command: readonly string[];
  /** The argument as it is declared, `name` for `<name>`; for the value of an option its flag, `--file`. */
  readonly argument: string;
  /** The arguments before it. */
  readonly words: readonly string[];
  /** What is typed of it by now; what does not begin so is left out later. */
  readonly word: string;
}

/** Gives the values that fit a place. */
export type Candidates = (place: CompletionPlace) => readonly string[] | Promise<readonly string[]>;

/**
 * Gives all that may stand in place of the last word of a line.
 *
 * @param options `candidates`: asked for values of arguments and options that have no choices of their own.
 */
export async function completeLine(
  program: Command,
  line: string,
  options: { readonly candidates?: Candidates | undefined } = {},
): Promise<string[]> {
  const { words, word } = readLineSoFar(line);
  const place = walk(program, words);
  const valuesOf = async (argument: string, choices: readonly string[] | undefined) => {
    const { path: command, values: words } = place;
    return choices ?? await options.candidates?.({ command, argument, words, word }) ?? [];
  };
  const { command, option } = place;
  if (option !== undefined) return [...await valuesOf(flagOf(option), option.argChoices)];
  if (word.startsWith("-") && !place.hasOptionsBehind) return flagsOf(command, words);
  const argument = command.registeredArguments.at(place.values.length) ?? lastIfVariadic(command);
  return [
    ...place.values.length === 0 ? namesOf(command) : [],
    ...argument === undefined ? [] : await valuesOf(argument.name(), argument.argChoices),
  ];
}

/** Where the words before the last one lead. */
interface Place {
  readonly command: Command;
  readonly path: readonly string[];
  /** The arguments by now. */
  readonly values: readonly string[];
  /** The option that waits for its value. */
  readonly option: Option | undefined;
  /** Whether `--` was typed. */
  readonly hasOptionsBehind: boolean;
}

function walk(program: Command, words: readonly string[]): Place {
  let command = program;
  let option: Option | undefined;
  let hasOptionsBehind = false;
  const path: string[] = [];
  const values: string[] = [];
  for (const word of words) {
    const below = values.length === 0 ? findCommand(command, word) : undefined;
    if (option !== undefined) option = undefined;
    else if (hasOptionsBehind) values.push(word);
    else if (word === "--") hasOptionsBehind = true;
    else if (word.startsWith("-")) option = findOption(command, word);
    else if (below !== undefined) path.push((command = below).name());
    // What follows `help` is a command again
    else if (word !== "help" || command !== program) values.push(word);
  }
  return { command, path, values, option, hasOptionsBehind };
}

function findCommand(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}

/** The option that this flag names, if a value has to follow. */
function findOption(command: Command, flag: string): Option | undefined {
  const found = optionsOf(command).find(({ long, short }) => flag === long || flag === short);
  return found?.required ? found : undefined;
}

/** The options of a command and of those above it, which are understood there, too. */
function optionsOf(command: Command): Option[] {
  const options: Option[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) {
    options.push(...each.createHelp().visibleOptions(each));
  }
  return options;
}

/** Flags that are not there yet, or may be there again. */
function flagsOf(command: Command, words: readonly string[]): string[] {
  const left = optionsOf(command).filter((option) => mayRepeat(option) || !words.includes(flagOf(option)));
  return [...new Set(left.map(flagOf))];
}

/** An option with a reader of its own may gather its values; which of them do, only the reader knows. */
function mayRepeat({ variadic, parseArg, required }: Option): boolean {
  return variadic || parseArg !== undefined && required;
}

function flagOf({ long, short }: Option): string {
  return long ?? short ?? "";
}

function namesOf(command: Command): string[] {
  return command.createHelp().visibleCommands(command).map((each) => each.name());
}

function lastIfVariadic(command: Command): Command["registeredArguments"][number] | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}

/** More entries of one folder are not offered. */
const MAX_ENTRIES = 1_000;

/**
 * The entries of the folder that a half-typed path leads to, written as the path is; folders end with `/`. Hidden
 * ones only when asked for. Empty where reading is not allowed: nobody wants to be asked for a permission by Tab.
 */
export async function fileCandidates(word: string): Promise<string[]> {
  const cut = word.lastIndexOf("/") + 1;
  const [typed, start] = [word.slice(0, cut), word.slice(cut)];
  const folder = typed === "" ? "." : typed;
  const { state } = await Deno.permissions.query({ name: "read", path: folder });
  if (state !== "granted") return [];
  const names: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (!name.startsWith(start) || name.startsWith(".") !== start.startsWith(".")) continue;
      if (names.push(`${typed}${name}${isDirectory ? "/" : ""}`) === MAX_ENTRIES) break;
    }
  } catch {
    // No such folder, or none that may be read: nothing to offer.
  }
  return names.sort();
}
