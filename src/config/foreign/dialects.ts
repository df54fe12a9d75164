/**
 * The names of members and the syntax of variables in each form. With this table, entries of all other programs become
 * flat entries of one kind.
 */
import { isRecord } from "../../json/json.ts";
import type { ConfigForm } from "../form.ts";
import type { ConfigPath } from "../problem.ts";

type Entry = Readonly<Record<string, unknown>>;

/** A value of the flat entry, and the place where it was written. */
interface Part {
  /** The path in the flat entry: a member, or a member of that. */
  readonly path: ConfigPath;
  readonly value: unknown;
  /** The path in the entry as it was written. */
  readonly from: ConfigPath;
  /** What to add to the index of a list item to get its index at `from`; 0 by default. */
  readonly shift?: number;
}

/** Translates a member. It returns nothing for a member without meaning, or of a wrong type that is reported elsewhere. */
type Member = (value: unknown, key: string, entry: Entry) => readonly Part[];

export interface VariableStyle {
  /** `${NAME}` and `${NAME:-default}` are environment variables. */
  readonly hasBraces: boolean;
  /** `$NAME` is an environment variable. */
  readonly hasDollars?: boolean;
  /** `$(command)` is the output of a command. */
  readonly hasCommands?: boolean;
  /** `{env:NAME}` is an environment variable, and `{file:PATH}` the content of a file. */
  readonly hasBareBraces?: boolean;
  /** `${{ secrets.NAME }}` is an environment variable. */
  readonly hasDoubleBraces?: boolean;
  /** A value in `env` with this prefix is the name of an environment variable. */
  readonly namePrefix?: string;
}

export interface Dialect {
  readonly title: string;
  readonly variables: VariableStyle;
  readonly members?: Readonly<Record<string, Member>>;
  /** Why an entry is ignored; `undefined` for a server that can be started. */
  readonly whyLeftOut?: (entry: Entry) => string | undefined;
}

const renamedTo = (key: string): Member => (value, from) => [{ path: [key], value, from: [from] }];

const listCommand: Member = (value, key) => {
  if (!Array.isArray(value)) return [{ path: ["command"], value, from: [key] }];
  return [
    { path: ["command"], value: value[0], from: [key, 0] },
    { path: ["args"], value: value.slice(1), from: [key], shift: 1 },
  ];
};

const objectCommand: Member = (value, key) => {
  if (!isRecord(value)) return [{ path: ["command"], value, from: [key] }];
  const { path, args, env } = value;
  return [
    { path: ["command"], value: path, from: [key, "path"] },
    ...(args === undefined ? [] : [{ path: ["args"], value: args, from: [key, "args"] }]),
    ...(env === undefined ? [] : [{ path: ["env"], value: env, from: [key, "env"] }]),
  ];
};

/** The members of a server, when they are nested in the member with its transport. */
const nestedTransport: Member = (value, key) =>
  isRecord(value)
    ? Object.entries(value).map(([member, item]) => ({ path: [member], value: item, from: [key, member] }))
    : [{ path: [key], value, from: [key] }];

const nestedHeaders: Member = (value, key) =>
  isRecord(value) && value["headers"] !== undefined
    ? [{ path: ["headers"], value: value["headers"], from: [key, "headers"] }]
    : [];

const bearerFromVariable: Member = (value, key) => bearer(key, value, (name) => `\${env:${name}}`);
const bearerToken: Member = (value, key) => bearer(key, value, (token) => token);

function bearer(key: string, value: unknown, toToken: (text: string) => string): Part[] {
  const header = typeof value === "string" ? `Bearer ${toToken(value)}` : value;
  return [{ path: ["headers", "Authorization"], value: header, from: [key] }];
}

const headersFromVariables: Member = (value, key) =>
  isRecord(value)
    ? Object.entries(value).map(([header, name]) => ({
      path: ["headers", header],
      value: typeof name === "string" ? `\${env:${name}}` : name,
      from: [key, header],
    }))
    : [];

/** Variables to pass on; one that is not set is passed on as an empty string. */
const passedVariables: Member = (value, key) =>
  (Array.isArray(value) ? value : []).flatMap((item: unknown, index) => {
    const name = isRecord(item) ? item["name"] : item;
    if (typeof name !== "string") return [];
    return [{ path: ["env", name], value: `\${env:${name}:-}`, from: [key, index] }];
  });

const keyFromVariable: Member = (value, key, entry) => {
  if (typeof value !== "string" || value === "") return [];
  const header = typeof entry["api_key_header"] === "string" ? entry["api_key_header"] : "Authorization";
  const format = typeof entry["api_key_format"] === "string" ? entry["api_key_format"] : "Bearer {token}";
  const text = format.replaceAll("{token}", () => `\${env:${value}}`);
  return [{ path: ["headers", header], value: text, from: [key] }];
};

/** A list of names, `["*"]`, or `{ include, exclude }`. */
const chosenTools: Member = (value, key) => {
  if (!isRecord(value)) return [{ path: ["allowed_tools"], value, from: [key] }];
  const { include, exclude } = value;
  return [
    ...(include === undefined ? [] : [{ path: ["allowed_tools"], value: include, from: [key, "include"] }]),
    ...(exclude === undefined ? [] : [{ path: ["forbidden_tools"], value: exclude, from: [key, "exclude"] }]),
  ];
};

/** `sandboxEnabled` of other programs; our own `sandbox` needs no such switch. What is no answer limits nothing, and is refused. */
const foreignSandbox: Member = (value, key, entry) => {
  const sandbox = entry["sandbox"] ?? { filesystem: {} };
  if (value === false || value === null || !isForeignSandbox(sandbox)) return [];
  return [{ path: ["sandbox"], value: value === true ? fromForeignSandbox(sandbox) : value, from: [key] }];
};
const ownSandbox: Member = (value, key) =>
  value === null || isForeignSandbox(value) ? [] : [{ path: ["sandbox"], value, from: [key] }];

/**
 * A sandbox in the form of VS Code and Claude, in ours: everything may be read and nothing written but what it lists, and no
 * host reached. What we cannot limit stays, and is refused as unknown.
 */
function fromForeignSandbox(value: unknown): Readonly<Record<string, unknown>> {
  const { filesystem, network, ...others } = isRecord(value) ? value : {};
  const { allowWrite, denyRead, ...files } = isRecord(filesystem) ? filesystem : {};
  const { allowedDomains, ...hosts } = isRecord(network) ? network : {};
  const isSet = ([, each]: [string, unknown]) =>
    !(Array.isArray(each) && each.length === 0) && each !== false;
  const unknown = Object.entries({ ...others, ...files, ...hosts }).filter(isSet);
  const known = { write: allowWrite, deny_read: denyRead, net: allowedDomains };
  return { read: ["*"], env: ["*"], ...known, ...Object.fromEntries(unknown) };
}

function isForeignSandbox(value: unknown): boolean {
  return isRecord(value) && (value["filesystem"] !== undefined || value["network"] !== undefined);
}

const nothing: Member = () => [];

/** Our names for members of other programs; a member that is not listed keeps its name. */
const NAMES: ReadonlyMap<string, string> = new Map(Object.entries({
  CLIENT_ID: "clientId",
  client_id: "clientId",
  CLIENT_SECRET: "clientSecret",
  client_secret: "clientSecret",
  client_metadata_url: "clientMetadataUrl",
  callbackPort: "redirectPort",
  callback_port: "redirectPort",
  redirect_port: "redirectPort",
  scope: "scopes",
}));

/** Translates `oauth`, or a member of the same meaning, such as `"auth": "oauth"`. */
const signIn: Member = (value, key) => {
  if (value === "oauth") return [{ path: ["oauth"], value: true, from: [key] }];
  if (!isRecord(value)) return [{ path: ["oauth"], value, from: [key] }];
  if (value["enabled"] === false) return [{ path: ["oauth"], value: false, from: [key, "enabled"] }];
  const members = Object.entries(value).filter(([member, each]) =>
    member !== "enabled" && each !== undefined
  );
  const whole: Part = { path: ["oauth"], value: {}, from: [key] };
  return [whole, ...members.map(([member, each]) => memberPart(member, each, [key, member]))];
};

/** Translates scopes that stand beside the settings of the sign-in. */
const signInScopes: Member = (value, key) => [memberPart("scopes", value, [key])];

function memberPart(member: string, value: unknown, from: Part["from"]): Part {
  const name = NAMES.get(member) ?? member;
  return { path: ["oauth", name], value: name === "scopes" ? toScopes(value) : value, from };
}

/** A text with scopes as a list of them. */
function toScopes(value: unknown): unknown {
  return typeof value === "string" ? value.split(/[\s,]+/).filter((scope) => scope !== "") : value;
}

/** Members with one meaning in all forms that have them. */
const SHARED: Readonly<Record<string, Member>> = {
  api_key_env: keyFromVariable,
  api_key_format: nothing,
  api_key_header: nothing,
  auth: signIn,
  baseUrl: renamedTo("url"),
  bearer_token_env_var: bearerFromVariable,
  disabled_tools: renamedTo("forbidden_tools"),
  enabledTools: renamedTo("allowed_tools"),
  enabled_tools: renamedTo("allowed_tools"),
  env_file: renamedTo("envFile"),
  env_http_headers: headersFromVariables,
  env_vars: passedVariables,
  http_headers: renamedTo("headers"),
  oauth: signIn,
  oauth_scopes: signInScopes,
  includeTools: renamedTo("allowed_tools"),
  requestInit: nestedHeaders,
  requestOptions: nestedHeaders,
  sandbox: ownSandbox,
  sandboxEnabled: foreignSandbox,
  tools: chosenTools,
  working_directory: renamedTo("cwd"),
};

const LITERAL: VariableStyle = { hasBraces: false };
const BRACES: VariableStyle = { hasBraces: true };
const DOLLARS: VariableStyle = { hasBraces: true, hasDollars: true };

export const DIALECTS: Readonly<Record<ConfigForm, Dialect>> = {
  smcp: { title: "A2C-SMCP", variables: LITERAL },
  vscode: { title: "servers (VS Code …)", variables: LITERAL },
  mcpServers: { title: "mcpServers (Claude, Cursor …)", variables: BRACES },
  amp: { title: "Amp's settings", variables: BRACES },
  codex: { title: "Codex", variables: LITERAL },
  continue: {
    title: "Continue",
    variables: { ...BRACES, hasDoubleBraces: true },
    members: { apiKey: bearerToken, transport: nestedTransport },
  },
  copilot: { title: "GitHub Copilot", variables: { ...DOLLARS, namePrefix: "COPILOT_MCP_" } },
  crush: { title: "Crush", variables: { ...DOLLARS, hasCommands: true } },
  gemini: { title: "Gemini CLI", variables: DOLLARS },
  hermes: { title: "Hermes", variables: BRACES },
  opencode: {
    title: "opencode or Kilo Code",
    variables: { ...LITERAL, hasBareBraces: true },
    members: { command: listCommand, environment: renamedTo("env") },
    whyLeftOut: (entry) =>
      hasAny(entry, ["command", "url", "type"])
        ? undefined
        : "ignored, because it has neither a command nor a URL",
  },
  vibe: { title: "Mistral Vibe", variables: LITERAL, members: { command: listCommand } },
  zed: {
    title: "Zed",
    variables: LITERAL,
    members: { command: objectCommand },
    whyLeftOut: (entry) =>
      hasAny(entry, ["command", "url"])
        ? undefined
        : 'ignored, because only its Zed extension knows the command; add "command" to use the server here',
  },
};

function hasAny(entry: Entry, keys: readonly string[]): boolean {
  return keys.some((key) => entry[key] !== undefined);
}

/** The translation of a member in a form; `undefined` for one that keeps its name. */
function memberOf(form: ConfigForm, key: string): Member | undefined {
  const own = DIALECTS[form].members ?? {};
  if (Object.hasOwn(own, key)) return own[key];
  return Object.hasOwn(SHARED, key) ? SHARED[key] : undefined;
}

/** The members of a form that all flat entries do not have. */
export function membersOf(form: ConfigForm): string[] {
  return [...Object.keys(SHARED), ...Object.keys(DIALECTS[form].members ?? {})];
}

export interface TranslatedEntry {
  readonly entry: Entry;
  /** Returns the path at which the value of a flat member was written; both paths are relative to the entry. */
  readonly placeOf: (path: ConfigPath) => ConfigPath;
}

export function translateEntry(raw: Entry, form: ConfigForm): TranslatedEntry {
  const entry = new Map<string, unknown>();
  const parts: Part[] = [];
  const add = (part: Part) => {
    const [key = "", inner] = part.path;
    const value = inner === undefined ? part.value : { [inner]: part.value };
    const before = entry.get(String(key));
    entry.set(String(key), before === undefined || before === null ? value : joined(before, value));
    parts.push(part);
  };
  for (const [key, value] of Object.entries(raw)) {
    const member = memberOf(form, key);
    if (member !== undefined && value !== undefined && value !== null) member(value, key, raw).forEach(add);
    else add({ path: [key], value, from: [key] });
  }
  return { entry: Object.fromEntries(entry), placeOf: (path) => placeOf(path, parts) };
}

/** Joins lists and objects from several members; of two other values it keeps the first. */
function joined(before: unknown, value: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(value)) return [...before, ...value];
  return isRecord(before) && isRecord(value) ? { ...before, ...value } : before;
}

function placeOf(path: ConfigPath, parts: readonly Part[]): ConfigPath {
  const fits = parts.filter((part) => part.path.every((key, index) => key === path[index]));
  const part = fits.toSorted((a, b) => b.path.length - a.path.length)[0];
  if (part === undefined) return path;
  const [next, ...rest] = path.slice(part.path.length);
  if (next === undefined) return part.from;
  return [...part.from, typeof next === "number" ? next + (part.shift ?? 0) : next, ...rest];
}
