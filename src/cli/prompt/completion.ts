/** Completes a line at a prompt or in a shell: commands, options, file names, and values that the program supplies. */
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

export interface Suggestion {
  readonly word: string;
  /** What it is or does; empty for a value. */
  readonly about: string;
}

/** `candidates` is called for arguments and options that declare no choices. */
export async function completeLine(
  program: Command,
  line: string,
  options: { readonly candidates?: Candidates | undefined } = {},
): Promise<string[]> {
  const { words, word } = readLineSoFar(line);
  return (await suggest(program, { words, word }, options)).map(({ word }) => word);
}

/** Suggests what may stand in the place of `word`, behind other words. */
export async function suggest(
  program: Command,
  { words, word }: { readonly words: readonly string[]; readonly word: string },
  options: { readonly candidates?: Candidates | undefined } = {},
): Promise<Suggestion[]> {
  const place = walk(program, words);
  const valuesOf = async (argument: string, choices: readonly string[] | undefined) => {
    const { path: command, values: words } = place;
    const values = choices ?? await options.candidates?.({ command, argument, words, word }) ?? [];
    return values.map((word) => ({ word, about: "" }));
  };
  const { command, option } = place;
  if (option !== undefined) return await valuesOf(flagOf(option), option.argChoices);
  if (word.startsWith("-") && !place.hasOptionsBehind) return flagsOf(command, words);
  const argument = command.registeredArguments.at(place.values.length) ?? lastIfVariadic(command);
  return [
    ...place.values.length === 0 ? commandsOf(command) : [],
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
function optionsOf(command: Command): Option[] {
  const options: Option[] = [];
  for (let each: Command | null = command; each !== null; each = each.parent) {
    options.push(...each.createHelp().visibleOptions(each));
  }
  return options;
}

/** Flags that were not typed yet or are repeatable. */
function flagsOf(command: Command, words: readonly string[]): Suggestion[] {
  const left = optionsOf(command).filter((option) => mayRepeat(option) || !words.includes(flagOf(option)));
  return [...new Map(left.map((option) => [flagOf(option), option.description]))]
    .map(([word, about]) => ({ word, about }));
}

/** An option with a parser may be repeatable; only its parser knows. */
function mayRepeat({ variadic, parseArg, required }: Option): boolean {
  return variadic || parseArg !== undefined && required;
}

function flagOf({ long, short }: Option): string {
  return long ?? short ?? "";
}

function commandsOf(command: Command): Suggestion[] {
  return command.createHelp().visibleCommands(command)
    .map((each) => ({ word: each.name(), about: each.description() }));
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
