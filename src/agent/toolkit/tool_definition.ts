/** The definition of a Computer's tool for MCP clients. */
import { isRecord } from "../../json/json.ts";
import { A2C_MCP_SERVER, type SMCPTool } from "../../protocol/tools.ts";
import { toolDetails } from "../../protocol/tool_details.ts";
import type { Json, McpTool } from "../../local_tools/mcp.ts";

/** The key in the metadata of tools, results and resources whose value is the name of the Computer. */
export const A2C_COMPUTER = "a2c_computer";
/** The key in the metadata of tools and resources that is `true` while their Computer cannot be reached. */
export const A2C_STALE = "a2c_stale";

export interface ToolPlace {
  readonly name: string;
  readonly computer: string;
  readonly isStale: boolean;
  readonly toClientUri: ToClientUri;
}

/** Translates the URI of a resource of one MCP server to the one that clients read. */
export type ToClientUri = (
  uri: string,
  from: { readonly computer: string; readonly mcpServer: string | undefined },
) => string;

/** What an MCP client reads of the origin of a tool, a resource or a result. */
export function toOwnMeta(
  { computer, mcpServer, isStale = false }: {
    readonly computer: string;
    readonly mcpServer: string | undefined;
    readonly isStale?: boolean;
  },
): Json {
  return {
    [A2C_COMPUTER]: computer,
    ...(mcpServer === undefined ? {} : { [A2C_MCP_SERVER]: mcpServer.toWellFormed() }),
    ...(isStale ? { [A2C_STALE]: true } : {}),
  };
}

/** The MCP server that the metadata of a tool, a template or a prompt names. */
export function mcpServerOf(meta: Json | null | undefined): string | undefined {
  const name = meta?.[A2C_MCP_SERVER];
  return typeof name === "string" ? name : undefined;
}

/** Translates a tool; nothing of it is lost but that it runs as a task, for which the Computer waits. */
export function toMcpTool(tool: SMCPTool, { name, computer, isStale, toClientUri }: ToolPlace): McpTool {
  const { mcpServer, title, annotations, icons, meta = {} } = toolDetails(tool);
  const { [UI]: ui, ...rest } = withUiUris(meta, (uri) => toClientUri(uri, { computer, mcpServer }));
  return {
    name,
    ...(title === undefined ? {} : { title }),
    description: tool.description,
    inputSchema: toInputSchema(tool.params_schema),
    ...(tool.return_schema === null ? {} : { outputSchema: tool.return_schema }),
    ...(annotations === undefined ? {} : { annotations }),
    ...(icons === undefined ? {} : { icons }),
    _meta: { ...rest, ...(ui === undefined ? {} : { ui }), ...toOwnMeta({ computer, mcpServer, isStale }) },
  };
}

/** Whether a model may call a tool: one of an MCP App may be for its page alone. */
export function isForModel({ _meta: { [UI]: ui } = {} }: McpTool): boolean {
  const visibility = isRecord(ui) ? ui["visibility"] : undefined;
  return !Array.isArray(visibility) || !visibility.includes("app") || visibility.includes("model");
}

const UI = "ui";
/** The older key for the page of a tool. */
const UI_RESOURCE_URI = "ui/resourceUri";

/** The page of an MCP App must be readable by the URI that the client has. */
function withUiUris(meta: Json, translate: (uri: string) => string): Json {
  const { [UI]: ui, [UI_RESOURCE_URI]: older } = meta;
  const page = typeof ui === "object" && ui !== null ? (ui as Json)["resourceUri"] : undefined;
  return {
    ...meta,
    ...(typeof page === "string" ? { [UI]: { ...(ui as Json), resourceUri: translate(page) } } : {}),
    ...(typeof older === "string" ? { [UI_RESOURCE_URI]: translate(older) } : {}),
  };
}

/** Clients refuse a whole list for one schema that is not of an object. */
function toInputSchema(schema: Json): McpTool["inputSchema"] {
  return { ...schema, type: "object" };
}
