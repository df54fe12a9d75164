/** The tables of the Server's options in `docs/`, made from their declarations. */
import type { Option } from "commander";
import { logOptions } from "../src/cli/options.ts";
import { type OptionGroup, ServerOption, serverOptionGroups } from "../src/cli/server/options.ts";
import { camelFlagOf, kindOf, libraryNameOf, numberText, rowOf } from "../src/server/options/checks.ts";
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
  const cells = option instanceof ServerOption ? cellsOf(option) : logCellsOf(option);
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function cellsOf({ flags, variable, row: name }: ServerOption): readonly string[] {
  const { kind, help, who, otherwise, default: value, least = 1 } = rowOf(name);
  const shown = typeof value === "number" ? numberText(kind, value) : value;
  const given = typeof shown === "string" ? `\`${shown}\`` : shown?.map((word) => `\`${word}\``).join(" ");
  const range = least <= 1 ? "" : `; at least ${numberText(kind, least)}`;
  const library = libraryNameOf(name);
  const isSame = library === camelFlagOf(name) || library === undefined || library === "auth";
  const meaning = `${help}${range}${isSame ? "" : `; \`${library}\` in the library`}`;
  return [`\`${flags}\``, `\`${variable}\``, given ?? otherwise ?? "", meaning, who];
}

function logCellsOf(
  { flags, envVar, description, argChoices, defaultValue, defaultValueDescription }: Option,
) {
  const choices = argChoices === undefined ? "" : `: ${argChoices.map((word) => `\`${word}\``).join(", ")}`;
  const given = `\`${defaultValueDescription ?? defaultValue}\``;
  return [`\`${flags}\``, `\`${envVar}\``, given, `${description}${choices}`, "everybody"];
}
