/** Adds and removes servers in the text of a configuration. Comments, order and indentation of the rest are kept. */
import { isDeepStrictEqual } from "node:util";
import { findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
import { type ConfigEntry, type ConfigForm, type ConfigOutline, nameOf, outlineConfig } from "./form.ts";
import { isRecord } from "../json/json.ts";
import { ConfigError, type ConfigPath, type ConfigProblem, Findings, problemsError } from "./problem.ts";
import type { ConfigText } from "./text_places.ts";
import { guessFormat, readConfigText } from "./text.ts";
import type { ToolMeta } from "../protocol/tools.ts";
import { unknownName } from "../text/spelling.ts";

/** A server to add to a configuration of any form. */
export type NewServer =
  & {
    readonly disabled?: boolean | undefined;
    /** The names of tools that are neither listed nor callable. */
    readonly forbidden_tools?: readonly string[] | undefined;
    /** Metadata of all tools of the server. */
    readonly default_tool_meta?: Readonly<ToolMeta> | undefined;
  }
  & (
    | {
      /** A child process. */
      readonly type: "stdio";
      readonly command: string;
      readonly args?: readonly string[] | undefined;
      /** Environment variables beyond the few that are passed on. */
      readonly env?: Readonly<Record<string, string>> | undefined;
      readonly cwd?: string | undefined;
    }
    | {
      /** A server on the network: Streamable HTTP, or HTTP with SSE. */
      readonly type: "streamable" | "sse";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>> | undefined;
    }
  );

/** A server as an entry that is written into the configuration unchanged. */
export interface WrittenServer {
  /** The entry without its name; `inputs` in it, as VS Code writes them, become inputs of the configuration. */
  readonly entry: Readonly<Record<string, unknown>>;
}

/**
 * Adds a server after the existing ones, in the form of the file; or writes it in place of the one of its name.
 *
 * @param text The text of the file; `undefined` or blank for a new file.
 * @throws {ConfigError} when the name is in use and it may not be replaced, also that of an input with another definition, or the text is not a
 * valid configuration in JSON.
 */
export function addServerText(
  text: string | undefined,
  name: string,
  server: NewServer | WrittenServer,
  { isReplaced = false }: { readonly isReplaced?: boolean } = {},
): string {
  if (name === "") throw new ConfigError("Cannot add server: it has no name; give it one");
  if ("entry" in server && "inputs" in server.entry) {
    const { inputs, ...entry } = server.entry;
    return addInputs(addServerText(text, name, { entry }, { isReplaced }), inputs, `add server "${name}"`);
  }
  const before = text ?? "";
  const action = `add server "${name}"`;
  refuseOtherFormats(before, action);
  const config = readForEdit(before, action);
  if (config.value === undefined) {
    const fresh = onLines({ servers: { [name]: toEntry("smcp", server) } }, NEW_FILE);
    return `${before.trim() === "" ? "" : `${before.trimEnd()}\n`}${fresh}\n`;
  }
  const outline = outlineOf(config, action);
  if (outline === undefined) {
    return insert(before, [], { key: "servers", value: { [name]: toEntry("smcp", server) } });
  }
  const known = outline.servers.find((entry) => nameOf(entry) === name);
  if (known !== undefined && !isReplaced) {
    throw new ConfigError(`Cannot ${action}: a server with this name exists`);
  }
  const entry = toEntry(outline.form, server);
  const value = outline.isList ? { name, ...entry } : entry;
  if (known !== undefined) return setMemberText(before, known.path, value);
  return insert(before, outline.path, outline.isList ? { value } : { key: name, value });
}

/**
 * The servers of an object that somebody has copied, by their names: those of a configuration of any form, each with the
 * inputs that it uses, or the entry of one server.
 *
 * @param name Its name where it is one server.
 */
export function copiedServers(
  value: Readonly<Record<string, unknown>>,
  name: string,
): (readonly [name: string, server: WrittenServer])[] {
  const { servers = [], inputs = [] } = outlineConfig(value, new Findings()) ?? {};
  if (servers.length === 0) return [[name, { entry: value }]];
  return servers.map((server) => {
    const { name: _, ...entry } = isRecord(server.value) ? server.value : {};
    const written = JSON.stringify(entry);
    const used = inputs.map((input) => input.value)
      .filter((input) => isRecord(input) && written.includes(`\${input:${input["id"]}}`));
    const own = servers.length === 1 && name !== "" ? name : String(nameOf(server) ?? "");
    return [own, { entry: used.length === 0 ? entry : { ...entry, inputs: used } }];
  });
}

function addInputs(text: string, inputs: unknown, action: string): string {
  if (!Array.isArray(inputs)) throw new ConfigError(`Cannot ${action}: "inputs" must be a list`);
  return inputs.reduce((before: string, input: unknown) => addInput(before, input, action), text);
}

function addInput(text: string, input: unknown, action: string): string {
  const outline = outlineOf(readForEdit(text, action), action);
  const id = isRecord(input) ? input["id"] : undefined;
  const known = outline?.inputs.find(({ value }) => isRecord(value) && value["id"] === id);
  if (known !== undefined) {
    if (isDeepStrictEqual(known.value, input)) return text;
    throw new ConfigError(
      `Cannot ${action}: an input "${id}" with another definition exists; give one of the two another "id"`,
    );
  }
  if (outline === undefined || outline.path.length === 0 || outline.path[0] === "projects") {
    throw new ConfigError(`Cannot ${action}: a config of this form has no "inputs"; write \${env:NAME}`);
  }
  const path = [...outline.path.slice(0, -1), "inputs"];
  const isThere = memberPath(text, path).length === path.length && nodeAt(text, path).type === "array";
  return isThere ? insert(text, path, { value: input }) : setMemberText(text, path, [input]);
}

export function removeServerText(text: string, name: string): string {
  return remove(text, serverEntry(text, name, `remove server "${name}"`).path);
}

/**
 * The entry of a server in a text that is to be edited.
 *
 * @throws {ConfigError} when there is none, or the text is not a valid configuration in JSON.
 */
export function serverEntry(text: string, name: string, action: string): ConfigEntry {
  refuseOtherFormats(text, action);
  const outline = outlineOf(readForEdit(text, action), action);
  const entry = outline?.servers.find((each) => nameOf(each) === name);
  if (entry !== undefined) return entry;
  const names = (outline?.servers ?? []).map(nameOf).filter((each) => typeof each === "string");
  throw new ConfigError(unknownName("server", name, names));
}

/**
 * Sets a member of an object in a JSON text with comments; objects on the way to it are made. The rest of the text stays
 * as it is.
 *
 * @param text `undefined` or blank for a new file
 * @throws {ConfigError} when the text is no JSON object, or something else than an object is on the way.
 */
export function setMemberText(text: string | undefined, path: ConfigPath, value: unknown): string {
  const nested = (keys: ConfigPath) => keys.reduceRight((inner: unknown, key) => ({ [key]: inner }), value);
  if (text === undefined || text.trim() === "") return `${onLines(nested(path), NEW_FILE)}\n`;
  const known = memberPath(text, path);
  if (known.length === path.length) {
    const node = nodeAt(text, path);
    const { unit, newline } = layoutOf(text);
    const written = onLines(value, { unit, newline, indent: indentAt(text, node.offset) });
    return splice(text, node.offset, written, node.length);
  }
  const [key = "", ...rest] = path.slice(known.length);
  return insert(text, known, { key: `${key}`, value: nested(rest) });
}

export function hasMember(text: string, path: readonly string[]): boolean {
  return text.trim() !== "" && memberPath(text, path).length === path.length;
}

/** A text without the member is returned unchanged. */
export function removeMemberText(text: string, path: readonly string[]): string {
  return memberPath(text, path).length === path.length ? remove(text, path) : text;
}

/** The part of a path that is there. */
function memberPath(text: string, path: ConfigPath): ConfigPath {
  let inner: unknown = readForEdit(text, "edit").value;
  for (const [index, key] of path.entries()) {
    if (Array.isArray(inner) && typeof key === "number") {
      inner = inner[key];
      continue;
    }
    if (!isRecord(inner)) {
      const what = index === 0 ? "the content of the file" : `"${path.slice(0, index).join(".")}"`;
      throw new ConfigError(`Cannot edit: ${what} is not an object`);
    }
    if (!Object.hasOwn(inner, key)) return path.slice(0, index);
    inner = inner[key];
  }
  return path;
}

/** Only an edit of JSON keeps comments and formatting. */
function refuseOtherFormats(text: string, action: string): void {
  const format = guessFormat(text);
  if (format === "json") return;
  const fix = "change it in an editor, or move the servers to a JSON file";
  throw new ConfigError(`Cannot ${action}: the config is ${format.toUpperCase()}; ${fix}`);
}

function readForEdit(text: string, action: string): ConfigText {
  const config = readConfigText(text, { format: "json" });
  refuseProblems([...config.syntax, ...config.duplicates], action);
  return config;
}

/** `undefined` for an object without servers, which becomes a configuration. */
function outlineOf({ value, locate }: ConfigText, action: string): ConfigOutline | undefined {
  const findings = new Findings();
  const outline = outlineConfig(value, findings);
  if (outline !== undefined || !isFresh(value)) refuseProblems(findings.problems.map(locate), action);
  return outline;
}

function refuseProblems(problems: readonly ConfigProblem[], action: string): void {
  if (problems.length === 0) return;
  throw new ConfigError(`Cannot ${action}: ${problemsError("config", problems).message}`, { problems });
}

function isFresh(value: unknown): boolean {
  return isRecord(value) && !("servers" in value || "mcpServers" in value);
}

/** The `type` of a program and of an HTTP server in each form; by default none and `http`. */
const TYPES: Partial<Record<ConfigForm, { readonly stdio?: string; readonly http?: string }>> = {
  vscode: { stdio: "stdio" },
  crush: { stdio: "stdio" },
  copilot: { stdio: "local" },
  opencode: { stdio: "local", http: "remote" },
};

/** The entry of a server in a form, without members that are not given. */
function toEntry(form: ConfigForm, server: NewServer | WrittenServer): Record<string, unknown> {
  if ("entry" in server) return { ...server.entry };
  const { type, disabled, forbidden_tools, default_tool_meta, ...parameters } = server;
  const shared = given({ disabled, forbidden_tools, default_tool_meta });
  if (form === "smcp") return { type, ...shared, server_parameters: given(parameters) };
  const { stdio, http = "http" } = TYPES[form] ?? {};
  const flatType = { stdio, streamable: http, sse: "sse" }[type];
  const members = form === "opencode" && server.type === "stdio"
    ? { command: [server.command, ...server.args ?? []], environment: server.env, cwd: server.cwd }
    : parameters;
  return given({ type: flatType, ...members, ...shared });
}

function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** White space and comments, on one line or over several. */
const TRIVIA_ON_LINE = /(?:[ \t]|\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)*/y;
const TRIVIA = /(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y;

function skip(trivia: RegExp, text: string, offset: number): number {
  trivia.lastIndex = offset;
  return offset + (trivia.exec(text)?.[0].length ?? 0);
}

/** Longer lists are written with one item per line, in characters. */
const MAX_LIST_LENGTH = 80;

/** Inserts an item after the last one of the object or list at `path`. */
function insert(
  text: string,
  path: readonly (string | number)[],
  { key, value }: { readonly key?: string; readonly value: unknown },
): string {
  const container = nodeAt(text, path);
  const isEmpty = (container.children ?? []).length === 0;
  // An empty object has no layout to follow, so the layout of the whole file is used.
  const sample = isEmpty ? text : text.slice(container.offset, container.offset + container.length);
  const isOneLine = !/[\r\n]/.test(sample.trim());
  const label = key === undefined ? "" : `${JSON.stringify(key)}: `;
  if (isOneLine) return insertOnLine(text, container, label + onOneLine(value));
  const { unit, newline } = layoutOf(text);
  const last = container.children?.at(-1);
  const indent = last === undefined ? indentAt(text, container.offset) + unit : indentAt(text, last.offset);
  const item = newline + indent + label + onLines(value, { unit, newline, indent });
  if (last === undefined) {
    const isClosedOnLine = !/[\r\n]/.test(text.slice(container.offset, container.offset + container.length));
    const close = isClosedOnLine ? newline + indentAt(text, container.offset) : "";
    return splice(text, skip(TRIVIA_ON_LINE, text, container.offset + 1), item + close);
  }
  const end = last.offset + last.length;
  const comma = commaAfter(text, end);
  // After a comment at the end of the line
  const at = skip(TRIVIA_ON_LINE, text, comma === undefined ? end : comma + 1);
  if (comma !== undefined) return splice(text, at, `${item},`);
  return splice(splice(text, at, item), end, ",");
}

function insertOnLine(text: string, container: Node, item: string): string {
  const last = container.children?.at(-1);
  if (last !== undefined) return splice(text, last.offset + last.length, `, ${item}`);
  const at = skip(TRIVIA_ON_LINE, text, container.offset + 1);
  return splice(text, at, /\s/.test(text[at - 1] ?? "") ? `${item} ` : ` ${item} `);
}

/** Removes the value at `path` with its key, and one comma. */
function remove(text: string, path: readonly (string | number)[]): string {
  const found = nodeAt(text, path);
  const node = found.parent?.type === "property" ? found.parent : found;
  const siblings = node.parent?.children ?? [];
  const before = siblings[siblings.indexOf(node) - 1];
  const end = node.offset + node.length;
  const commaBehind = commaAfter(text, end);
  const commaBefore = before === undefined ? undefined : commaAfter(text, before.offset + before.length);
  const cut = cutLines(text, node.offset, commaBehind === undefined ? end : commaBehind + 1);
  if (commaBehind !== undefined || commaBefore === undefined) return cut;
  return splice(cut, commaBefore, "", 1);
}

/** Cuts out a part of the text, and a line that would be left blank. */
function cutLines(text: string, from: number, to: number): string {
  const lineStart = from - (/[ \t]*$/.exec(text.slice(0, from))?.[0].length ?? 0);
  const isFirst = lineStart === 0 || /[\r\n]/.test(text[lineStart - 1] ?? "");
  const [tail = "", newline] = /^[ \t]*(\r\n|\r|\n)?/.exec(text.slice(to)) ?? [];
  if (!isFirst) return text.slice(0, lineStart) + text.slice(to);
  return text.slice(0, newline === undefined ? from : lineStart) + text.slice(to + tail.length);
}

function nodeAt(text: string, path: readonly (string | number)[]): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  const node = root === undefined ? undefined : findNodeAtLocation(root, [...path]);
  if (node === undefined) throw new TypeError("Cannot edit config: the text has changed since it was read");
  return node;
}

function commaAfter(text: string, offset: number): number | undefined {
  const at = skip(TRIVIA, text, offset);
  return text[at] === "," ? at : undefined;
}

function layoutOf(text: string): Omit<Layout, "indent"> {
  return {
    unit: /^[ \t]+(?=["{[])/m.exec(text)?.[0] ?? "  ",
    newline: /\r\n|\n/.exec(text)?.[0] ?? "\n",
  };
}

/** The white space that the line of `offset` begins with. */
function indentAt(text: string, offset: number): string {
  const start = Math.max(text.lastIndexOf("\n", offset - 1), text.lastIndexOf("\r", offset - 1)) + 1;
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? "";
}

interface Layout {
  readonly unit: string;
  readonly newline: string;
  /** The white space before each line but the first. */
  readonly indent: string;
}

const NEW_FILE: Layout = { unit: "  ", newline: "\n", indent: "" };

/** Writes one member per line; a short list stays on one line. */
function onLines(value: unknown, { unit, newline, indent }: Layout): string {
  const line = onOneLine(value);
  const isObject = typeof value === "object" && value !== null && Object.keys(value).length > 0;
  if (!isObject || (Array.isArray(value) && line.length <= MAX_LIST_LENGTH)) return line;
  const inner = indent + unit;
  const items = Object.entries(value).map(([key, item]) =>
    `${Array.isArray(value) ? "" : `${JSON.stringify(key)}: `}${
      onLines(item, { unit, newline, indent: inner })
    }`
  );
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return open + newline + items.map((item) => inner + item).join(`,${newline}`) + newline + indent + close;
}

/** Writes JSON on one line, with spaces after colons and commas and within braces. */
function onOneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${onOneLine(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

function splice(text: string, at: number, inserted: string, length = 0): string {
  return text.slice(0, at) + inserted + text.slice(at + length);
}
