/** Kinds of options of the Server's program. */
import { Option } from "commander";
import { parseMilliseconds, sizeOf, wholeNumber } from "../options.ts";

/** A flag without a value. In the environment it is `true` or `false`: its mere presence says nothing. */
export class Switch extends Option {
  readonly variable: string;
  /** Its description without the name of the variable. */
  readonly meaning: string;

  constructor(flags: string, { description, variable }: {
    readonly description: string;
    readonly variable: string;
  }) {
    super(flags, `${description} (env: ${variable})`);
    this.variable = variable;
    this.meaning = description;
  }
}

/** An option with one value or several, separated by spaces or commas. */
export function words(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text, earlier: readonly string[] = []) => [
    ...earlier,
    ...text.split(/[\s,]+/).filter((word) => word !== ""),
  ]);
}

export function count(flags: string, description: string): Option {
  return new Option(flags, description).argParser(wholeNumber(1));
}

export function size(flags: string, description: string, { min }: { readonly min: number }): Option {
  return new Option(flags, description).argParser(sizeOf(min));
}

/** A time of 0, with a unit or without. */
const ZERO_TIME = /^0+(?:\.0+)?(?:ms|s|m|h)?$/;

/** An option with a time in milliseconds that may be 0. */
export function timeOrNone(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text) =>
    ZERO_TIME.test(text.trim()) ? 0 : parseMilliseconds(text)
  );
}

export function time(flags: string, description: string): Option {
  return new Option(flags, description).argParser(parseMilliseconds);
}
