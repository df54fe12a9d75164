/** Writes the members of the Server's option types, with their documentation, from the rows of the table of options. */
import { flagOf, numberText, OPTION_NAMES, rowOf } from "../src/server/options/checks.ts";
import type { OptionKind } from "../src/server/options/row.ts";
import type { OptionName } from "../src/server/options/table.ts";

/** The members between two comments, the first of which may name a kind of Server. */
const MEMBERS =
  /( {2}\/\/ Rows of (?:every Server|"(\w+)"): written by .*\n)[^]*?( {2}\/\/ End of the rows\n)/g;
const LINE_WIDTH = 110;

const TYPES: Readonly<Record<OptionKind, string>> = {
  text: "string",
  texts: "readonly string[]",
  words: "readonly string[]",
  switch: "boolean",
  port: "number",
  count: "number",
  bytes: "number",
  ms: "number",
};

/** The module with its members written anew. */
export function withOptionTypes(code: string): string {
  return code.replaceAll(MEMBERS, (_, begin: string, of: string | undefined, end: string) => {
    const names = OPTION_NAMES.filter((name) => rowOf(name).of === of);
    return `${begin}${names.map(memberOf).join("")}${end}`;
  });
}

function memberOf(name: OptionName): string {
  const row = rowOf(name);
  const lines = wrap(documentationOf(row), LINE_WIDTH - "   * ".length);
  const [only = ""] = lines;
  const comment = lines.length === 1 && only.length <= LINE_WIDTH - "  /**  */".length
    ? `  /** ${only} */\n`
    : `  /**\n${lines.map((line) => `   * ${line}\n`).join("")}   */\n`;
  return `${comment}  readonly ${name}?: ${TYPES[row.kind]} | undefined;\n`;
}

const UNITS: Readonly<Partial<Record<OptionKind, string>>> = { bytes: ", in bytes", ms: ", in milliseconds" };

function documentationOf(
  { kind, help, note, least, default: value, otherwise }: ReturnType<typeof rowOf>,
): string {
  const [what = "", ...more] = help.split("; ");
  const given = kind === "switch" ? "`false`" : value === undefined ? otherwise : defaultText(kind, value);
  const range = least === undefined ? "" : `, at least ${least.toLocaleString("en")}`;
  const isInNote = given === undefined || note?.startsWith("By default");
  const defaults = isInNote
    ? ""
    : more.length > 0
    ? `by default ${given}${range}`
    : `; ${given} by default${range}`;
  const sentences = more.length > 0
    ? [`${what}${UNITS[kind] ?? ""}`, ...more, defaults]
    : [`${what}${UNITS[kind] ?? ""}${defaults}`];
  const text = sentences.filter((text) => text !== "").map(toSentence);
  return [...text, ...(note === undefined ? [] : [note])].join(" ").replaceAll(/--[a-z-]+/g, (flag) => {
    const name = OPTION_NAMES.find((name) => flagOf(name) === flag);
    return `\`${name ?? flag}\``;
  }).replaceAll("* for all", "`*` for all").replaceAll(/(?<= )(?:\/[a-z]+)/g, "`$&`");
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function defaultText(kind: OptionKind, value: string | number | readonly string[]): string {
  if (kind === "port") return String(value);
  if (typeof value === "number") {
    return kind === "bytes" ? numberText(kind, value).replace("MiB", " MiB") : value.toLocaleString("en");
  }
  return (typeof value === "string" ? [value] : value).map((word) => `\`${word}\``).join(", ");
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines.push(`${lines.pop()} ${word}`);
    else lines.push(word);
  }
  return lines;
}
