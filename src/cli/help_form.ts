/** How `--help` is written: only what a reader may type, and what is not plain without a word. */
import { COLORS } from "../terminal/screen.ts";
import { type Command, Help, type HelpConfiguration, Option } from "commander";

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
