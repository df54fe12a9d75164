/**
 * The options of the Server's program: `--help`, the environment, the file of `--config` and the tables of the docs are made
 * from this list. A key of the file is the long flag without its dashes.
 */
import { type Command, Option } from "commander";
import { isOptionName, REMOVED_OPTIONS } from "../../server/options/checks.ts";
import type { OptionRows } from "../../server/options/row.ts";
import { OPTION_GROUPS } from "../../server/options/table.ts";
import type { LogOptions } from "../options.ts";
import { UsageError } from "../outcome.ts";
import { type OptionValues, toOption } from "./option_kinds.ts";

export type ServerCliOptions = LogOptions & OptionValues;

export interface OptionGroup {
  readonly heading: string;
  readonly options: readonly Option[];
}

/** Declares all options anew: commander keeps the state of a command line in them. */
export function serverOptionGroups(): readonly OptionGroup[] {
  return Object.entries<OptionRows>(OPTION_GROUPS).map(([heading, rows]) => ({
    heading,
    options: Object.keys(rows).filter(isOptionName).map(toOption),
  }));
}

/** Makes the flags of options that were removed end the start with what holds now. They stay out of the help. */
export function refuseRemovedFlags(program: Command): Command {
  for (const { flag, now } of Object.values(REMOVED_OPTIONS)) {
    program.addOption(new Option(`${flag} [value]`).hideHelp());
    program.on(`option:${flag.slice(2)}`, () => {
      throw new UsageError(`Cannot use ${flag}: it was removed; ${now}`);
    });
  }
  return program;
}

/** @throws {UsageError} for the environment variable of an option that was removed. */
export function refuseRemovedVariables(variables: readonly string[]): void {
  for (const { variable, now } of Object.values(REMOVED_OPTIONS)) {
    if (!variables.includes(variable)) continue;
    throw new UsageError(`Cannot use environment variable ${variable}: it was removed; ${now}`);
  }
}
