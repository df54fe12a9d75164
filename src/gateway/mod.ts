/**
 * The gateway: an office as one MCP server, for every MCP client.
 *
 * ```ts
 * import { Agent } from "@a2c-smcp/sdk/agent";
 * import { createGateway, serveOnStdio } from "@a2c-smcp/sdk/gateway";
 *
 * export async function serve(url: string): Promise<void> {
 *   await using agent = await Agent.connect({ url, office: "lab", name: "ada" });
 *   await using gateway = createGateway(agent, { computers: ["laptop"] });
 *   await serveOnStdio(gateway).closed;
 * }
 * ```
 *
 * @module
 */
export { createGateway } from "./gateway_core.ts";
export type {
  Activity,
  CallTarget,
  Gateway,
  GatewayChange,
  GatewayMemory,
  GatewayOptions,
  KeptByGateway,
  ListName,
  Scope,
  SearchAndFetch,
  ToolsMode,
} from "./gateway_options.ts";
export type { Access, AccessRule } from "../http/mcp/access.ts";
export type { AskedHeaders, AskedRequest } from "../http/headers.ts";
export type { OnToolChange, PinnedTool } from "./pinned_tools.ts";
export { createHttpHandler, type HttpHandlerOptions } from "./http/handler.ts";
export type { AdmissionOptions, EntranceOptions, HttpHandler, RequestSender } from "../http/mcp/entrance.ts";
export type { AccessRights } from "../protocol/rights.ts";
export { serveOnStdio, type StdioService } from "./stdio.ts";
export type { ToolkitOptions } from "../agent/toolkit/toolkit.ts";
export type { GivenName, ToolAddress } from "../agent/toolkit/tool_names.ts";
export type { KnownOffice, Office } from "../agent/toolkit/office.ts";
