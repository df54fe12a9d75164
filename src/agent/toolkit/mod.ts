/**
 * The tools of an office for LLM toolkits: the AI SDK of Vercel, the OpenAI Agents SDK, the Anthropic SDK, LangChain,
 * Mastra and every client of an MCP SDK. It needs none of them, and runs in Deno and Node.
 *
 * ```ts
 * import { Agent } from "@a2c-smcp/sdk/agent";
 * import { createToolkit } from "@a2c-smcp/sdk/toolkits";
 *
 * export async function describe(url: string): Promise<string> {
 *   await using agent = await Agent.connect({ url, office: "lab", name: "ada" });
 *   using kit = createToolkit(agent, { computers: ["laptop"] });
 *   console.log(Object.keys(await kit.aiTools()));
 *   return await kit.prompt();
 * }
 * ```
 *
 * @module
 */
export type { AiOutput, AiPicture, AiSchema, AiSdkVersion, AiTool } from "./ai_sdk.ts";
export type { DesktopPromptOptions } from "./desktop_prompt.ts";
export type { Json, McpContent, McpContents, McpTool, McpToolResult } from "../../local_tools/mcp.ts";
export type { ClientResult, ClientTool, ToolkitMcpClient } from "./anthropic.ts";
export type { ToolkitTransport } from "./mcp_server.ts";
export type { ModelContent } from "./model_content.ts";
export type { KnownOffice, Office } from "./office.ts";
export type { ListedContent, OpenAiTool, ToolSchema } from "./openai.ts";
export type { GivenName, ToolAddress } from "./tool_names.ts";
export { createToolkit, Toolkit, type ToolkitCallOptions, type ToolkitOptions } from "./toolkit.ts";
