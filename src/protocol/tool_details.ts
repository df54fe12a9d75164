/** Parses the metadata of a tool. On the wire it is flat, with nested values as JSON strings. */
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

/** MCP's hints about a tool. They are claims of its MCP server, not guarantees. */
export interface ToolAnnotations {
  /** The title, for display. */
  readonly title?: string;
  /** Whether the tool modifies nothing. */
  readonly readOnlyHint?: boolean;
  /** Whether the tool may delete or overwrite something. */
  readonly destructiveHint?: boolean;
  /** Whether another call with the same arguments has no further effect. */
  readonly idempotentHint?: boolean;
  /** Whether the tool interacts with external systems, such as the web. */
  readonly openWorldHint?: boolean;
  /** Other members that the MCP server sends. */
  readonly [hint: string]: unknown;
}

/** An icon of a tool. */
export interface ToolIcon {
  /** The URL, `https:` or `data:`. The MCP server chooses it: do not trust it. */
  readonly src: string;
  /** The media type. */
  readonly mimeType?: string;
  /** The sizes, such as `48x48` or `any`. */
  readonly sizes?: readonly string[];
  /** Other members that the MCP server sends. */
  readonly [member: string]: unknown;
}

/** The metadata of a tool. Missing and invalid members are absent. */
export interface ToolDetails {
  /** The name of its MCP server in the Computer's configuration. */
  readonly mcpServer?: string;
  /** The title from the MCP server, for display. */
  readonly title?: string;
  /** MCP's hints. */
  readonly annotations?: ToolAnnotations;
  /** The icons of the tool. */
  readonly icons?: readonly ToolIcon[];
  /** The tool's metadata in the Computer's configuration. */
  readonly toolMeta?: ToolMeta;
}

/**
 * Parses the `meta` of a tool (`docs/protocol/data-structures.md#smcptool`).
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

/** Removes hints of a wrong type. */
function withoutOddHints(annotations: Readonly<Record<string, unknown>>): ToolAnnotations {
  const isOdd = ([key, value]: [string, unknown]) =>
    key === "title" ? typeof value !== "string" : key.endsWith("Hint") && typeof value !== "boolean";
  return Object.fromEntries(Object.entries(annotations).filter((entry) => !isOdd(entry)));
}

function isIcon(icon: unknown): icon is ToolIcon {
  return isRecord(icon) && typeof icon["src"] === "string";
}
