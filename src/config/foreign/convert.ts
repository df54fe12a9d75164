/** Converts a server entry of another form to the specification's form. */
import { isAbsolute, join } from "@std/path";
import type { MCPServerConfig } from "../../protocol/config.ts";
import { isRecord } from "../../json/json.ts";
import { serverKinds } from "../../protocol/schemas/config.ts";
import type { ToolMeta } from "../../protocol/tools.ts";
import { DOCUMENTS_TYPE } from "../documents.ts";
import { readWith, wrongWord } from "../explain.ts";
import { warnOfProgram } from "../oauth.ts";
import {
  type FlatHttpServer,
  flatHttpServer,
  type FlatServer,
  type FlatStdioServer,
  flatStdioServer,
  TOLD_BY_URL,
  TRANSPORTS,
  TYPE_KEYS,
  URL_KEYS,
  VARIABLE_KEYS,
} from "./flat.ts";
import { checkForeignKeys } from "./keys.ts";
import { DIALECTS, translateEntry } from "./dialects.ts";
import { Findings } from "../problem.ts";
import { urlProblem } from "../values.ts";
import { fileOf, fillVariables, isShell, type VariableContext } from "./variables.ts";
import { hasPlaceholder, mapTexts } from "../placeholders.ts";

type Transport = MCPServerConfig["type"];
type Entry = Readonly<Record<string, unknown>>;

/** Converts an entry; `undefined` when it has problems. Findings get the path at which the value is written. */
export function convertEntry(
  raw: Entry,
  name: string,
  context: VariableContext,
): MCPServerConfig | undefined {
  const { path, form, findings } = context;
  const why = DIALECTS[form].whyLeftOut?.(raw);
  if (why !== undefined) {
    findings.warn(path, why);
    return undefined;
  }
  checkForeignKeys(raw, context);
  const { entry, placeOf } = translateEntry(raw, form);
  const moved = new Findings({
    to: findings,
    move: (at) => at.length <= path.length ? at : [...path, ...placeOf(at.slice(path.length))],
  });
  return convertFlat(entry, name, { ...context, findings: moved });
}

function convertFlat(raw: Entry, name: string, context: VariableContext): MCPServerConfig | undefined {
  const transport = transportOf(raw, context);
  if (transport === undefined) return undefined;
  const entry = fillEntry(raw, context);
  if (transport === "stdio") warnOfProgram(entry, context);
  const converted = transport === "stdio"
    ? fromStdio(readWith(flatStdioServer, entry, context), context)
    : fromHttp(readWith(flatHttpServer, entry, context), context);
  if (converted === undefined) return undefined;
  return readWith(serverKinds[transport], { name, type: transport, ...converted }, context);
}

function transportOf(entry: Entry, { path, findings }: VariableContext): Transport | undefined {
  const urlKey = URL_KEYS.find((each) => entry[each] !== undefined);
  const key = TYPE_KEYS.find((each) => entry[each] !== undefined && entry[each] !== null);
  if (key !== undefined && entry[key] !== TOLD_BY_URL) {
    const named = entry[key];
    const transport = typeof named === "string" ? TRANSPORTS.get(named) : undefined;
    if (transport === undefined) {
      findings.refuse([...path, key], wrongWord(["stdio", "http", "sse", DOCUMENTS_TYPE], named));
    }
    return transport;
  }
  if (key !== undefined) return isSseUrl(entry, urlKey) ? "sse" : "streamable";
  if (entry["command"] === undefined && urlKey === undefined) {
    findings.refuse(path, 'must have "command" for a program, or "url" for a server on the network');
    return undefined;
  }
  if (entry["command"] === undefined) return isSseUrl(entry, urlKey) ? "sse" : "streamable";
  if (urlKey === undefined) return "stdio";
  findings.refuse(path, `cannot have both "command" and "${urlKey}"; remove one of them`);
  return undefined;
}

/** By convention the path of an SSE endpoint ends in `/sse`. */
function isSseUrl(entry: Entry, key: string | undefined): boolean {
  const url = key === undefined || key === "httpUrl" ? undefined : entry[key];
  return typeof url === "string" && /^[^?#]*\/sse\/?(?:[?#]|$)/.test(url);
}

function fillEntry(entry: Entry, context: VariableContext): Entry {
  const isShellLine = typeof entry["command"] === "string" && isShell(entry["command"]);
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => {
      if (!VARIABLE_KEYS.includes(key)) return [key, value];
      // The shell fills in its variables.
      const keepsDollars = isShellLine && key === "args";
      const fill = (text: string, path: VariableContext["path"]) =>
        fillVariables(key === "env" ? variableNamed(text, context) : text, {
          ...context,
          path,
          keepsDollars,
        });
      return [key, mapTexts(value, fill, [...context.path, key])];
    }),
  );
}

/** In some forms a value with a certain prefix is the name of an environment variable. */
function variableNamed(text: string, { form }: VariableContext): string {
  const { namePrefix } = DIALECTS[form].variables;
  return namePrefix !== undefined && text.startsWith(namePrefix) && /^\w+$/.test(text)
    ? `\${env:${text}}`
    : text;
}

function fromStdio(entry: FlatStdioServer | undefined, context: VariableContext): Entry | undefined {
  if (entry === undefined) return undefined;
  const { command, args, env, cwd, envFile } = entry;
  const server_parameters = {
    command,
    args: args ?? [],
    env: env === null || env === undefined ? null : fromEnv(env, context),
    cwd: folderOf(cwd ?? undefined, context),
    ...(envFile ? { env_file: fileOf(envFile, context.origin) } : {}),
  };
  const sandbox = entry.sandbox ? { sandbox: entry.sandbox } : {};
  return { ...fromShared(entry, context), ...sandbox, server_parameters };
}

function fromEnv(
  env: Readonly<Record<string, string | number | boolean | null>>,
  { path, findings }: VariableContext,
): Record<string, string> {
  const given = Object.entries(env).filter(([name, value]) => {
    if (value === null) {
      findings.warn([...path, "env", name], "has no effect: null does not unset a variable");
    }
    return value !== null;
  });
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** The working directory: for the file of a project, the folder of the project by default. */
function folderOf(cwd: string | undefined, { origin }: VariableContext): string | null {
  if (cwd === undefined) return origin?.isProject === true ? origin.workspace : null;
  if (origin === undefined || isAbsolute(cwd) || hasPlaceholder(cwd)) return cwd;
  return join(origin.workspace, cwd);
}

function fromHttp(entry: FlatHttpServer | undefined, context: VariableContext): Entry | undefined {
  if (entry === undefined) return undefined;
  const { path, findings } = context;
  const [key, other] = URL_KEYS.filter((each) => typeof entry[each] === "string");
  const url = key === undefined ? undefined : entry[key];
  if (key === undefined || typeof url !== "string") {
    findings.refuse([...path, "url"], "is missing; it must be a string");
    return undefined;
  }
  if (other !== undefined) {
    findings.refuse([...path, other], `cannot be combined with "${key}"; remove one of them`);
  }
  if ("envFile" in entry) {
    findings.warn(
      [...path, "envFile"],
      "has no effect: a server on the network has no environment variables",
    );
  }
  const problem = hasPlaceholder(url) ? undefined : urlProblem(url);
  if (problem !== undefined) findings.refuse([...path, key], problem);
  const headers = Object.entries(entry.headers ?? {}).map(([name, value]) => [name, String(value)]);
  const server_parameters = { url, headers: entry.headers ? Object.fromEntries(headers) : null };
  const oauth = entry.oauth ?? undefined;
  return { ...fromShared(entry, context), ...(oauth === undefined ? {} : { oauth }), server_parameters };
}

/** The members of an entry that do not depend on the transport. Our own keys override other programs' keys. */
function fromShared(entry: FlatServer, { path, findings }: VariableContext): Entry {
  const allowed = [...entry.alwaysAllow ?? [], ...entry.autoApprove ?? []];
  const allowsAll = entry.trust === true || allowed.includes("*");
  const forbidden = [
    ...entry.forbidden_tools ?? [],
    ...entry.disabledTools ?? [],
    ...entry.excludeTools ?? [],
  ];
  const only = entry.allowed_tools ?? undefined;
  if (forbidden.includes("*")) {
    findings.refuse(path, 'cannot forbid all tools with "*"; set "disabled": true instead');
  }
  const defaults = allowsAll ? { auto_apply: true, ...entry.default_tool_meta } : entry.default_tool_meta;
  return {
    disabled: entry.disabled === true || entry.enabled === false || entry.isActive === false,
    forbidden_tools: [...new Set(forbidden)],
    ...(only === undefined || only.includes("*") ? {} : { allowed_tools: [...new Set(only)] }),
    tool_meta: toolMetaOf(allowed.filter((tool) => tool !== "*"), entry.tool_meta ?? {}),
    ...(isRecord(defaults) ? { default_tool_meta: defaults } : {}),
    ...(entry.elicitation ? { elicitation: entry.elicitation } : {}),
    ...(typeof entry.bundle_id === "string" ? { bundle_id: entry.bundle_id } : {}),
    ...(entry.approval ? { approval: entry.approval } : {}),
    ...(entry.on_change ? { on_change: entry.on_change } : {}),
    ...(entry.mcp_version ? { mcp_version: entry.mcp_version } : {}),
    ...(entry.apps ? { apps: entry.apps } : {}),
    ...(typeof entry.vrl === "string" ? { vrl: entry.vrl } : {}),
  };
}

function toolMetaOf(
  allowed: readonly string[],
  given: Readonly<Record<string, ToolMeta>>,
): Record<string, ToolMeta> {
  const metas = new Map(allowed.map((tool): [string, ToolMeta] => [tool, { auto_apply: true }]));
  for (const [tool, meta] of Object.entries(given)) metas.set(tool, { ...metas.get(tool), ...meta });
  return Object.fromEntries(metas);
}
