/** Makes the options of a program valid before and after its commands. */
import { type Command, Option } from "commander";
import { everyCommand } from "./program.ts";

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
