/** How `--help` is written: only what a reader may type, and what is not plain without a word. */
import { type Command, Help, type HelpConfiguration, Option } from "commander";

/** For `configureHelp`. Options that are only understood are no reason for `[options]`; a flag is off by default. */
export const HELP_FORM: HelpConfiguration = {
  subcommandTerm: (command) => {
    const hasOptions = command.options.some(({ hidden }) => !hidden);
    const below = command.commands.length > 0 ? ["…"] : [];
    const names = command.registeredArguments.map(toArgumentName);
    return [command.name(), ...hasOptions ? ["[options]"] : [], ...below, ...names].join(" ");
  },
  optionDescription: (option) => new Help().optionDescription(withoutFalse(option)),
};

function toArgumentName(argument: Command["registeredArguments"][number]): string {
  const name = `${argument.name()}${argument.variadic ? "..." : ""}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function withoutFalse(option: Option): Option {
  if (option.defaultValue !== false) return option;
  return Object.assign(new Option(option.flags, option.description), option, { defaultValue: undefined });
}
