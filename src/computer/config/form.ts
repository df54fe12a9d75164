/** The forms that a configuration comes in, told apart by their members. */
import { isRecord } from "../../protocol/errors.ts";
import type { ConfigPath, Findings, ReadingPlace } from "./problem.ts";
import { closestWord, didYouMean } from "../spelling.ts";

/**
 * `smcp`: the specification's, entries with `server_parameters`. `vscode`: `mcp.json` of VS Code, `servers` with flat
 * entries. `mcpServers`: that of Claude, Cursor, Windsurf, Cline, Gemini and others.
 */
export type ConfigForm = "smcp" | "vscode" | "mcpServers";

/** An entry of `servers` or `inputs`, not yet read. */
export interface ConfigEntry {
  readonly path: ConfigPath;
  /** Its key where the entries are a map. */
  readonly key: string | undefined;
  readonly value: unknown;
}

/** What a configuration consists of. */
export interface ConfigOutline {
  readonly form: ConfigForm;
  /** Where the servers stand. */
  readonly path: ConfigPath;
  readonly isList: boolean;
  readonly servers: readonly ConfigEntry[];
  readonly inputs: readonly ConfigEntry[];
}

const CONTAINERS = ["servers", "mcpServers"];
const TOP_LEVEL = [...CONTAINERS, "inputs"];

/** Finds the parts of a configuration; `undefined` when it is none. */
export function outlineConfig(value: unknown, findings: Findings): ConfigOutline | undefined {
  const { top, prefix } = unwrap(value);
  if (top === undefined) {
    findings.refuse([], 'must be an object with "servers" or "mcpServers"');
    return undefined;
  }
  const container = containerOf(top, { path: prefix, findings });
  if (container === undefined) return undefined;
  const path = [...prefix, container];
  const servers = entriesOf(top[container], path);
  if (servers === undefined) {
    findings.refuse(path, 'must be an object of servers by name, or a list of servers with a "name" each');
    return undefined;
  }
  const form = formOf(container, servers);
  warnOfStrangers(top, { prefix, form, findings });
  return {
    form,
    path,
    isList: Array.isArray(top[container]),
    servers,
    inputs: inputsOf(top["inputs"], { path: [...prefix, "inputs"], findings }),
  };
}

/** An entry of the specification's form; any other is flat. */
export function isOwnEntry(entry: unknown): boolean {
  return isRecord(entry) && entry["server_parameters"] !== undefined;
}

/** What the server of an entry is called: its key, or its `name` where the entry is ours or one of a list. */
export function nameOf({ key, value }: ConfigEntry): unknown {
  const own = isRecord(value) && (key === undefined || isOwnEntry(value)) ? value["name"] : undefined;
  return own ?? key;
}

/** VS Code's `settings.json` has `mcp.json` as its member `mcp`. */
function unwrap(
  value: unknown,
): { readonly top: Readonly<Record<string, unknown>> | undefined; readonly prefix: ConfigPath } {
  if (!isRecord(value)) return { top: undefined, prefix: [] };
  const { mcp } = value;
  const hasOwn = CONTAINERS.some((key) => value[key] !== undefined);
  if (!hasOwn && isRecord(mcp) && mcp["servers"] !== undefined) return { top: mcp, prefix: ["mcp"] };
  return { top: value, prefix: [] };
}

function containerOf(
  top: Readonly<Record<string, unknown>>,
  { path, findings }: ReadingPlace,
): string | undefined {
  const [container, other] = CONTAINERS.filter((key) => top[key] !== undefined);
  if (container === undefined) {
    const stray = Object.keys(top).find((key) => closestWord(key, CONTAINERS) !== undefined);
    const hint = stray === undefined ? "" : `; "${stray}" is none${didYouMean(stray, CONTAINERS)}`;
    findings.refuse(path, `must have "servers" or "mcpServers"${hint}`);
  }
  if (other === undefined) return container;
  findings.refuse([...path, other], 'cannot stand beside "servers"; move all servers under one of the two');
  return undefined;
}

function formOf(container: string, servers: readonly ConfigEntry[]): ConfigForm {
  if (container === "mcpServers") return "mcpServers";
  return servers.length === 0 || servers.some(({ value }) => isOwnEntry(value)) ? "smcp" : "vscode";
}

function entriesOf(value: unknown, path: ConfigPath): ConfigEntry[] | undefined {
  if (Array.isArray(value)) {
    return value.map((item, index) => ({ path: [...path, index], key: undefined, value: item }));
  }
  if (!isRecord(value)) return undefined;
  return Object.entries(value).map(([key, item]) => ({ path: [...path, key], key, value: item }));
}

function inputsOf(value: unknown, { path, findings }: ReadingPlace): ConfigEntry[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return entriesOf(value, path) ?? [];
  findings.refuse(path, 'must be a list; write it as [{ "id": …, "type": … }]');
  return [];
}

/** A file of `mcpServers`, or settings, may belong to a program with members of its own; others may not. */
function warnOfStrangers(
  top: Readonly<Record<string, unknown>>,
  { prefix, form, findings }: {
    readonly prefix: ConfigPath;
    readonly form: ConfigForm;
    readonly findings: Findings;
  },
): void {
  for (const key of Object.keys(top)) {
    if (TOP_LEVEL.includes(key) || isRemark(key)) continue;
    const hint = didYouMean(key, TOP_LEVEL);
    if (form !== "mcpServers" || hint !== "") findings.warn([...prefix, key], `has no meaning here${hint}`);
  }
  const { mcp } = top;
  if (form !== "mcpServers" || !isRecord(mcp)) return;
  for (const key of ["allowed", "excluded"].filter((name) => mcp[name] !== undefined)) {
    findings.warn([...prefix, "mcp", key], 'has no effect; write "disabled": true into a server instead');
  }
}

/** Keys by which people leave remarks, and editors find schemas. */
export function isRemark(key: string): boolean {
  return /^(?:\$|_|\/\/|x-|comment$|description$)/.test(key);
}
