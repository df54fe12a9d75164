/** The tables of the Server's options in `docs/`, made from their declarations. */
import type { Option } from "commander";
import { logOptions } from "../src/cli/options.ts";
import { ServerOption, Switch } from "../src/cli/server/option_kinds.ts";
import { type OptionGroup, serverOptionGroups } from "../src/cli/server/options.ts";
import { kindOf, numberText, rowOf } from "../src/server/options/checks.ts";
import { type Constant, CONSTANT_GROUPS } from "../src/server/options/constants.ts";

/** The pages in `docs/` that have such tables. */
export const SERVER_OPTION_PAGES = ["server.md", "credentials.md", "operations.md", "cluster.md"] as const;

/** A table: the headings of its groups, in its first line. */
const TABLE = /^<!-- options: (.+); written by `deno task schema` -->$[^]*?^<!-- \/options -->$/gm;

/** The tables of numbers that nobody sets. */
const CONSTANT_TABLES = /^<!-- constants: written by `deno task schema` -->$[^]*?^<!-- \/constants -->$/gm;

/**
 * All pages with their tables written anew.
 *
 * @throws {TypeError} unless each group of options is in one table of one page.
 */
export function withServerOptions<Page extends { readonly text: string }>(pages: readonly Page[]): Page[] {
  const groups = new Map(
    [...serverOptionGroups(), { heading: "Log", options: logOptions() }].map((
      group,
    ) => [group.heading, group]),
  );
  const take = (heading: string): OptionGroup => {
    const group = groups.get(heading);
    if (group === undefined) {
      throw new TypeError(`Cannot write options "${heading}": unknown, or written twice`);
    }
    groups.delete(heading);
    return group;
  };
  const written = pages.map((page) => ({
    ...page,
    text: page.text.replaceAll(
      TABLE,
      (_, headings: string) => tableOf(headings, headings.split(", ").map(take)),
    ).replaceAll(CONSTANT_TABLES, constantTables),
  }));
  const [missing] = groups.keys();
  if (missing !== undefined) {
    throw new TypeError(`Cannot write options "${missing}": no table in docs/ names them`);
  }
  return written;
}

function tableOf(headings: string, groups: readonly OptionGroup[]): string {
  const rows = groups.flatMap(({ heading, options }) => [
    ...(groups.length > 1 ? [`| **${heading}** | | | | |`] : []),
    ...options.map(toRow),
  ]);
  return [
    `<!-- options: ${headings}; written by \`deno task schema\` -->`,
    "",
    "| option | environment | default | meaning | who needs it |",
    "| --- | --- | --- | --- | --- |",
    ...rows,
    "",
    "<!-- /options -->",
  ].join("\n");
}

function constantTables(): string {
  const tables = Object.entries<Readonly<Record<string, Constant>>>(CONSTANT_GROUPS).map(([heading, rows]) =>
    [
      `| ${heading} | limit | beyond it |`,
      "| --- | --- | --- |",
      ...Object.entries(rows).map(([name, { value, help, beyond }]) =>
        `| ${help} | ${limitText(name, value)} | ${beyond} |`
      ),
      "",
    ].join("\n")
  );
  return ["<!-- constants: written by `deno task schema` -->", "", ...tables, "<!-- /constants -->"].join(
    "\n",
  );
}

function limitText(name: string, value: number): string {
  const kind = kindOf(name);
  if (kind === "count") return value.toLocaleString("en");
  return numberText(kind, value).replace(/[a-zA-Z]+$/, " $&");
}

function toRow(option: Option): string {
  const variable = option instanceof Switch ? option.variable : option.envVar;
  const [, meaning = "", inText] = /^(.*?)(?: \(default: (.*)\))?$/.exec(meaningOf(option)) ?? [];
  const cells = [
    `\`${option.flags}\``,
    variable === undefined ? "" : `\`${variable}\``,
    inText ?? defaultOf(option),
    choicesOf(option, `${meaning}${leastOf(option)}`),
    option instanceof ServerOption ? rowOf(option.row).who : "everybody",
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function meaningOf(option: Option): string {
  return option instanceof Switch ? option.meaning : option.description;
}

function leastOf(option: Option): string {
  if (!(option instanceof ServerOption)) return "";
  const { kind, least = 1 } = rowOf(option.row);
  return least <= 1 ? "" : `; at least ${numberText(kind, least)}`;
}

function choicesOf({ argChoices }: Option, meaning: string): string {
  return argChoices === undefined
    ? meaning
    : `${meaning}: ${argChoices.map((word) => `\`${word}\``).join(", ")}`;
}

function defaultOf({ defaultValue, defaultValueDescription }: Option): string {
  const value = defaultValueDescription ?? defaultValue;
  return value === undefined ? "" : `\`${value}\``;
}
