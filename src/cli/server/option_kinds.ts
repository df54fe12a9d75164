/** Kinds of options of the Server's program. */
import { Option } from "commander";
import type { ListenOptions } from "../../server/options.ts";
import { factsOf, flagOf, type NumberOption } from "../../server/number_options.ts";
import { parseMilliseconds, sizeOf, wholeNumber } from "../options.ts";

/** An option of the Server: its variable is `A2C_` and its flag, and it sets the option of the library of the same name. */
export class ServerOption extends Option {
  variable: string;
  /** The option of the library. */
  member: string;

  /** @param unit The end of the name in the library. */
  constructor(flags: string, description: string, unit: "" | "Bytes" | "Ms" = "") {
    super(flags, description);
    this.variable = `A2C_${this.name().toUpperCase().replaceAll("-", "_")}`;
    this.member = this.attributeName() + unit;
  }

  /** Names the variable, where it is another one. */
  override env(variable: string): this {
    this.variable = variable;
    return super.env(variable);
  }

  /** Names the option of the library, where its name is another one. */
  sets(member: keyof ListenOptions): this {
    this.member = member;
    return this;
  }
}

/** A flag without a value. In the environment it is `true` or `false`: its mere presence says nothing. */
export class Switch extends ServerOption {
  /** Its description without the name of the variable. */
  readonly meaning: string;

  constructor(flags: string, meaning: string) {
    super(flags, meaning);
    this.meaning = meaning;
    this.description = `${meaning} (env: ${this.variable})`;
  }
}

/** An option with a value, also from the environment. */
export function option(flags: string, description: string, unit?: "Bytes" | "Ms"): ServerOption {
  const declared = new ServerOption(flags, description, unit);
  return declared.env(declared.variable);
}

/** An option with one value or several, separated by spaces or commas. */
export function words(flags: string, description: string): ServerOption {
  return option(flags, description).argParser((text, earlier: readonly string[] = []) => [
    ...earlier,
    ...text.split(/[\s,]+/).filter((word) => word !== ""),
  ]);
}

/** An option of the library that is a number; its value may have a unit. */
export function numberOption(name: NumberOption): ServerOption {
  const { help, default: value, least = 1, variable } = factsOf(name);
  const unit = name.endsWith("Bytes") ? "bytes" : name.endsWith("Ms") ? "ms" : "count";
  const declared = option(`${flagOf(name)} <${unit}>`, help).sets(name).argParser(
    unit === "bytes" ? sizeOf(least) : unit === "ms" ? parseMilliseconds : wholeNumber(1),
  );
  if (value !== undefined) declared.default(value);
  return variable === undefined ? declared : declared.env(variable);
}

/** A time of 0, with a unit or without. */
const ZERO_TIME = /^0+(?:\.0+)?(?:ms|s|m|h)?$/;

/** An option with a time in milliseconds that may be 0. */
export function timeOrNone(flags: string, description: string): ServerOption {
  return option(flags, description, "Ms").argParser((text) =>
    ZERO_TIME.test(text.trim()) ? 0 : parseMilliseconds(text)
  );
}
