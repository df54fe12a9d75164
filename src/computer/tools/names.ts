/** The names under which tools are called: aliases, and which server keeps a name that several servers use. Pure. */
import type { McpTool } from "../../mcp/entries.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { buildExposedName } from "../../protocol/bundle_id.ts";
import { aliasOf, isForbidden } from "./settings.ts";

/** At most this many warnings are kept for one server. Clashes with other servers are counted apart. */
const MAX_WARNINGS = 10;
/** How many tools one warning names; the others are counted. */
const MAX_NAMED = 5;

/** An MCP server and the tools that it listed last. */
export interface ServerTools {
  readonly server: ToolServer;
  readonly tools: readonly McpTool[];
  /** False while the server is failed or stopped: its tools keep their names but are not listed. */
  readonly isListed: boolean;
}

export type ToolServer = Pick<SupervisedServer, "name" | "config" | "use">;

export interface ToolNaming {
  /** The name of a tool that no other tool has; `tool` is its alias or its own name. */
  readonly nameOf: (server: string, tool: string) => string;
  /** The name of a tool where another server has that name; without it the tool is left out. */
  readonly otherNameOf?: (server: string, tool: string) => string;
  /** Whether `forbidden_tools` may also name a tool by its alias and by the name under which it is called. */
  readonly forbidsByAnyName: boolean;
}

/** A tool is called by its alias or its own name, and where servers share a name by `server__tool` (protocol 0.2). */
export const BARE_NAMES: ToolNaming = {
  nameOf: (_server, tool) => tool,
  otherNameOf: buildExposedName,
  forbidsByAnyName: false,
};

/** A tool is always called by the identity of its server and its alias or own name (from protocol 0.3 on). */
export const EXPOSED_NAMES: ToolNaming = { nameOf: buildExposedName, forbidsByAnyName: true };

export interface NamedTool {
  readonly name: string;
  /** The names by which `forbidden_tools` may mean it. */
  readonly spellings: readonly string[];
  readonly tool: McpTool;
  readonly server: ToolServer;
}

export interface ToolNames {
  /** The tools to list, in the order of their servers. */
  readonly named: readonly NamedTool[];
  /** Names of tools that exist and must not be called. */
  readonly forbidden: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/**
 * Names the tools of all servers. Where two servers use the same name, the first of them keeps it, and the tool of the
 * other one gets another name or is left out.
 *
 * @param servers In order of precedence.
 */
export function nameTools(servers: readonly ServerTools[], naming: ToolNaming = BARE_NAMES): ToolNames {
  const named: NamedTool[] = [];
  const forbidden = new Set<string>();
  const allWarnings: string[] = [];
  const taken = new Set<string>();
  for (const { server, tools, isListed } of servers) {
    const warnings: string[] = [];
    const clashes: NameClash[] = [];
    const aliases = usableAliases(server, tools, warnings);
    for (const tool of withoutDuplicates(server, tools, warnings)) {
      const called = aliases.get(tool.name) ?? tool.name;
      const wanted = naming.nameOf(server.name, called);
      const spellings = naming.forbidsByAnyName ? [tool.name, called, wanted] : [tool.name];
      if (isForbidden(server.config, tool.name, spellings)) {
        forbidden.add(wanted);
        continue;
      }
      const other = naming.otherNameOf?.(server.name, tool.name);
      const name = settleClash(wanted, { other, taken, clashes });
      if (name === undefined) continue;
      taken.add(name);
      if (isListed) named.push({ name, spellings, tool, server });
    }
    allWarnings.push(...limitWarnings(warnings, server.name), ...clashWarnings(clashes, server.name));
  }
  return { named, forbidden, warnings: allWarnings };
}

/** The aliases by tool name, without those that are another name or alias of the same server. */
function usableAliases(
  server: ToolServer,
  tools: readonly McpTool[],
  warnings: string[],
): Map<string, string> {
  const own = new Set(tools.map(({ name }) => name));
  const used = new Set<string>();
  const aliases = new Map<string, string>();
  for (const { name } of tools) {
    const alias = aliasOf(server.config, name);
    if (alias === undefined) continue;
    if (own.has(alias) || used.has(alias)) {
      warnings.push(
        `alias "${alias}" of tool "${name}" is ignored: server "${server.name}" already has that name`,
      );
      continue;
    }
    used.add(alias);
    aliases.set(name, alias);
  }
  return aliases;
}

/** One server's tools, the first of each name. */
function withoutDuplicates(server: ToolServer, tools: readonly McpTool[], warnings: string[]): McpTool[] {
  const seen = new Set<string>();
  return tools.filter(({ name }) => {
    if (!seen.has(name)) return seen.add(name);
    warnings.push(`tool "${name}" is left out: server "${server.name}" lists the name more than once`);
    return false;
  });
}

/** A tool whose name another server uses. */
interface NameClash {
  readonly wanted: string;
  /** The other name that was tried, if there is one. */
  readonly other: string | undefined;
  /** Whether the tool is called by the other name; otherwise it is left out. */
  readonly isRenamed: boolean;
}

/** The wanted name, or the other one where that name is taken; `undefined` when none is free. */
function settleClash(
  wanted: string,
  context: { other: string | undefined; taken: ReadonlySet<string>; clashes: NameClash[] },
): string | undefined {
  const { other, taken, clashes } = context;
  if (!taken.has(wanted)) return wanted;
  const isRenamed = other !== undefined && !taken.has(other);
  clashes.push({ wanted, other, isRenamed });
  return isRenamed ? other : undefined;
}

/** One warning about all tools that are listed under another name, and one about those that are left out. */
function clashWarnings(clashes: readonly NameClash[], server: string): string[] {
  const renamed = clashes.filter(({ isRenamed }) => isRenamed)
    .map(({ wanted, other }) => `"${wanted}" as "${other}"`);
  const leftOut = clashes.filter(({ isRenamed }) => !isRenamed)
    .map(({ wanted, other }) => `"${wanted}"${other === undefined ? "" : ` (also taken: "${other}")`}`);
  const line = (clashed: readonly string[], outcome: string) =>
    clashed.length === 0 ? [] : [`server "${server}": ${outcome}: ${listBounded(clashed)}`];
  return [
    ...line(renamed, "tools are listed under other names because earlier servers use their names"),
    ...line(leftOut, "tools are left out because their names are taken"),
  ];
}

function listBounded(items: readonly string[]): string {
  const others = items.length - MAX_NAMED;
  return `${items.slice(0, MAX_NAMED).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

function limitWarnings(warnings: readonly string[], server: string): readonly string[] {
  if (warnings.length <= MAX_WARNINGS) return warnings;
  const rest = warnings.length - MAX_WARNINGS;
  return [
    ...warnings.slice(0, MAX_WARNINGS),
    `server "${server}": ${rest} more warnings about names of tools`,
  ];
}

/** The names under which tools are listed whose own or qualified name is `wanted`. */
export function otherNamesOf(wanted: string, named: Iterable<NamedTool>): string[] {
  return [...named].filter(({ name, server, tool }) =>
    [tool.name, buildExposedName(server.name, tool.name), buildExposedName(server.name, name)].includes(
      wanted,
    ) ||
    name === buildExposedName(server.name, wanted)
  ).map(({ name }) => name);
}
