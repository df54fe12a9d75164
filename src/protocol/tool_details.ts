/** Parses the metadata of a tool. On the wire it is flat, with nested values as JSON strings. */
import { isRecord, parseJson } from "../json/json.ts";
import { toolMeta as toolMetaSchema } from "./schemas/config.ts";
import {
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  MCP_TOOL_ANNOTATION,
  MCP_TOOL_EXECUTION,
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
  readonly sizes?: string[];
  /** Other members that the MCP server sends. */
  readonly [member: string]: unknown;
}

/** The page of a tool: an MCP App, which a host shows beside the result (`docs/protocol/extensions.md#mcp-apps`). */
export interface ToolUi {
  /** The page: a `ui://` resource, to read with `readResource(uri, { mcpServer })`. */
  readonly resourceUri?: string;
  /** Who may call the tool: the model, the page, or both. */
  readonly visibility: readonly ("model" | "app")[];
  /** Other members that the MCP server sends. */
  readonly [member: string]: unknown;
}

/** Whether a tool may run, or must run, as a task of MCP. */
export type TaskSupport = "forbidden" | "optional" | "required";

/** The metadata of a tool. Missing and invalid members are absent. */
export interface ToolDetails {
  /** The name of its MCP server in the Computer's configuration. */
  readonly mcpServer?: string;
  /** The title from the MCP server, for display. */
  readonly title?: string;
  /** MCP's hints. */
  readonly annotations?: ToolAnnotations;
  /** The icons of the tool. */
  readonly icons?: ToolIcon[];
  /** The tool's metadata in the Computer's configuration. */
  readonly toolMeta?: ToolMeta;
  /** The page of the tool, and who may call it. See {@linkcode isForModel}. */
  readonly ui?: ToolUi;
  /** Whether the tool runs as a task of MCP. The Computer waits for the task; a call needs nothing else. */
  readonly taskSupport?: TaskSupport;
  /** What the MCP server sends as `_meta` of the tool; a text that is JSON of an object or a list is parsed. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** The keys of the metadata that are ours; all others are those of the MCP server. */
const OWN_KEYS: ReadonlySet<string> = new Set([
  A2C_MCP_SERVER,
  A2C_TOOL_META,
  MCP_TOOL_ANNOTATION,
  MCP_TOOL_EXECUTION,
  MCP_TOOL_ICONS,
  MCP_TOOL_TITLE,
]);
/** The key of `_meta` for {@linkcode ToolUi}, and the older key for its `resourceUri` alone. */
const UI = "ui";
const UI_RESOURCE_URI = "ui/resourceUri";

/**
 * Parses the `meta` of a tool (`docs/protocol/data-structures.md#smcptool`), and tells its MCP server.
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
 *   server: "files",
 *   meta: { MCP_TOOL_ANNOTATION: '{"destructiveHint":true}' },
 * };
 * const { mcpServer, annotations } = toolDetails(tool);
 * assertEquals(mcpServer, "files");
 * assertEquals(annotations?.destructiveHint, true);
 * ```
 */
export function toolDetails(
  { meta, bundle_id, server: mcpServer = bundle_id }: Pick<SMCPTool, "meta" | "server" | "bundle_id">,
): ToolDetails {
  const annotations = recordIn(meta?.[MCP_TOOL_ANNOTATION]);
  const icons = jsonIn(meta?.[MCP_TOOL_ICONS]);
  const { data: toolMeta } = toolMetaSchema.safeParse(jsonIn(meta?.[A2C_TOOL_META]));
  const title = [meta?.[MCP_TOOL_TITLE], annotations?.["title"]].find((each) => typeof each === "string");
  const ui = uiIn(meta);
  const taskSupport = recordIn(meta?.[MCP_TOOL_EXECUTION])?.["taskSupport"];
  const others = Object.entries(meta ?? {}).filter(([key]) => !OWN_KEYS.has(key));
  return {
    ...(mcpServer === undefined ? {} : { mcpServer }),
    ...(typeof title === "string" ? { title } : {}),
    ...(annotations === undefined ? {} : { annotations: withoutOddHints(annotations) }),
    ...(Array.isArray(icons) ? { icons: icons.filter(isIcon) } : {}),
    ...(toolMeta === undefined ? {} : { toolMeta }),
    ...(ui === undefined ? {} : { ui }),
    ...(isTaskSupport(taskSupport) ? { taskSupport } : {}),
    ...(others.length === 0 ? {} : { meta: Object.fromEntries(others.map(unflatten)) }),
  };
}

/**
 * Whether a tool belongs into the list of a model. A tool that only its page may call does not; pages are shown by host
 * programs (`docs/protocol/extensions.md#mcp-apps`).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { isForModel, type SMCPTool } from "@a2c-smcp/sdk/agent";
 *
 * const tool = { description: "", params_schema: { type: "object" }, return_schema: null };
 * const tools: SMCPTool[] = [
 *   { ...tool, name: "show_cart", meta: { ui: '{"resourceUri":"ui://shop/cart"}' } },
 *   { ...tool, name: "set_amount", meta: { ui: '{"visibility":["app"]}' } },
 * ];
 * assertEquals(tools.filter(isForModel).map(({ name }) => name), ["show_cart"]);
 * ```
 */
export function isForModel({ meta }: Pick<SMCPTool, "meta">): boolean {
  return uiIn(meta)?.visibility.includes("model") ?? true;
}

/** A visibility that is missing or has no known value means everybody. */
function uiIn(meta: SMCPTool["meta"]): ToolUi | undefined {
  const ui = recordIn(meta?.[UI]);
  const { resourceUri = meta?.[UI_RESOURCE_URI], visibility, ...rest } = ui ?? {};
  const hasPage = typeof resourceUri === "string";
  if (!hasPage && ui === undefined) return undefined;
  const known = (["model", "app"] as const).filter((each) =>
    Array.isArray(visibility) && visibility.includes(each)
  );
  return {
    ...rest,
    ...(hasPage ? { resourceUri } : {}),
    visibility: known.length === 0 ? ["model", "app"] : known,
  };
}

function isTaskSupport(value: unknown): value is TaskSupport {
  return value === "forbidden" || value === "optional" || value === "required";
}

/** Nested values are JSON strings on the wire. */
function unflatten([key, value]: [string, unknown]): [string, unknown] {
  const parsed = jsonIn(value);
  return [key, typeof parsed === "object" && parsed !== null ? parsed : value];
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
