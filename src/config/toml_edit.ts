/** Edits tables of a TOML text in place; the rest of it, comments included, stays as it is. */
import { type AST, parseTOML } from "toml-eslint-parser";
import { ConfigError } from "./problem.ts";
import { readTomlText } from "./toml_text.ts";

type TomlValue = string | readonly string[];
/** The values that are written: texts and lists of texts. A member that is `undefined` is removed. */
export type TomlMembers = Readonly<Record<string, TomlValue | undefined>>;

/**
 * Sets members of a table; a table that is missing is added at the end. Other members and comments stay.
 *
 * @throws {ConfigError} when the text is no TOML, or has the table in another form than a table of its own.
 */
export function setTomlMembers(text: string, keys: readonly string[], members: TomlMembers): string {
  const table = tablesOf(text).find(({ resolvedKey }) => isBelow(resolvedKey, keys, 0));
  if (table === undefined) {
    refuseOtherForm(text, keys);
    const before = text.trim() === "" ? "" : `${text.trimEnd()}

`;
    const lines = Object.entries(members).flatMap(([name, value]) =>
      value === undefined ? [] : [writeMember(name, value)]
    );
    const added = `${before}[${keys.map(writeKey).join(".")}]
${lines.join("")}`;
    // What contains the table may be an inline table, which cannot be continued elsewhere.
    if (readTomlText(added).syntax.length > 0) throw otherForm(keys);
    return added;
  }
  const changes = Object.entries(members).flatMap(([name, value]) => {
    const pair = table.body.find(({ key }) => key.keys.length === 1 && nameOf(key.keys[0]) === name);
    if (value === undefined) {
      return pair === undefined
        ? []
        : [{ range: [pair.range[0], endOfLine(text, pair.range[1])] as const, with: "" }];
    }
    if (pair !== undefined) return [{ range: pair.value.range, with: writeValue(value) }];
    const end = endOfLine(text, text.indexOf("]", table.range[0]));
    const line = `${text[end - 1] === "\n" ? "" : "\n"}${writeMember(name, value)}`;
    return [{ range: [end, end] as const, with: line }];
  });
  return replaceRanges(text, changes);
}

/**
 * Removes a table and the tables below it; a text without it is returned unchanged.
 *
 * @throws {ConfigError} when the text is no TOML, or has the table in another form than a table of its own.
 */
export function removeTomlTable(text: string, keys: readonly string[]): string {
  const tables = tablesOf(text).filter(({ resolvedKey }) => isBelow(resolvedKey, keys));
  if (tables.length === 0) refuseOtherForm(text, keys);
  const cuts = tables.map(({ range: [start, end] }) => {
    const next = endOfLine(text, end);
    // The empty line before the table goes with it.
    const from = text.slice(0, start).endsWith("\n\n") ? start - 1 : start;
    return { range: [from, next] as const, with: "" };
  });
  return replaceRanges(text, cuts);
}

function tablesOf(text: string): readonly AST.TOMLTable[] {
  const { syntax: [problem] } = readTomlText(text);
  if (problem !== undefined) throw new ConfigError(`Cannot edit TOML: ${problem.message}`);
  return parseTOML(text).body[0].body.filter((node) => node.type === "TOMLTable");
}

/** A table may also stand inline, or as dotted keys, where it cannot be edited as a table. */
function refuseOtherForm(text: string, keys: readonly string[]): void {
  let value: unknown = readTomlText(text).value;
  for (const key of keys) {
    value = typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
  }
  if (value !== undefined) throw otherForm(keys);
}

function otherForm(keys: readonly string[]): ConfigError {
  return new ConfigError(
    `Cannot edit "${keys.join(".")}": it is not a table of its own; change it in an editor`,
  );
}

/** Whether `keys` lead to a table, or to a table up to `maxDepth` levels below it. */
function isBelow(keys: readonly unknown[], table: readonly string[], maxDepth = Infinity): boolean {
  return keys.length - table.length <= maxDepth && table.every((key, index) => keys[index] === key);
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted | undefined): string | undefined {
  return key?.type === "TOMLBare" ? key.name : key?.value;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

interface Replacement {
  readonly range: readonly [start: number, end: number];
  readonly with: string;
}

function replaceRanges(text: string, changes: readonly Replacement[]): string {
  let changed = text;
  // From the end; what is removed goes before something takes its place.
  const ordered = changes.toSorted(({ range: a }, { range: b }) => b[0] - a[0] || b[1] - a[1]);
  for (const { range: [start, end], with: written } of ordered) {
    changed = changed.slice(0, start) + written + changed.slice(end);
  }
  return changed;
}

function writeMember(name: string, value: TomlValue): string {
  return `${writeKey(name)} = ${writeValue(value)}\n`;
}

/** Strings of JSON are strings of TOML. */
function writeValue(value: TomlValue): string {
  return typeof value === "string"
    ? JSON.stringify(value)
    : `[${value.map((each) => JSON.stringify(each)).join(", ")}]`;
}

function writeKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}
