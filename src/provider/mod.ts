/**
 * For authors of MCP servers: publishes windows and documents for A2C-SMCP's Desktop and Finder on the `McpServer` of
 * the MCP SDK, version 1 (`@modelcontextprotocol/sdk`) or 2 (`@modelcontextprotocol/server`). Needs no permission, and
 * neither of the SDKs itself.
 *
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { provide } from "@a2c-smcp/sdk/provider";
 * // @ts-types="@modelcontextprotocol/sdk/server/mcp"
 * import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
 *
 * const server = new McpServer({ name: "shop", version: "1.0.0" });
 * const provider = provide(server);
 *
 * const status = provider.publishWindow({ host: "com.example.shop", path: ["status"], name: "Status", text: "Open" });
 * const documents = provider.publishDocuments({
 *   host: "com.example.shop",
 *   list: () => [{ docRef: "prices.txt", title: "Prices" }],
 *   pages: () => [{ title: "Fruit", elements: [{ category: "text", content: { text: "Apples: 3" } }] }],
 * });
 * // await server.connect(new StdioServerTransport());
 *
 * status.update("Closed");
 * documents.changed("prices.txt");
 * assertEquals(documents.uri("prices.txt"), "dpe://com.example.shop/prices.txt");
 * ```
 *
 * @module
 */
export type {
  Awaitable,
  DocumentElement,
  DocumentElementOf,
  DocumentHit,
  DocumentHits,
  DocumentInfo,
  DocumentPage,
  DocumentSource,
  PageInfo,
  PageRange,
  PlacedElement,
  SearchRequest,
} from "./documents/source.ts";
export type { OutlineSection } from "../dpe/outline.ts";
export type { ReadRequest } from "./session/json_rpc.ts";
export { type FailedRequest, provide, Provider, type ProviderOptions } from "./provider.ts";
export type { PublishedDocuments } from "./documents/published.ts";
export type { SdkHandler, SdkMcpServer, SdkServer } from "./provider.ts";
export type { PublishedWindow } from "./windows/published.ts";
export type { Audience, WindowAddress, WindowLook, WindowOptions, WindowText } from "./windows/options.ts";
