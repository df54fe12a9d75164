/** The names under which tools are called: aliases, and which server keeps a name that several servers use. Pure. */
import type { McpTool } from "../../mcp/entries.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
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

/** An MCP server as the tools need it. */
export type ToolServer = Pick<SupervisedServer, "name" | "config" | "use">;

/** A tool with the name under which it is called. */
export interface NamedTool {
  readonly name: string;
  /** The tool as its server listed it last. */
  readonly tool: McpTool;
  readonly server: ToolServer;
}

/** The names of all tools. */
export interface ToolNames {
  /** The tools to list, in the order of their servers. */
  readonly named: readonly NamedTool[];
  /** Names of tools that exist and must not be called. */
  readonly forbidden: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/**
 * Names the tools of all servers. A tool is called by its alias, otherwise by its own name. Where two servers use the
 * same name, the first of them keeps it, and the tool of the other one is called `server__tool`.
 *
 * @param servers In order of precedence.
 */
export function nameTools(servers: readonly ServerTools[]): ToolNames {
  const named: NamedTool[] = [];
  const forbidden = new Set<string>();
  const allWarnings: string[] = [];
  const taken = new Set<string>();
  for (const { server, tools, isListed } of servers) {
    const warnings: string[] = [];
    const clashes: NameClash[] = [];
    const aliases = usableAliases(server, tools, warnings);
    for (const tool of withoutDuplicates(server, tools, warnings)) {
      const wanted = aliases.get(tool.name) ?? tool.name;
      if (isForbidden(server.config, tool.name)) {
        forbidden.add(wanted);
        continue;
      }
      const name = settleClash(wanted, { server: server.name, tool: tool.name, taken, clashes });
      if (name === undefined) continue;
      taken.add(name);
      if (isListed) named.push({ name, tool, server });
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
  readonly qualified: string;
  /** Whether the tool is called by the qualified name; otherwise it is left out. */
  readonly isRenamed: boolean;
}

/** The wanted name, or `server__tool` where that name is taken; `undefined` when both are taken. */
function settleClash(
  wanted: string,
  context: { server: string; tool: string; taken: ReadonlySet<string>; clashes: NameClash[] },
): string | undefined {
  const { server, tool, taken, clashes } = context;
  if (!taken.has(wanted)) return wanted;
  const qualified = `${server}__${tool}`;
  const isRenamed = !taken.has(qualified);
  clashes.push({ wanted, qualified, isRenamed });
  return isRenamed ? qualified : undefined;
}

/** One warning about all tools that are listed under another name, and one about those that are left out. */
function clashWarnings(clashes: readonly NameClash[], server: string): string[] {
  const renamed = clashes.filter(({ isRenamed }) => isRenamed)
    .map(({ wanted, qualified }) => `"${wanted}" as "${qualified}"`);
  const leftOut = clashes.filter(({ isRenamed }) => !isRenamed)
    .map(({ wanted, qualified }) => `"${wanted}" (also taken: "${qualified}")`);
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
    [tool.name, `${server.name}__${tool.name}`, `${server.name}__${name}`].includes(wanted)
  ).map(({ name }) => name);
}
