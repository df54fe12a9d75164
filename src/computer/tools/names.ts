/** The names under which tools are called: aliases, and which server keeps a name that several servers use. Pure. */
import type { McpTool } from "../../mcp/entries.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { buildExposedName } from "../../protocol/bundle_id.ts";
import type { OfficeRules } from "../shared/office_rules.ts";
import { aliasOf, isForbidden } from "./settings.ts";

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
 * Names the tools of all servers: from protocol 0.3 on by the identity of their server and their alias or own name, before
 * by their alias or own name alone. Where two servers use the same name, the first of them keeps it, and the tool of the
 * other one gets another name or is left out.
 *
 * @param servers In order of precedence.
 */
export function nameTools(
  servers: readonly ServerTools[],
  { hasBundleIds }: Pick<OfficeRules, "hasBundleIds">,
): ToolNames {
  const named: NamedTool[] = [];
  const forbidden = new Set<string>();
  const warnings: string[] = [];
  const taken = new Set<string>();
  for (const { server, tools, isListed } of servers) {
    const remarks: Remarks = { ignoredAliases: [], listedTwice: [], renamed: [], leftOut: [] };
    const aliases = usableAliases(server, tools, remarks);
    for (const tool of withoutDuplicates(tools, remarks)) {
      const called = aliases.get(tool.name) ?? tool.name;
      const wanted = hasBundleIds ? buildExposedName(server.name, called) : called;
      const spellings = hasBundleIds ? [tool.name, called, wanted] : [tool.name];
      if (isForbidden(server.config, tool.name, spellings)) {
        forbidden.add(wanted);
        continue;
      }
      const other = hasBundleIds ? undefined : buildExposedName(server.name, tool.name);
      const name = [wanted, other].find((each) => each !== undefined && !taken.has(each));
      if (name === undefined) {
        remarks.leftOut.push(`"${wanted}"${other === undefined ? "" : ` (also taken: "${other}")`}`);
        continue;
      }
      if (name !== wanted) remarks.renamed.push(`"${wanted}" as "${name}"`);
      taken.add(name);
      if (isListed) named.push({ name, spellings, tool, server });
    }
    warnings.push(...describeRemarks(remarks, server.name));
  }
  return { named, forbidden, warnings };
}

/** The names of one server that are not as its list or its configuration has them. */
type Remarks = Record<keyof typeof REMARKS, string[]>;

const REMARKS = {
  ignoredAliases: "aliases are ignored because the server already has those names",
  listedTwice: "tools are left out because the server lists their names more than once",
  renamed: "tools are listed under other names because earlier servers use their names",
  leftOut: "tools are left out because their names are taken",
} as const;

/** One warning of each kind. */
function describeRemarks(remarks: Remarks, server: string): string[] {
  return Object.entries(remarks).filter(([, names]) => names.length > 0).map(([kind, names]) => {
    const others = names.length - MAX_NAMED;
    const listed = `${names.slice(0, MAX_NAMED).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
    return `server "${server}": ${REMARKS[kind as keyof Remarks]}: ${listed}`;
  });
}

/** The aliases by tool name, without those that are another name or alias of the same server. */
function usableAliases(
  { config }: ToolServer,
  tools: readonly McpTool[],
  { ignoredAliases }: Remarks,
): Map<string, string> {
  const used = new Set(tools.map(({ name }) => name));
  const aliases = new Map<string, string>();
  for (const { name } of tools) {
    const alias = aliasOf(config, name);
    if (alias === undefined) continue;
    if (used.has(alias)) {
      ignoredAliases.push(`"${alias}" of "${name}"`);
      continue;
    }
    used.add(alias);
    aliases.set(name, alias);
  }
  return aliases;
}

/** One server's tools, the first of each name. */
function withoutDuplicates(tools: readonly McpTool[], { listedTwice }: Remarks): McpTool[] {
  const seen = new Set<string>();
  return tools.filter(({ name }) => {
    if (!seen.has(name)) return seen.add(name);
    listedTwice.push(`"${name}"`);
    return false;
  });
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
