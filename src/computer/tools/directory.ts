/** The tools of all MCP servers as one list: aliases, metadata, forbidden tools, clashes. Pure. */
import type { McpTool } from "../../mcp/entries.ts";
import type { MCPServerConfig } from "../../protocol/config.ts";
import {
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  type Attributes,
  type AttributeValue,
  MCP_TOOL_ANNOTATION,
  MCP_TOOL_ICONS,
  MCP_TOOL_TITLE,
  type SMCPTool,
  type ToolMeta,
} from "../../protocol/tools.ts";

/** What one server contributes. */
export interface ServerTools {
  readonly config: MCPServerConfig;
  /** What it listed last. */
  readonly tools: readonly McpTool[];
  /** False while it is failed or stopped: it keeps its names, and shows none. */
  readonly isListed: boolean;
}

/** Where a call goes. */
export interface ToolRoute {
  readonly server: string;
  /** The tool's own name. */
  readonly tool: string;
  readonly meta: ToolMeta | undefined;
  /** The tool as its server listed it last. */
  readonly definition: McpTool;
  /** The VRL script that the server's results go through. */
  readonly vrl: string | undefined;
}

/** All tools by the name they are called by. */
export interface ToolDirectory {
  readonly tools: readonly SMCPTool[];
  readonly routes: ReadonlyMap<string, ToolRoute>;
  /** Names that exist and may not be called. */
  readonly forbidden: ReadonlySet<string>;
  readonly warnings: readonly string[];
}

/** The most warnings about the tools of one server, beside those about names that other servers have. */
const MAX_WARNINGS = 10;
/** How many tools one warning names; the others are counted. */
const MAX_NAMED = 5;

/** What a tool is shown with beside what its server lists of it. */
interface ShownAs {
  readonly name: string;
  readonly server: string;
  readonly meta: ToolMeta | undefined;
}

/** Tools as they are shown, so that one that is listed, named and configured as before is the same object as before. */
export class ToolPortraits {
  readonly #kept = new WeakMap<McpTool, { readonly key: string; readonly portrait: SMCPTool }>();

  /** How a tool is shown. */
  of(tool: McpTool, shown: ShownAs): SMCPTool {
    const key = JSON.stringify(shown);
    const kept = this.#kept.get(tool);
    if (kept?.key === key) return kept.portrait;
    const portrait = toSmcpTool(tool, shown);
    this.#kept.set(tool, { key, portrait });
    return portrait;
  }
}

/** Joins the tools of servers that are given in order of precedence: the first to list a name owns it. */
export function buildToolDirectory(
  servers: readonly ServerTools[],
  portraits: ToolPortraits = new ToolPortraits(),
): ToolDirectory {
  const tools: SMCPTool[] = [];
  const routes = new Map<string, ToolRoute>();
  const forbidden = new Set<string>();
  const allWarnings: string[] = [];
  const taken = new Set<string>();
  for (const server of servers) {
    const warnings: string[] = [];
    const names = exposedNames(server, warnings);
    const clashes: NameClash[] = [];
    for (const tool of firstOfEachName(server, warnings)) {
      const wanted = names.get(tool.name) ?? tool.name;
      if (isForbidden(server.config, tool.name)) {
        forbidden.add(wanted);
        continue;
      }
      const name = freeName(wanted, { server: server.config.name, tool: tool.name, taken, clashes });
      if (name === undefined) continue;
      taken.add(name);
      if (!server.isListed) continue;
      const meta = mergeToolMeta(server.config, tool.name);
      tools.push(portraits.of(tool, { name, server: server.config.name, meta }));
      const vrl = vrlScriptOf(server.config);
      routes.set(name, { server: server.config.name, tool: tool.name, meta, definition: tool, vrl });
    }
    allWarnings.push(
      ...bounded(warnings, server.config.name),
      ...clashWarnings(clashes, server.config.name),
    );
  }
  return { tools, routes, forbidden, warnings: allWarnings };
}

/** The listed names of a tool that was called by its own name, or by one with its server's name before it. */
export function otherNamesOf(wanted: string, { routes }: Pick<ToolDirectory, "routes">): string[] {
  return [...routes].filter(([name, { server, tool }]) =>
    [tool, `${server}__${tool}`, `${server}__${name}`].includes(wanted)
  ).map(([name]) => name);
}

/** Whether a server's tool is neither listed nor callable. */
export function isForbidden({ forbidden_tools, allowed_tools }: MCPServerConfig, tool: string): boolean {
  return forbidden_tools.includes(tool) || allowed_tools?.some((pattern) => isLike(tool, pattern)) === false;
}

/** Whether a name is like a pattern, in which `*` stands for any characters; takes no longer for any pattern. */
function isLike(name: string, pattern: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  const end = rest.pop();
  if (end === undefined) return name === pattern;
  if (name.length < start.length + end.length || !name.startsWith(start) || !name.endsWith(end)) return false;
  const middle = name.slice(start.length, name.length - end.length);
  let from = 0;
  return rest.every((part) => {
    const at = middle.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}

function bounded(warnings: readonly string[], server: string): readonly string[] {
  if (warnings.length <= MAX_WARNINGS) return warnings;
  const rest = warnings.length - MAX_WARNINGS;
  return [
    ...warnings.slice(0, MAX_WARNINGS),
    `server "${server}" has ${rest} more tools with conflicting names`,
  ];
}

/** One server's tools, without those whose name it lists a second time. */
function firstOfEachName({ config, tools }: ServerTools, warnings: string[]): McpTool[] {
  const seen = new Set<string>();
  return tools.filter(({ name }) => {
    if (!seen.has(name)) return seen.add(name);
    warnings.push(`tool "${name}" is left out: server "${config.name}" lists it twice`);
    return false;
  });
}

/** The name of each tool by its own: its alias, unless that is another name of the same server. */
function exposedNames({ config, tools }: ServerTools, warnings: string[]): Map<string, string> {
  const own = new Set(tools.map(({ name }) => name));
  const used = new Set<string>();
  const names = new Map<string, string>();
  for (const { name } of tools) {
    const alias = ownToolMeta(config, name)?.alias;
    if (typeof alias !== "string" || alias === name) continue;
    if (own.has(alias) || used.has(alias)) {
      warnings.push(
        `alias "${alias}" of tool "${name}" is ignored: server "${config.name}" has that name already`,
      );
      continue;
    }
    used.add(alias);
    names.set(name, alias);
  }
  return names;
}

/** A tool whose name another server has, and the name that it is listed by, if there is one for it. */
interface NameClash {
  readonly wanted: string;
  readonly qualified: string;
  readonly isListed: boolean;
}

function freeName(
  wanted: string,
  context: { server: string; tool: string; taken: ReadonlySet<string>; clashes: NameClash[] },
): string | undefined {
  const { server, tool, taken, clashes } = context;
  if (!taken.has(wanted)) return wanted;
  const qualified = `${server}__${tool}`;
  const isListed = !taken.has(qualified);
  clashes.push({ wanted, qualified, isListed });
  return isListed ? qualified : undefined;
}

/** One line for all tools of a server that are listed by another name, and one for those that are not listed. */
function clashWarnings(clashes: readonly NameClash[], server: string): string[] {
  const renamed = clashes.filter(({ isListed }) => isListed)
    .map(({ wanted, qualified }) => `"${wanted}" as "${qualified}"`);
  const leftOut = clashes.filter(({ isListed }) => !isListed)
    .map(({ wanted, qualified }) => `"${wanted}", also as "${qualified}"`);
  const line = (clashed: readonly string[], outcome: string) =>
    clashed.length === 0 ? [] : [`server "${server}": ${outcome}: ${listBounded(clashed)}`];
  return [
    ...line(renamed, "tools are listed by other names, since earlier servers have theirs"),
    ...line(leftOut, "tools are left out, since their names are taken"),
  ];
}

function listBounded(items: readonly string[]): string {
  const others = items.length - MAX_NAMED;
  return `${items.slice(0, MAX_NAMED).join(", ")}${others > 0 ? ` and ${others} more` : ""}`;
}

/** `tool_meta[tool]` over `default_tool_meta`, key by key, nulls not overriding; `undefined` when neither is there. */
export function mergeToolMeta(config: MCPServerConfig, tool: string): ToolMeta | undefined {
  const specific = ownToolMeta(config, tool);
  const fallback = config.default_tool_meta ?? undefined;
  if (specific === undefined && fallback === undefined) return undefined;
  const stated = Object.entries(specific ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return {
    auto_apply: null,
    alias: null,
    tags: null,
    ret_object_mapper: null,
    ...fallback,
    ...Object.fromEntries(stated),
  };
}

/** What is configured for one tool, whose name may be that of a member of every object. */
function ownToolMeta({ tool_meta }: MCPServerConfig, tool: string): ToolMeta | undefined {
  return Object.hasOwn(tool_meta, tool) ? tool_meta[tool] : undefined;
}

/** The VRL script of a server; a blank one is none. */
export function vrlScriptOf({ vrl }: MCPServerConfig): string | undefined {
  return typeof vrl === "string" && vrl.trim() !== "" ? vrl : undefined;
}

function toSmcpTool(tool: McpTool, { name, server, meta }: ShownAs): SMCPTool {
  const { title, description, inputSchema, outputSchema, annotations, icons } = tool;
  const attributes = flatten(tool.meta);
  if (annotations !== undefined) attributes[MCP_TOOL_ANNOTATION] = JSON.stringify(annotations);
  if (title !== undefined) attributes[MCP_TOOL_TITLE] = title;
  if (icons !== undefined) attributes[MCP_TOOL_ICONS] = JSON.stringify(icons);
  attributes[A2C_MCP_SERVER] = server;
  // The key is ours: what a server itself writes there must not pass for the Computer's word.
  delete attributes[A2C_TOOL_META];
  if (meta !== undefined) attributes[A2C_TOOL_META] = JSON.stringify(meta);
  return { name, description, params_schema: inputSchema, return_schema: outputSchema, meta: attributes };
}

/** Nested values become JSON strings; nulls, which some peers choke on, say nothing and go. */
function flatten(meta: Readonly<Record<string, unknown>>): Attributes {
  const flat: [string, AttributeValue][] = [];
  for (const [key, value] of Object.entries(meta)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      flat.push([key, value]);
    } else if (value !== null && value !== undefined) flat.push([key, JSON.stringify(value)]);
  }
  return Object.fromEntries(flat);
}
