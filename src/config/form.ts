/** The forms of a configuration, which one table tells apart by their members. */
import { isRecord } from "../json/json.ts";
import { type ConfigPath, type Findings, formatPath, type ReadingPlace } from "./problem.ts";
import { closestWord, didYouMean } from "../text/spelling.ts";

/**
 * `smcp` is the specification's form, with `server_parameters` in each entry. `vscode` is VS Code's `mcp.json`, with
 * flat entries in `servers`. `mcpServers` is the form of Claude, Cursor, Windsurf, Cline and others. Each other form
 * belongs to the program that it is named after; Kilo Code uses `opencode`.
 */
export type ConfigForm =
  | "smcp"
  | "vscode"
  | "mcpServers"
  | "amp"
  | "codex"
  | "continue"
  | "copilot"
  | "crush"
  | "gemini"
  | "hermes"
  | "opencode"
  | "vibe"
  | "zed";

export interface ConfigEntry {
  readonly path: ConfigPath;
  /** Its key; `undefined` when the entries are a list. */
  readonly key: string | undefined;
  readonly value: unknown;
}

export interface ConfigOutline {
  readonly form: ConfigForm;
  readonly path: ConfigPath;
  readonly isList: boolean;
  readonly servers: readonly ConfigEntry[];
  readonly inputs: readonly ConfigEntry[];
  /** The members beside the servers that concern the whole Computer, not read yet. */
  readonly settings: readonly ConfigEntry[];
}

type Members = Readonly<Record<string, unknown>>;

interface Candidate {
  readonly entries: readonly ConfigEntry[];
  readonly isList: boolean;
  readonly origin: ConfigOriginHint | undefined;
}

/** The place of a file, by which some forms are recognized. */
export interface ConfigOriginHint {
  readonly programFolder?: string | undefined;
  readonly cwd?: string | undefined;
}

/** Where a form has its servers, and how to recognize it among forms with the same place. */
interface FormRule {
  readonly form: ConfigForm;
  readonly at: ConfigPath;
  readonly fits?: (candidate: Candidate) => boolean;
  /** Whether its servers have no names and get numbers as names; false by default. */
  readonly isUnnamed?: boolean;
}

const hasEntry = ({ entries }: Candidate, isMeant: (entry: Members) => boolean) =>
  entries.some(({ value }) => isRecord(value) && isMeant(value));
const hasMember = (candidate: Candidate, keys: readonly string[]) =>
  hasEntry(candidate, (entry) => keys.some((key) => entry[key] !== undefined));
const hasType = (candidate: Candidate, types: readonly unknown[]) =>
  hasEntry(candidate, ({ type }) => types.includes(type));

const isOwn = (candidate: Candidate) =>
  candidate.entries.length === 0 || hasEntry(candidate, (entry) => isOwnEntry(entry));
const isCopilot = (candidate: Candidate) =>
  candidate.origin?.programFolder === ".copilot" || hasType(candidate, ["local"]) ||
  hasEntry(
    candidate,
    (entry) => Array.isArray(entry["tools"]) || JSON.stringify(entry).includes("COPILOT_MCP_"),
  );
const isGemini = (candidate: Candidate) =>
  [".gemini", ".qwen"].includes(candidate.origin?.programFolder ?? "") ||
  hasMember(candidate, ["httpUrl", "trust", "includeTools", "excludeTools"]);
const isCrush = (candidate: Candidate) => hasType(candidate, ["stdio", "http", "sse"]);
const isHermes = (candidate: Candidate) => hasMember(candidate, ["connect_timeout", "sampling", "timeout"]);

/** The first rule that fits applies. */
const FORMS: readonly FormRule[] = [
  { form: "smcp", at: ["servers"], fits: isOwn },
  { form: "vscode", at: ["servers"] },
  { form: "continue", at: ["mcpServers"], fits: ({ isList }) => isList },
  { form: "copilot", at: ["mcpServers"], fits: isCopilot },
  { form: "gemini", at: ["mcpServers"], fits: isGemini },
  { form: "mcpServers", at: ["mcpServers"] },
  { form: "vscode", at: ["mcp", "servers"] },
  { form: "vscode", at: ["settings", "mcp", "servers"] },
  { form: "vscode", at: ["customizations", "vscode", "mcp", "servers"] },
  { form: "vscode", at: ["customizations", "vscode", "settings", "mcp", "servers"] },
  { form: "continue", at: ["experimental", "modelContextProtocolServers"], isUnnamed: true },
  { form: "zed", at: ["context_servers"] },
  { form: "amp", at: ["amp.mcpServers"] },
  { form: "amp", at: ["amp", "mcpServers"] },
  { form: "vibe", at: ["mcp_servers"], fits: ({ isList }) => isList },
  { form: "hermes", at: ["mcp_servers"], fits: isHermes },
  { form: "codex", at: ["mcp_servers"] },
  { form: "crush", at: ["mcp"], fits: isCrush },
  { form: "opencode", at: ["mcp"] },
];
const CONTAINERS = ["servers", "mcpServers"];
const SETTINGS = ["protocol_version", "skills", "uploads", "limits"];
const TOP_LEVEL = [...CONTAINERS, "inputs", ...SETTINGS];
/** The forms that have settings of the whole Computer: those without an own meaning of such members. */
const WITH_SETTINGS: readonly ConfigForm[] = ["smcp", "vscode", "mcpServers"];
const ENTRIES = 'must be an object of servers by name, or a list of servers, each with a "name"';

/** Finds the parts of a configuration; `undefined` when the value is not a configuration. */
export function outlineConfig(
  value: unknown,
  findings: Findings,
  origin?: ConfigOriginHint | undefined,
): ConfigOutline | undefined {
  if (!isRecord(value)) {
    findings.refuse([], `must be an object with "servers" or "mcpServers"${whatElse(value)}`);
    return undefined;
  }
  const both = CONTAINERS.filter((key) => value[key] !== undefined);
  if (both.length > 1) {
    findings.refuse(
      ["mcpServers"],
      'cannot be combined with "servers"; move all servers under one of the two',
    );
    return undefined;
  }
  const found = findOutline(value, { origin, findings });
  const outline = withProject(found ?? bareOutline(value), { value, origin, findings });
  if (outline === undefined) {
    if (findings.problems.length === 0) {
      findings.refuse([], `must have "servers" or "mcpServers"${whatElse(value)}`);
    }
    return undefined;
  }
  const prefix = outline.path.slice(0, -1);
  const top = atPath(value, prefix);
  if (isRecord(top) && outline.path.length > 0) {
    warnOfUnknownKeys(top, { prefix, form: outline.form, findings });
  }
  warnOfOthers(value, outline, findings);
  return outline;
}

/** A settings file may have servers for several programs; only those of one place are read. */
function warnOfOthers(value: Members, { path }: ConfigOutline, findings: Findings): void {
  const places = new Map(FORMS.map(({ at }) => [JSON.stringify(at), at]));
  for (const at of places.values()) {
    const other = at[0] === path[0] || path[0] === "projects" ? undefined : atPath(value, at);
    const isMeant = entriesOf(other, at)?.some((entry) => isServer(entry.value)) === true;
    if (isMeant) {
      findings.warn(
        at,
        `ignored, because the servers of "${formatPath(path)}" are used; move all servers to one place`,
      );
    }
  }
}

function findOutline(
  value: Members,
  context: { readonly origin: ConfigOriginHint | undefined; readonly findings: Findings },
): ConfigOutline | undefined {
  for (const rule of FORMS) {
    const outline = outlineBy(rule, value, context);
    if (outline !== undefined || context.findings.problems.length > 0) return outline;
  }
  return undefined;
}

function outlineBy(
  { form, at, fits, isUnnamed = false }: FormRule,
  value: Members,
  { origin, findings }: { readonly origin: ConfigOriginHint | undefined; readonly findings: Findings },
): ConfigOutline | undefined {
  const prefix = at.slice(0, -1);
  const top = atPath(value, prefix);
  const servers = atPath(value, at);
  if (!isRecord(top) || servers === undefined) return undefined;
  const entries = entriesOf(servers, at);
  if (entries === undefined) {
    findings.refuse(at, ENTRIES);
    return undefined;
  }
  const isList = Array.isArray(servers);
  if (fits?.({ entries, isList, origin }) === false) return undefined;
  const inputs = inputsOf(top["inputs"], { path: [...prefix, "inputs"], findings });
  const named = isUnnamed
    ? entries.map((entry, index) => ({ ...entry, key: `server-${index + 1}` }))
    : entries;
  return { form, path: at, isList, servers: named, inputs, settings: settingsOf(top, { form, prefix }) };
}

/** Recognizes an object that has only servers by name. */
function bareOutline(value: Members): ConfigOutline | undefined {
  const servers = (entriesOf(value, []) ?? []).filter(({ key = "" }) => !isRemark(key));
  if (servers.length === 0 || !servers.every((entry) => isServer(entry.value))) return undefined;
  return { form: "mcpServers", path: [], isList: false, servers, inputs: [], settings: [] };
}

function settingsOf(
  top: Members,
  { form, prefix }: { readonly form: ConfigForm; readonly prefix: ConfigPath },
): ConfigEntry[] {
  if (!WITH_SETTINGS.includes(form)) return [];
  return SETTINGS.filter((key) => top[key] !== undefined)
    .map((key) => ({ path: [...prefix, key], key, value: top[key] }));
}

function isServer(entry: unknown): boolean {
  return isRecord(entry) &&
    ["command", "url", "serverUrl", "httpUrl", "server_parameters", "folders"].some((key) =>
      entry[key] !== undefined
    );
}

/** Claude Code has the servers of all projects in one file: uses those of the project with the current folder. */
function withProject(
  outline: ConfigOutline | undefined,
  { value, origin, findings }: {
    readonly value: Members;
    readonly origin: ConfigOriginHint | undefined;
    readonly findings: Findings;
  },
): ConfigOutline | undefined {
  const projects = Object.entries(isRecord(value["projects"]) ? value["projects"] : {}).filter((
    [, project],
  ) => Object.keys(recordAt(project, "mcpServers")).length > 0);
  if (projects.length === 0 || (outline !== undefined && outline.form !== "mcpServers")) return outline;
  const cwd = origin?.cwd ?? "";
  const [folder, project] = projects.filter(([path]) => isWithin(cwd, path))
    .toSorted(([a], [b]) => b.length - a.length)[0] ?? [];
  if (folder === undefined) {
    if ((outline?.servers.length ?? 0) > 0) return outline;
    const names = projects.map(([path]) => `"${path}"`).join(", ");
    findings.refuse(["projects"], `no project for the current folder; run the command in one of ${names}`);
    return undefined;
  }
  const path = ["projects", folder, "mcpServers"];
  findings.warn(path, `using the servers of project "${folder}", which the current folder belongs to`);
  const own = entriesOf(recordAt(project, "mcpServers"), path) ?? [];
  const shared = (outline?.servers ?? []).filter(({ key }) => own.every((each) => each.key !== key));
  return { form: "mcpServers", path, isList: false, servers: [...own, ...shared], inputs: [], settings: [] };
}

function isWithin(folder: string, around: string): boolean {
  return folder === around || folder.startsWith(`${around.replace(/[\\/]$/, "")}/`) ||
    folder.startsWith(`${around}\\`);
}

function recordAt(value: unknown, key: string): Members {
  const member = isRecord(value) ? value[key] : undefined;
  return isRecord(member) ? member : {};
}

function atPath(value: unknown, path: ConfigPath): unknown {
  let current = value;
  for (const key of path) {
    current = isRecord(current) && Object.hasOwn(current, key) ? current[key] : undefined;
  }
  return current;
}

const WAY_OUT =
  'write { "mcpServers": { "NAME": { "command": …, "args": […] } } }, or "url" instead of "command"';

function whatElse(value: unknown): string {
  if (Array.isArray(value)) return '; write a list of servers as { "servers": [ … ] }';
  if (!isRecord(value)) return `; ${WAY_OUT}`;
  const stray = Object.keys(value).find((key) => closestWord(key, CONTAINERS) !== undefined);
  if (stray !== undefined) return `; unknown key "${stray}"${didYouMean(stray, CONTAINERS)}`;
  return `; ${WAY_OUT}`;
}

/** Whether an entry has the specification's form; all others are flat. */
export function isOwnEntry(entry: unknown): boolean {
  return isRecord(entry) && entry["server_parameters"] !== undefined;
}

/** The name of a server: its key, or its `name` when the entry has the specification's form or is in a list. */
export function nameOf({ key, value }: ConfigEntry): unknown {
  const own = isRecord(value) && (key === undefined || isOwnEntry(value)) ? value["name"] : undefined;
  return own ?? key;
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

/** Warns of unknown keys. A file with `servers` has no others; in other forms a program may have more settings. */
function warnOfUnknownKeys(
  top: Members,
  { prefix, form, findings }: {
    readonly prefix: ConfigPath;
    readonly form: ConfigForm;
    readonly findings: Findings;
  },
): void {
  const isOnlyConfig = (form === "smcp" || form === "vscode") && prefix.length <= 1;
  for (const key of Object.keys(top)) {
    if (TOP_LEVEL.includes(key) || isRemark(key)) continue;
    const hint = form === "smcp" || form === "vscode" || form === "mcpServers"
      ? didYouMean(key, TOP_LEVEL)
      : "";
    if (isOnlyConfig || hint !== "") findings.warn([...prefix, key], `unknown key, ignored${hint}`);
  }
  const { mcp } = top;
  if (!["mcpServers", "gemini"].includes(form) || !isRecord(mcp)) return;
  for (const key of ["allowed", "excluded"].filter((name) => mcp[name] !== undefined)) {
    findings.warn([...prefix, "mcp", key], 'has no effect; set "disabled": true on a server instead');
  }
}

/** Whether a key is a comment, such as `//` or `_note`, or names a schema, such as `$schema`. */
export function isRemark(key: string): boolean {
  return /^(?:\$|_|\/\/|x-|comment$|description$)/.test(key);
}
