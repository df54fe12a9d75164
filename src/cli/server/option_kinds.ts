/** The options of the Server's program, each made from its row of the table. */
import { Option } from "commander";
import { flagOf, numberText, rowOf, variableOf } from "../../server/options/checks.ts";
import type { OptionRow } from "../../server/options/row.ts";
import type { OptionName, OPTIONS } from "../../server/options/table.ts";
import { collect, parseMilliseconds, parsePort, sizeOf, wholeNumber } from "../options.ts";

/** The value of a row, as the program has it after parsing. */
type ValueOf<Row extends OptionRow> = Row extends { readonly kind: "switch" } ? boolean
  : Row extends { readonly kind: "words" | "texts" } ? readonly string[]
  : Row extends { readonly kind: "port" | "count" | "bytes" | "ms" } ? number
  : string;

/** The values by the names of their rows. What has one value by default always has a value. */
export type OptionValues =
  & { readonly [Name in OptionName]?: ValueOf<typeof OPTIONS[Name]> }
  & {
    readonly [
      Name in OptionName as typeof OPTIONS[Name] extends { readonly default: string | number } ? Name : never
    ]: ValueOf<typeof OPTIONS[Name]>;
  };

/** An option of the program, whose value has the name of its row. */
export class ServerOption extends Option {
  readonly row: OptionName;
  readonly variable: string;

  constructor(row: OptionName) {
    super(flagsOf(row), descriptionOf(rowOf(row)));
    this.row = row;
    this.variable = variableOf(row);
  }

  override attributeName(): string {
    return this.row;
  }
}

/** A flag without a value. In the environment it is `true` or `false`: its mere presence says nothing. */
export class Switch extends ServerOption {
  /** Its description without the name of the variable. */
  readonly meaning: string;

  constructor(row: OptionName) {
    super(row);
    this.meaning = this.description;
    this.description = `${this.meaning} (env: ${this.variable})`;
  }
}

export function toOption(name: OptionName): Option {
  const row = rowOf(name);
  if (row.kind === "switch") return new Switch(name);
  const option = new ServerOption(name);
  setParser(option, row);
  const { kind, default: value } = row;
  if (typeof value === "number") option.default(value, numberText(kind, value));
  else if (typeof value === "string") option.default(value);
  return option.env(option.variable);
}

function flagsOf(name: OptionName): string {
  const { kind, value } = rowOf(name);
  const flag = flagOf(name);
  if (kind === "switch") return flag;
  const isNumber = kind === "count" || kind === "bytes" || kind === "ms";
  const what = value ?? (isNumber ? kind : flag.slice(flag.lastIndexOf("-") + 1));
  return `${flag} <${what}${kind === "words" ? "..." : ""}>`;
}

function descriptionOf({ help, default: value, otherwise }: OptionRow): string {
  const given = otherwise ?? (Array.isArray(value) ? value.join(" ") : undefined);
  return given === undefined ? help : `${help} (default: ${given})`;
}

function setParser(option: Option, { kind, least = 1 }: ReturnType<typeof rowOf>): void {
  switch (kind) {
    case "text":
    case "switch":
      return;
    case "texts":
      return void option.argParser(collect);
    case "words":
      return void option.argParser(splitWords);
    case "port":
      return void option.argParser(parsePort);
    case "count":
      return void option.argParser(wholeNumber(least));
    case "bytes":
      return void option.argParser(sizeOf(least));
    case "ms":
      return void option.argParser(least === 0 ? parseTimeOrNone : parseMilliseconds);
  }
}

function splitWords(text: string, earlier: readonly string[] = []): string[] {
  return [...earlier, ...text.split(/[\s,]+/).filter((word) => word !== "")];
}

/** A time of 0, with a unit or without. */
const ZERO_TIME = /^0+(?:\.0+)?(?:ms|s|m|h)?$/;

function parseTimeOrNone(text: string): number {
  return ZERO_TIME.test(text.trim()) ? 0 : parseMilliseconds(text);
}
