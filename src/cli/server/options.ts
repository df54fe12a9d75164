/**
 * The options of the Server's program, each made from its row of the table. `--help`, the environment, and the file of
 * `--config` are made from them. A key of that file is the long flag without its dashes.
 */
import { type Command, InvalidArgumentError, Option } from "commander";
import { isLoopback } from "../../protocol/server_address.ts";
import { flagOf, isOptionName, numberText, rangeOf, rowOf, variableOf } from "../../server/options/checks.ts";
import type { OptionKind, OptionRow, OptionRows } from "../../server/options/row.ts";
import { OPTION_GROUPS, type OptionName, type OPTIONS } from "../../server/options/table.ts";
import { collect, type LogOptions, parseMilliseconds, parsePort, sizeOf, wholeNumber } from "../options.ts";

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

export type ServerCliOptions = LogOptions & OptionValues & {
  /** The port of the console, `true` for a free one. */
  readonly console?: number | true;
};

/** Whether clients surely use another URL than the one that a Server or a hub listens on, from other machines. */
export function isReachedElsewhere(
  { host, tlsCert, trustedProxies = [], publicUrl }: ServerCliOptions & { readonly publicUrl?: string },
): boolean {
  return !isLoopback(host) || tlsCert !== undefined || trustedProxies.length > 0 || publicUrl !== undefined;
}

/** An option of the program, whose value has the name of its row. */
export class ServerOption extends Option {
  readonly row: OptionName;
  readonly variable: string;
  /** Whether it has no value. In the environment it is `true` or `false`: its mere presence says nothing. */
  readonly isSwitch: boolean;

  constructor(name: OptionName) {
    const row = rowOf(name);
    super(flagsOf(name), row.help);
    this.row = name;
    this.variable = variableOf(name);
    this.isSwitch = row.kind === "switch";
    if (this.isSwitch) this.description += ` (env: ${this.variable})`;
    else this.env(this.variable);
    setParser(this, row.kind, rangeOf(name));
    setDefault(this, row);
  }

  override attributeName(): string {
    return this.row;
  }
}

export interface OptionGroup {
  readonly heading: string;
  readonly options: readonly Option[];
}

/** Declares all options anew: commander keeps the state of a command line in them. */
export function serverOptionGroups(): readonly OptionGroup[] {
  return Object.entries<OptionRows>(OPTION_GROUPS).map(([heading, rows]) => ({
    heading,
    options: Object.keys(rows).filter(isOptionName).map((name) => new ServerOption(name)),
  }));
}

/** An option that differs from its default, as it could be given. */
export interface ChangedOption {
  readonly name: string;
  /** {@linkcode HIDDEN_VALUE} for one that nobody is shown. */
  readonly value: string;
  readonly default: string | null;
}

const HIDDEN_VALUE = "(set; secrets are not shown)";

export function changedOptions(program: Command): readonly ChangedOption[] {
  return program.options.flatMap((option) => {
    const source = program.getOptionValueSource(option.attributeName());
    if (source === undefined || source === "default") return [];
    // Those of a hub have no row, and no secret.
    const { isSecret = false, default: usual, kind } = option instanceof ServerOption
      ? rowOf(option.row)
      : { kind: "text", default: option.defaultValue } as const;
    const value = valueText(program.getOptionValue(option.attributeName()), kind);
    const otherwise = usual === undefined ? null : valueText(usual, kind);
    const shown = { name: option.long ?? "", value: isSecret ? HIDDEN_VALUE : value, default: otherwise };
    return value === otherwise || value === "false" ? [] : [shown];
  });
}

function valueText(value: unknown, kind: OptionKind): string {
  if (typeof value === "number") return numberText(kind, value);
  return Array.isArray(value) ? value.join(" ") : String(value);
}

function flagsOf(name: OptionName): string {
  const { kind, value } = rowOf(name);
  const flag = flagOf(name);
  if (kind === "switch") return flag;
  const isNumber = kind === "count" || kind === "bytes" || kind === "ms";
  const what = value ?? (isNumber ? kind : flag.slice(flag.lastIndexOf("-") + 1));
  return `${flag} <${what}${kind === "words" ? "..." : ""}>`;
}

function setDefault(option: Option, { kind, default: value, otherwise }: ReturnType<typeof rowOf>): void {
  if (typeof value === "number") option.default(value, numberText(kind, value));
  else if (typeof value === "string") option.default(value);
  else if (value !== undefined) option.description += ` (default: ${value.join(" ")})`;
  if (otherwise !== undefined) option.description += ` (default: ${otherwise})`;
}

function setParser(option: Option, kind: OptionKind, { least, most }: ReturnType<typeof rangeOf>): void {
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
      return void option.argParser((text) => {
        const timeMs = least === 0 ? parseTimeOrNone(text) : parseMilliseconds(text);
        if (timeMs <= most) return timeMs;
        throw new InvalidArgumentError(`Expected at most ${most / 3_600_000}h`);
      });
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
