/**
 * The Computer: hosts MCP servers and offers their tools, windows and documents to the Agent of an office.
 *
 * ```ts
 * import { Computer } from "@a2c-smcp/sdk/computer";
 *
 * export async function offerTools(url: string): Promise<Computer> {
 *   const computer = Computer.open({
 *     name: "laptop",
 *     config: { servers: { shop: { type: "stdio", server_parameters: { command: "shop-mcp-server" } } } },
 *     confirm: ({ tool }) => tool !== "delete_everything",
 *   });
 *   await computer.join({ url, office: "lab" });
 *   return computer; // close() it, or declare it with `await using`
 * }
 * ```
 *
 * It needs the network (`--allow-net`), the files and programs of what it hosts (`--allow-read`, `--allow-run`), and the
 * environment that its MCP servers inherit from (`--allow-env`).
 *
 * @module
 */
export type { BlobLimits } from "./office/blob_store.ts";
export { Computer } from "./computer.ts";
export type { ComputerLimits, ComputerOptions, LocalRequestOptions } from "./options.ts";
export { type ComputerConfig, parseConfig, parseConfigText } from "../config/config.ts";
export { readConfigFile } from "../config/file.ts";
export type { ConfigForm } from "../config/form.ts";
export { ConfigError, type ConfigProblem } from "../config/problem.ts";
export type { ReadingOptions } from "../config/reading.ts";
export type { ConfigFormat } from "../config/text.ts";
export type { ConfigOrigin } from "../config/foreign/variables.ts";
export type { Confirm, ConfirmRequest } from "./tools/confirmation.ts";
export { fileResolver, type FileResolverOptions } from "./resources/file_resolver.ts";
export type { ResolveDpe, ResolveDpeTools } from "./resources/resolve_dpe.ts";
export type { ToolCallOutcome, ToolCallRecord } from "./tools/history.ts";
export type { ConfigChange } from "./host.ts";
export {
  environmentInputs,
  type EnvironmentLookup,
  type InputRequest,
  type InputSource,
} from "./inputs/sources.ts";
export type { CallLimits, ListLimits, ReadLimits } from "./limits.ts";
export type { ConnectOptions, JoinOptions, OfficeState } from "./office/link.ts";
export type { InputValue } from "../config/placeholders.ts";
export type { LogFields, Logger } from "../log.ts";
export type { ServerLimits } from "../mcp/limits.ts";
export type { ServerState, ServerStatus } from "../mcp/supervision/server.ts";
export type { FinderQueryOptions } from "../organizer/finder.ts";
export type {
  BaseMCPServerConfig,
  InputPlaceholder,
  MCPServerCommandInput,
  MCPServerConfig,
  MCPServerInput,
  MCPServerInputBase,
  MCPServerPickStringInput,
  MCPServerPromptStringInput,
  MCPServerStdioConfig,
  MCPServerStdioParameters,
  MCPServerStreamableHttpConfig,
  MCPServerStreamableHttpParameters,
  MCPSSEConfig,
  MCPSSEParameters,
} from "../protocol/config.ts";
export type { DpeResource, ReadResourceRet, ResourceContents } from "../protocol/resources.ts";
export type {
  Attributes,
  AttributeValue,
  SERVER_NAME,
  SMCPTool,
  TOOL_NAME,
  ToolMeta,
} from "../protocol/tools.ts";
