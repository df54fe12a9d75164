/** The tools of an office as objects that toolkits take for an MCP server or an MCP client. */
import type { ToolParts } from "./ai_tools.ts";
import { isRecord } from "../../json/json.ts";
import type { McpTool, McpToolResult } from "./mcp.ts";
import { type ModelContent, toModelContent } from "./model_content.ts";

/** A tool, as the OpenAI Agents SDK lists it. */
export interface ListedTool {
  /** The name to call it by. */
  name: string;
  /** The description, for the model. */
  description?: string;
  /** The JSON Schema of the arguments. */
  inputSchema: ToolSchema;
}

/** The JSON Schema of arguments. Members that are not named here are there as well. */
export interface ToolSchema {
  /** The arguments are an object. */
  type: "object";
  /** The JSON Schema of each argument. */
  properties: Record<string, unknown>;
  /** The arguments that must be there. */
  required: string[];
  /** Whether there may be others; absent where the MCP server does not say. */
  additionalProperties: boolean;
}

/** An item of a result: `text` with `text`, or `image` with `data` in base64 and `mimeType`. */
export interface ListedContent {
  /** The kind. */
  type: string;
  /** Other members. */
  [member: string]: unknown;
}

/** An MCP server as the OpenAI Agents SDK takes it: `new Agent({ mcpServers: [kit.mcpServer()] })`. */
export interface ToolkitMcpServer {
  /** The name, for display. */
  readonly name: string;
  /** Whether the SDK may keep the list: not, because Computers come and go. */
  cacheToolsList: boolean;
  /** Resolves when the tools of the office are known. */
  connect(): Promise<void>;
  /** Does nothing: the toolkit and the Agent stay open. */
  close(): Promise<void>;
  /** Lists the tools. */
  listTools(): Promise<ListedTool[]>;
  /** Calls a tool. A failure is a text that tells a model what to do. */
  callTool(
    name: string,
    args: Record<string, unknown> | null,
    meta?: Record<string, unknown> | null,
    options?: { signal?: AbortSignal },
  ): Promise<ListedContent[]>;
  /** Does nothing, since nothing is kept. */
  invalidateToolsCache(): Promise<void>;
}

/** Makes the object for the OpenAI Agents SDK. */
export function makeMcpServer({ list, call }: ToolParts): ToolkitMcpServer {
  return {
    name: "a2c-smcp",
    cacheToolsList: false,
    connect: async () => {
      await list();
    },
    close: () => Promise.resolve(),
    listTools: async () => (await list()).map(toListedTool),
    callTool: async (name, args, _meta, options) =>
      toModelContent(await call(name, args ?? {}, { signal: options?.signal })).map((item) => ({ ...item })),
    invalidateToolsCache: () => Promise.resolve(),
  };
}

/** Translates a tool for the OpenAI Agents SDK, which lacks defaults where MCP has them. */
export function toListedTool({ name, description, inputSchema }: McpTool): ListedTool {
  // The SDK may modify what it gets.
  const given = structuredClone({ ...inputSchema });
  const { properties, required } = given;
  const schema = {
    ...given,
    properties: isRecord(properties) ? properties : {},
    required: Array.isArray(required) ? required : [],
  };
  return {
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: schema as unknown as ToolSchema,
  };
}

/** A tool, as an MCP client lists it. */
export interface ClientTool {
  /** The name to call it by. */
  name: string;
  /** The description, for the model. */
  description?: string;
  /** The JSON Schema of the arguments. */
  inputSchema: { type: "object"; [member: string]: unknown };
  /** MCP's hints. */
  annotations?: Record<string, unknown>;
}

/** A result, as an MCP client returns it. */
export interface ClientResult {
  /** Texts and pictures. */
  content: ModelContent[];
  /** The result for programs. */
  structuredContent?: object;
  /** Whether the tool failed. */
  isError?: boolean;
}

/** An MCP client as the helpers of the Anthropic SDK take it: `mcpTools((await client.listTools()).tools, client)`. */
export interface ToolkitMcpClient {
  /** Lists the tools, all on one page. */
  listTools(): Promise<{ tools: ClientTool[] }>;
  /** Calls a tool. A failure is a result with `isError`, whose text tells a model what to do. */
  callTool(
    call: { name: string; arguments?: Record<string, unknown> },
    resultSchema?: unknown,
    options?: { signal?: AbortSignal },
  ): Promise<ClientResult>;
}

/**
 * Makes the object for the Anthropic SDK, whose helpers pass no signal on: `signal` ends all calls of this object.
 */
export function makeMcpClient(
  { list, call }: ToolParts,
  signal: AbortSignal | undefined,
): ToolkitMcpClient {
  return {
    listTools: async () => ({ tools: (await list()).map(toClientTool) }),
    callTool: async ({ name, arguments: args = {} }, _resultSchema, options = {}) => {
      const signals = [signal, options.signal].filter((each) => each !== undefined);
      return toClientResult(await call(name, args, { signal: AbortSignal.any(signals) }));
    },
  };
}

function toClientTool({ name, description, inputSchema, annotations }: McpTool): ClientTool {
  return structuredClone({
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: { ...inputSchema },
    ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
  });
}

function toClientResult(result: McpToolResult): ClientResult {
  const { structuredContent, isError } = result;
  return {
    content: toModelContent(result),
    ...(isRecord(structuredContent) ? { structuredContent } : {}),
    ...(isError === true ? { isError } : {}),
  };
}
