/** Options of a program that stand before or behind its commands, and commands that have one of the same name. */
import { type Command, Option } from "commander";
import { everyCommand } from "./program.ts";

/**
 * Lets every command take the options of its program, too, except where it has one of that name of its own. Whatever
 * was typed behind a command counts as if it stood before it.
 */
export function shareOptions(program: Command): void {
  for (const command of everyCommand(program)) {
    // Otherwise whoever stands further above would take what is meant for a command of its own.
    command.enablePositionalOptions();
    if (command === program) continue;
    const missing = program.options.filter((option) => findOption(command, option) === undefined);
    for (const option of missing) share(option, { program, command });
  }
}

/** The words without the options that are the program's, wherever they stand, and their values. */
export function withoutSharedOptions(program: Command, args: readonly string[]): string[] {
  const words: string[] = [];
  let command = program;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (arg === "--") return [...words, ...args.slice(i)];
    const [flag = ""] = arg.split("=", 1);
    const option = findFlag(command, flag);
    const takesNext = option?.required === true && flag === arg;
    if (option === undefined || (command !== program && !option.hidden)) {
      words.push(arg, ...(takesNext ? args.slice(i + 1, i + 2) : []));
      command = command.commands.find((each) => each.name() === arg) ?? command;
    }
    if (takesNext) i++;
  }
  return words;
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
