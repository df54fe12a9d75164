/** From an entry of another program's form to one of the specification's. */
import { isAbsolute, join } from "@std/path";
import type { MCPServerConfig } from "../../protocol/config.ts";
import { isRecord } from "../../protocol/errors.ts";
import { serverKinds } from "../../protocol/schemas/config.ts";
import type { ToolMeta } from "../../protocol/tools.ts";
import { readWith, wrongWord } from "./explain.ts";
import {
  type FlatHttpServer,
  flatHttpServer,
  type FlatServer,
  type FlatStdioServer,
  flatStdioServer,
  TRANSPORTS,
  TYPE_KEYS,
  URL_KEYS,
  VARIABLE_KEYS,
} from "./flat.ts";
import { checkForeignKeys } from "./foreign_keys.ts";
import { urlProblem } from "./values.ts";
import { fillVariables, type VariableContext } from "./variables.ts";
import { hasPlaceholder, mapTexts } from "./placeholders.ts";
import { closestWord } from "../spelling.ts";

type Transport = MCPServerConfig["type"];
type Entry = Readonly<Record<string, unknown>>;

/** Reads a flat entry; what is wrong with it goes to the findings, at the place where it is written. */
export function convertEntry(
  raw: Entry,
  name: string,
  context: VariableContext,
): MCPServerConfig | undefined {
  const transport = transportOf(raw, context);
  checkForeignKeys(raw, context);
  if (transport === undefined) return undefined;
  const entry = fillEntry(raw, context);
  const converted = transport === "stdio"
    ? fromStdio(readWith(flatStdioServer, entry, context), context)
    : fromHttp(readWith(flatHttpServer, entry, context), context);
  if (converted === undefined) return undefined;
  return readWith(serverKinds[transport], { name, type: transport, ...converted }, context);
}

function transportOf(entry: Entry, { path, findings }: VariableContext): Transport | undefined {
  const key = TYPE_KEYS.find((each) => entry[each] !== undefined && entry[each] !== null);
  if (key !== undefined) {
    const named = entry[key];
    const transport = typeof named === "string" ? TRANSPORTS.get(named) : undefined;
    if (transport === undefined) findings.refuse([...path, key], wrongWord(["stdio", "http", "sse"], named));
    return transport;
  }
  const urlKey = URL_KEYS.find((each) => entry[each] !== undefined);
  if (entry["command"] === undefined && urlKey === undefined) {
    findings.refuse(
      path,
      `must have "command" for a program, or "url" for a server on the network${meant(entry)}`,
    );
    return undefined;
  }
  if (entry["command"] === undefined) return isSseUrl(entry, urlKey) ? "sse" : "streamable";
  if (urlKey === undefined) return "stdio";
  findings.refuse(path, `cannot have both "command" and "${urlKey}"; leave one of them out`);
  return undefined;
}

function meant(entry: Entry): string {
  for (const key of Object.keys(entry)) {
    const word = closestWord(key, ["command", ...URL_KEYS]);
    if (word !== undefined) return `; is "${key}" meant to be "${word}"?`;
  }
  return "";
}

/** By custom the endpoint of such a server ends in `/sse`. */
function isSseUrl(entry: Entry, key: string | undefined): boolean {
  const url = key === undefined || key === "httpUrl" ? undefined : entry[key];
  return typeof url === "string" && /^[^?#]*\/sse\/?(?:[?#]|$)/.test(url);
}

function fillEntry(entry: Entry, context: VariableContext): Entry {
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => {
      if (!VARIABLE_KEYS.includes(key)) return [key, value];
      const fill = (text: string, path: VariableContext["path"]) => fillVariables(text, { ...context, path });
      return [key, mapTexts(value, fill, [...context.path, key])];
    }),
  );
}

function fromStdio(entry: FlatStdioServer | undefined, context: VariableContext): Entry | undefined {
  if (entry === undefined) return undefined;
  const { command, args, env, cwd } = entry;
  const server_parameters = {
    command,
    args: args ?? [],
    env: env === null || env === undefined ? null : fromEnv(env, context),
    cwd: folderOf(cwd ?? undefined, context),
  };
  return { ...fromShared(entry, context), server_parameters };
}

function fromEnv(
  env: Readonly<Record<string, string | number | boolean | null>>,
  { form, path, findings }: VariableContext,
): Record<string, string> {
  const given = Object.entries(env).filter(([name, value]) => {
    if (value === null) {
      findings.warn([...path, "env", name], "has no effect: null cannot take a variable away");
    }
    if (form === "mcpServers" && typeof value === "string" && /^\$[A-Za-z_]\w*$/.test(value)) {
      findings.warn([...path, "env", name], "is passed on as it stands; a variable is written ${env:NAME}");
    }
    return value !== null;
  });
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

/** A program of a project runs in its folder. */
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
    findings.refuse([...path, "url"], "is missing; it must be a text");
    return undefined;
  }
  if (other !== undefined) {
    findings.refuse([...path, other], `cannot stand beside "${key}"; leave one of them out`);
  }
  const problem = hasPlaceholder(url) ? undefined : urlProblem(url);
  if (problem !== undefined) findings.refuse([...path, key], problem);
  const headers = Object.entries(entry.headers ?? {}).map(([name, value]) => [name, String(value)]);
  const server_parameters = { url, headers: entry.headers ? Object.fromEntries(headers) : null };
  return { ...fromShared(entry, context), server_parameters };
}

/** What an entry says of the server and its tools; our own members come before other programs' words for them. */
function fromShared(entry: FlatServer, { path, findings }: VariableContext): Entry {
  const allowed = [...entry.alwaysAllow ?? [], ...entry.autoApprove ?? []];
  const allowsAll = entry.trust === true || allowed.includes("*");
  const forbidden = [
    ...entry.forbidden_tools ?? [],
    ...entry.disabledTools ?? [],
    ...entry.excludeTools ?? [],
  ];
  if (forbidden.includes("*")) {
    findings.refuse(path, 'cannot leave out all tools by "*"; write "disabled": true');
  }
  const defaults = allowsAll ? { auto_apply: true, ...entry.default_tool_meta } : entry.default_tool_meta;
  return {
    disabled: entry.disabled === true || entry.enabled === false || entry.isActive === false,
    forbidden_tools: [...new Set(forbidden)],
    tool_meta: toolMetaOf(allowed.filter((tool) => tool !== "*"), entry.tool_meta ?? {}),
    ...(isRecord(defaults) ? { default_tool_meta: defaults } : {}),
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
