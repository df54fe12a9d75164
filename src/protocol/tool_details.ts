/** What is known of a tool beyond its name and schemas, parsed: on the wire it is flat, with JSON in strings. */
import { isRecord, parseJson } from "../json.ts";
import { toolMeta as toolMetaSchema } from "./schemas/config.ts";
import {
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  MCP_TOOL_ANNOTATION,
  MCP_TOOL_ICONS,
  MCP_TOOL_TITLE,
  type SMCPTool,
  type ToolMeta,
} from "./tools.ts";

/** MCP's hints about a tool. They are what its MCP server claims, not guarantees. */
export interface ToolAnnotations {
  /** For people. */
  readonly title?: string;
  /** It does not modify anything. */
  readonly readOnlyHint?: boolean;
  /** It may destroy something. */
  readonly destructiveHint?: boolean;
  /** Calling it again with the same arguments has no further effect. */
  readonly idempotentHint?: boolean;
  /** It interacts with systems outside, such as the web. */
  readonly openWorldHint?: boolean;
  /** Whatever else its MCP server tells. */
  readonly [hint: string]: unknown;
}

/** An icon of a tool. */
export interface ToolIcon {
  /** Its URL, `https:` or `data:`. The MCP server chose it: do not trust it. */
  readonly src: string;
  /** The media type. */
  readonly mimeType?: string;
  /** Such as `48x48` or `any`. */
  readonly sizes?: readonly string[];
  /** Whatever else its MCP server tells. */
  readonly [member: string]: unknown;
}

/** What is known of a tool. A member that is missing or unreadable is absent. */
export interface ToolDetails {
  /** The MCP server that it belongs to, by its name in the Computer's configuration. */
  readonly mcpServer?: string;
  /** The name for people that its MCP server gives it. */
  readonly title?: string;
  /** MCP's hints. */
  readonly annotations?: ToolAnnotations;
  /** Its icons. */
  readonly icons?: readonly ToolIcon[];
  /** What the Computer's configuration says of it. */
  readonly toolMeta?: ToolMeta;
}

/**
 * Parses what a tool's `meta` tells.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { type SMCPTool, toolDetails } from "@a2c-smcp/sdk/agent";
 *
 * const tool: SMCPTool = {
 *   name: "rm",
 *   description: "Removes a file",
 *   params_schema: { type: "object" },
 *   return_schema: null,
 *   meta: { a2c_mcp_server: "files", MCP_TOOL_ANNOTATION: '{"destructiveHint":true}' },
 * };
 * const { mcpServer, annotations } = toolDetails(tool);
 * assertEquals(mcpServer, "files");
 * assertEquals(annotations?.destructiveHint, true);
 * ```
 */
export function toolDetails({ meta }: Pick<SMCPTool, "meta">): ToolDetails {
  const annotations = recordIn(meta?.[MCP_TOOL_ANNOTATION]);
  const icons = jsonIn(meta?.[MCP_TOOL_ICONS]);
  const { data: toolMeta } = toolMetaSchema.safeParse(jsonIn(meta?.[A2C_TOOL_META]));
  const title = [meta?.[MCP_TOOL_TITLE], annotations?.["title"]].find((each) => typeof each === "string");
  const mcpServer = meta?.[A2C_MCP_SERVER];
  return {
    ...(typeof mcpServer === "string" ? { mcpServer } : {}),
    ...(typeof title === "string" ? { title } : {}),
    ...(annotations === undefined ? {} : { annotations: withoutOddHints(annotations) }),
    ...(Array.isArray(icons) ? { icons: icons.filter(isIcon) } : {}),
    ...(toolMeta === undefined ? {} : { toolMeta }),
  };
}

function jsonIn(value: unknown): unknown {
  return typeof value === "string" ? parseJson(value) : undefined;
}

function recordIn(value: unknown): Record<string, unknown> | undefined {
  const parsed = jsonIn(value);
  return isRecord(parsed) ? parsed : undefined;
}

/** Leaves out hints of a wrong type. */
function withoutOddHints(annotations: Readonly<Record<string, unknown>>): ToolAnnotations {
  const isOdd = ([key, value]: [string, unknown]) =>
    key === "title" ? typeof value !== "string" : key.endsWith("Hint") && typeof value !== "boolean";
  return Object.fromEntries(Object.entries(annotations).filter((entry) => !isOdd(entry)));
}

function isIcon(icon: unknown): icon is ToolIcon {
  return isRecord(icon) && typeof icon["src"] === "string";
}
