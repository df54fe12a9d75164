/** Completes a line at a prompt: commands, options, file names, and values that the program supplies. */
import type { Command, Option } from "commander";
import { readLineSoFar } from "../../terminal/words.ts";

/** The argument or option whose value is completed. */
export interface CompletionPlace {
  /** The commands before it, such as `["server", "start"]`. */
  readonly command: readonly string[];
  /** The name of the argument, `name` for `<name>`, or the flag of the option, such as `--file`. */
  readonly argument: string;
  readonly words: readonly string[];
  /** The part of the value that is already typed; the caller drops candidates that do not begin with it. */
  readonly word: string;
}

export type Candidates = (place: CompletionPlace) => readonly string[] | Promise<readonly string[]>;

/** `candidates` is called for arguments and options that declare no choices. */
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

/** The position that the words before the last one lead to. */
interface Place {
  readonly command: Command;
  readonly path: readonly string[];
  readonly values: readonly string[];
  readonly option: Option | undefined;
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
    // A command follows `help`.
    else if (word !== "help" || command !== program) values.push(word);
  }
  return { command, path, values, option, hasOptionsBehind };
}

function findCommand(command: Command, word: string): Command | undefined {
  return command.commands.find((each) => each.name() === word || each.aliases().includes(word));
}

/** The option of this flag, if it takes a value. */
function findOption(command: Command, flag: string): Option | undefined {
  const found = optionsOf(command).find(({ long, short }) => flag === long || flag === short);
  return found?.required ? found : undefined;
}

/** The options of a command and of its parents, which it accepts as well. */
export function optionsOf(command: Command): Option[] {
  const options: Option[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) {
    options.push(...each.createHelp().visibleOptions(each));
  }
  return options;
}

/** Flags that were not typed yet or are repeatable. */
function flagsOf(command: Command, words: readonly string[]): string[] {
  const left = optionsOf(command).filter((option) => mayRepeat(option) || !words.includes(flagOf(option)));
  return [...new Set(left.map(flagOf))];
}

/** An option with a parser may be repeatable; only its parser knows. */
function mayRepeat({ variadic, parseArg, required }: Option): boolean {
  return variadic || parseArg !== undefined && required;
}

export function flagOf({ long, short }: Option): string {
  return long ?? short ?? "";
}

function namesOf(command: Command): string[] {
  return command.createHelp().visibleCommands(command).map((each) => each.name());
}

function lastIfVariadic(command: Command): Command["registeredArguments"][number] | undefined {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
}

const MAX_ENTRIES = 1_000;

/**
 * Lists the entries of the folder of a half-typed path, each with the typed folder in front; folders end with `/`.
 * Hidden entries are listed only if the typed name begins with `.`. Without read permission the list is empty, so that
 * Tab opens no permission prompt.
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
    // The folder does not exist or cannot be read.
  }
  return names.sort();
}
