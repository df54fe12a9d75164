/** The settings of a tool in the configuration of its MCP server. Pure. */
import type { MCPServerConfig } from "../../protocol/config.ts";
import { isRecord } from "../../json/json.ts";
import { A2C_TOOL_META, type ToolMeta } from "../../protocol/tools.ts";

/** A tool's metadata in which nothing is set. */
const NO_META: ToolMeta = { auto_apply: null, alias: null, tags: null, ret_object_mapper: null };

/**
 * Whether `forbidden_tools` or `allowed_tools` excludes a tool, which is then neither listed nor callable.
 *
 * @param tool The name that the MCP server gives it; `allowed_tools` has patterns of such names.
 * @param spellings The names by which `forbidden_tools` may mean it.
 */
export function isForbidden(
  { forbidden_tools, allowed_tools }: MCPServerConfig,
  tool: string,
  spellings: readonly string[] = [tool],
): boolean {
  return spellings.some((name) => forbidden_tools.includes(name)) ||
    allowed_tools?.some((pattern) => isLike(tool, pattern)) === false;
}

/** Whether a name matches a pattern, in which `*` stands for any characters. Linear in both lengths. */
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

export function aliasOf(config: MCPServerConfig, tool: string): string | undefined {
  const alias = ownToolMeta(config, tool)?.alias;
  return typeof alias === "string" && alias !== tool ? alias : undefined;
}

/**
 * `tool_meta[tool]` merged over `default_tool_meta`, key by key; null does not override. `undefined` when the
 * configuration has neither.
 */
export function toolMetaOf(config: MCPServerConfig, tool: string): ToolMeta | undefined {
  const specific = ownToolMeta(config, tool);
  const fallback = config.default_tool_meta ?? undefined;
  if (specific === undefined && fallback === undefined) return undefined;
  const stated = Object.entries(specific ?? {}).filter(([, value]) => value !== null && value !== undefined);
  return { ...NO_META, ...fallback, ...Object.fromEntries(stated) };
}

/** What an MCP server declares about the tags of a tool in the tool's own metadata. */
export type DeclaredTags = { readonly tags: string[] | null } | "invalid" | undefined;

/** Reads that declaration; `undefined` without one. Only tags can be declared: the rest is the Computer's to say. */
export function declaredTagsOf(meta: Readonly<Record<string, unknown>>): DeclaredTags {
  if (!Object.hasOwn(meta, A2C_TOOL_META)) return undefined;
  const declared = meta[A2C_TOOL_META];
  const { tags = null } = isRecord(declared) ? declared : { tags: "invalid" };
  if (tags === null) return { tags: null };
  return Array.isArray(tags) && tags.every((tag) => typeof tag === "string") ? { tags } : "invalid";
}

/** The metadata of a tool with the tags that its server declares, unless the configuration sets tags. */
export function withDeclaredTags(meta: ToolMeta | undefined, declared: DeclaredTags): ToolMeta | undefined {
  if (declared === undefined || declared === "invalid") return meta;
  return { ...NO_META, ...meta, tags: meta?.tags ?? declared.tags };
}

/** A tool may be called `constructor` or `toString`, which every object inherits. */
function ownToolMeta({ tool_meta }: MCPServerConfig, tool: string): ToolMeta | undefined {
  return Object.hasOwn(tool_meta, tool) ? tool_meta[tool] : undefined;
}

export function vrlScriptOf({ vrl }: MCPServerConfig): string | undefined {
  return typeof vrl === "string" && vrl.trim() !== "" ? vrl : undefined;
}
