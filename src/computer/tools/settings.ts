/** The settings of a tool in the configuration of its MCP server. Pure. */
import type { MCPServerConfig } from "../../protocol/config.ts";
import type { ToolMeta } from "../../protocol/tools.ts";

/** Whether `forbidden_tools` or `allowed_tools` excludes a tool, which is then neither listed nor callable. */
export function isForbidden({ forbidden_tools, allowed_tools }: MCPServerConfig, tool: string): boolean {
  return forbidden_tools.includes(tool) || allowed_tools?.some((pattern) => isLike(tool, pattern)) === false;
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

/** The alias of a tool; `undefined` when the configuration gives it none, or its own name. */
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
  return {
    auto_apply: null,
    alias: null,
    tags: null,
    ret_object_mapper: null,
    ...fallback,
    ...Object.fromEntries(stated),
  };
}

/** A tool may be called `constructor` or `toString`, which every object inherits. */
function ownToolMeta({ tool_meta }: MCPServerConfig, tool: string): ToolMeta | undefined {
  return Object.hasOwn(tool_meta, tool) ? tool_meta[tool] : undefined;
}

/** The VRL script for the results of a server; `undefined` for a blank script. */
export function vrlScriptOf({ vrl }: MCPServerConfig): string | undefined {
  return typeof vrl === "string" && vrl.trim() !== "" ? vrl : undefined;
}
