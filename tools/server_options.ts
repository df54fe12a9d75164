/** The table of the Server's options in `docs/server.md`, made from their declarations. */
import type { Option } from "commander";
import { logOptions } from "../src/cli/options.ts";
import { Switch } from "../src/cli/server/option_kinds.ts";
import { serverOptionGroups } from "../src/cli/server/options.ts";

const BEGIN = "<!-- options: written by `deno task schema` -->";
const END = "<!-- /options -->";

/** The page with its table written anew. */
export function withServerOptions(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new TypeError(`Cannot write the options: no "${BEGIN}" … "${END}"`);
  const groups = [...serverOptionGroups(), { heading: "Log", options: logOptions() }];
  const rows = groups.flatMap(({ heading, options }) => [`| **${heading}** | | | |`, ...options.map(toRow)]);
  const table = ["| option | environment | default | meaning |", "| --- | --- | --- | --- |", ...rows].join(
    "\n",
  );
  return `${page.slice(0, begin)}${BEGIN}\n\n${table}\n\n${page.slice(end)}`;
}

function toRow(option: Option): string {
  const variable = option instanceof Switch ? option.variable : option.envVar;
  const [, meaning = "", inText] = /^(.*?)(?: \(default: (.*)\))?$/.exec(meaningOf(option)) ?? [];
  const cells = [
    `\`${option.flags}\``,
    variable === undefined ? "" : `\`${variable}\``,
    inText ?? defaultOf(option),
    choicesOf(option, meaning),
  ];
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function meaningOf(option: Option): string {
  return option instanceof Switch ? option.meaning : option.description;
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
