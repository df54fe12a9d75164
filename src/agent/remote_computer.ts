/** One Computer of the office, as an Agent uses it. */
import { makeRequest } from "../tracing.ts";
import type { GetComputerConfigRet } from "../protocol/config.ts";
import { type Desktop, type DesktopEntry, parseDesktopEntry, toDesktopEntry } from "../protocol/desktop.ts";
import type { DPEDocument, DPEDocumentPages, DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import type { FinderPage } from "../protocol/finder.ts";
import {
  GET_COMPLETION_EVENT,
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_DPE_EVENT,
  GET_FINDER_EVENT,
  GET_RESOURCE_TEMPLATES_EVENT,
  GET_RESOURCE_UPDATES_EVENT,
  GET_RESOURCES_EVENT,
  GET_TOOLS_EVENT,
  GET_WINDOWS_EVENT,
  READ_RESOURCE_EVENT,
  SUBSCRIBE_RESOURCE_EVENT,
  TOOL_CALL_EVENT,
  UNSUBSCRIBE_RESOURCE_EVENT,
} from "../protocol/events.ts";
import { RequestTimeoutError } from "../protocol/local_errors.ts";
import {
  parseGetCompletionRet,
  parseGetComputerConfigRet,
  parseGetDeskTopRet,
  parseGetDpeRet,
  parseGetFinderRet,
  parseGetResourcesRet,
  parseGetResourceTemplatesRet,
  parseGetResourceUpdatesRet,
  parseGetToolsRet,
  parseGetWindowsRet,
  parseReadResourceRet,
  parseSubscribeResourceRet,
} from "../protocol/answers.ts";
import type { DpeResource, ReadResourceRet } from "../protocol/resources.ts";
import { DEFAULT_TIMEOUT_SECONDS } from "../protocol/timeouts.ts";
import { parseCallToolResult } from "../protocol/tool_result.ts";
import type { CallToolResult, SMCPTool } from "../protocol/tools.ts";
import { fillBlobs, fillContents, hasBlobHandles, hasContentHandles } from "./blobs.ts";
import { type ComputerRequests, isNotServed } from "./computer_requests.ts";
import {
  type DocumentAnswer,
  documentPagesUri,
  documentUri,
  elementUri,
  type FormatOptions,
  type PageIndexOptions,
  type PageOptions,
  pageUri,
  readDocument,
  readDocumentPages,
  readElement,
  readPage,
} from "./documents.ts";
import {
  type CallToolOptions,
  type CompleteOptions,
  type Completion,
  type DesktopOptions,
  type FinderOptions,
  type ReadResourceOptions,
  type ResourcePage,
  type ResourceTemplatePage,
  type ResourceUpdates,
  toCompletion,
} from "./remote_options.ts";
import type { RequestOptions } from "./requests.ts";

/** The time limit for `client:get_windows`: some other implementations do not answer unknown events. */
const WINDOWS_TIMEOUT_MS = 5_000;

/**
 * One Computer of the office: its tools, windows and documents. Made by `agent.computer(name)`, which sends no
 * request: when the office has no such Computer, the first request rejects with an `SmcpError` 404.
 *
 * Every method takes `signal` and `timeoutMs` (30,000 by default). It rejects with an `SmcpError` when the Server or
 * the Computer answers with an error, with a `RequestTimeoutError` when there is no answer, and with a
 * `ConnectionClosedError` when the connection is lost meanwhile.
 *
 * @example
 * ```ts
 * import { assertEquals, assertRejects } from "@std/assert";
 * import { Agent } from "@a2c-smcp/sdk/agent";
 * import { SmcpError } from "@a2c-smcp/sdk";
 * import { SmcpServer } from "@a2c-smcp/sdk/server";
 *
 * await using server = await SmcpServer.listen({ port: 0 });
 * await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
 *
 * const laptop = agent.computer("laptop");
 * const error = await assertRejects(() => laptop.callTool("echo", { message: "hi" }), SmcpError);
 * assertEquals(error.code, 404); // no Computer of that name is in the office
 * ```
 */
export class RemoteComputer {
  /** The Computer's name in the office. */
  readonly name: string;
  readonly #requests: ComputerRequests;

  /**
   * Use `agent.computer(name)`.
   *
   * @internal
   */
  constructor(requests: ComputerRequests) {
    this.name = requests.computer;
    this.#requests = requests;
  }

  /** Lists the tools that can be called (`client:get_tools`; `docs/protocol/data-structures.md#smcptool`). */
  async getTools(options: RequestOptions = {}): Promise<SMCPTool[]> {
    return (await this.#requests.ask(GET_TOOLS_EVENT, {}, { ...options, parse: parseGetToolsRet })).tools;
  }

  /**
   * Calls a tool (`client:tool_call`). When the tool fails, the promise resolves to a result with `isError`;
   * `meta.error_code` has the cause, and `meta.a2c_mcp_server` the MCP server of the tool. Parts that are too large
   * for one message are fetched and inserted. A part that cannot be fetched keeps its handle in `_meta`, and the logger
   * receives the cause.
   *
   * When `signal` is aborted or no answer arrives in time, the call is also cancelled on the Computer. When the call
   * takes longer than `timeoutMs`, rounded up to whole seconds, the Computer answers with `meta.a2c_timeout`.
   *
   * @param tool The name under which the tool is listed.
   * @param params The arguments, matching the tool's `params_schema`.
   */
  callTool(
    tool: string,
    params: Readonly<Record<string, unknown>> = {},
    options: CallToolOptions = {},
  ): Promise<CallToolResult> {
    const attributes = { "a2c.computer": this.name, "gen_ai.tool.name": tool };
    return makeRequest(
      TOOL_CALL_EVENT,
      attributes,
      (reqId) => this.#callTool(tool, params, { reqId, ...options }),
    );
  }

  async #callTool(
    tool: string,
    params: Readonly<Record<string, unknown>>,
    options: CallToolOptions & { readonly reqId: string },
  ): Promise<CallToolResult> {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_SECONDS * 1000, reqId } = options;
    signal?.throwIfAborted();
    const body = { req_id: reqId, tool_name: tool, params };
    try {
      const parse = parseCallToolResult;
      const result = await this.#requests.ask(TOOL_CALL_EVENT, body, { signal, timeoutMs, parse });
      if (!hasBlobHandles(result)) return result;
      return await this.#requests.fill((filling) => fillBlobs(result, filling), { signal, timeoutMs });
    } catch (error) {
      if (signal?.aborted || error instanceof RequestTimeoutError) this.#requests.cancel(reqId);
      throw error;
    }
  }

  /** Fetches the configuration of the Computer's MCP servers, with secrets masked (`client:get_config`). */
  getConfig(options: RequestOptions = {}): Promise<GetComputerConfigRet> {
    return this.#requests.ask(GET_CONFIG_EVENT, {}, { ...options, parse: parseGetComputerConfigRet });
  }

  /** Fetches the windows, each as `{URI}\n\n{text}` (`client:get_desktop`; `docs/protocol/desktop.md#fetching-the-desktop`). */
  async getDesktop(options: DesktopOptions = {}): Promise<Desktop[]> {
    const { size, window, ...rest } = options;
    const asked = { ...rest, parse: parseGetDeskTopRet };
    const answer = await this.#requests.ask(GET_DESKTOP_EVENT, { desktop_size: size, window }, asked);
    return answer.desktops ?? [];
  }

  /**
   * Fetches the windows, each as `{ uri, text, title?, mcpServer? }`. Uses `client:get_windows`
   * (`docs/protocol/extensions.md#windows`). When the Computer does not support it, or does not answer in five seconds,
   * uses `client:get_desktop`; then `title` and `mcpServer` are absent.
   */
  async getWindows(options: DesktopOptions = {}): Promise<DesktopEntry[]> {
    const { size, window, timeoutMs = DEFAULT_TIMEOUT_SECONDS * 1000, ...rest } = options;
    const body = { desktop_size: size, window };
    const asked = { ...rest, timeoutMs: Math.min(timeoutMs, WINDOWS_TIMEOUT_MS), parse: parseGetWindowsRet };
    try {
      return (await this.#requests.ask(GET_WINDOWS_EVENT, body, asked)).windows.map(toDesktopEntry);
    } catch (error) {
      if (!isNotServed(error)) throw error;
      return (await this.getDesktop(options)).map(parseDesktopEntry);
    }
  }

  /** Fetches a page of the Finder (`client:get_finder`; `docs/protocol/finder.md#fetching-documents`). */
  async getFinder(options: FinderOptions = {}): Promise<FinderPage> {
    const { keywords, fileType, offset, limit, ...rest } = options;
    const body = { keywords, file_type: fileType, offset, limit };
    const answer = await this.#requests.ask(GET_FINDER_EVENT, body, { ...rest, parse: parseGetFinderRet });
    const { documents = [], total_count: totalCount = documents.length } = answer;
    return { documents, totalCount };
  }

  /**
   * Reads an MCP resource (`client:read_resource`) and resolves to MCP's `ReadResourceResult`. To read documents, see
   * also {@linkcode readDocumentMetadata}, {@linkcode readPage} and {@linkcode readElement}.
   *
   * @param uri A `dpe://` or `window://` URI; with `options.mcpServer`, a URI of any scheme.
   */
  async readResource(
    uri: string,
    options: ReadResourceOptions = {},
  ): Promise<ReadResourceRet> {
    const { mcpServer, ...rest } = options;
    const asked = { ...rest, parse: parseReadResourceRet };
    const result = await this.#requests.ask(READ_RESOURCE_EVENT, { uri, mcp_server: mcpServer }, asked);
    if (!hasContentHandles(result)) return result;
    return await this.#requests.fill((filling) => fillContents(result, filling), rest);
  }

  /**
   * Lists one page of the resources of an MCP server, unfiltered (`client:get_resources`).
   *
   * @param mcpServer The MCP server's name in the Computer's configuration.
   * @param options `cursor`: the `nextCursor` of the previous page; the first page by default.
   */
  async getResources(
    mcpServer: string,
    options: RequestOptions & { readonly cursor?: string | undefined } = {},
  ): Promise<ResourcePage> {
    const { cursor, ...rest } = options;
    const asked = { ...rest, parse: parseGetResourcesRet };
    const answer = await this.#requests.ask(GET_RESOURCES_EVENT, { mcp_server: mcpServer, cursor }, asked);
    const { resources, next_cursor: nextCursor } = answer;
    return nextCursor === undefined ? { resources } : { resources, nextCursor };
  }

  /**
   * Lists resource templates (`client:get_resource_templates`, `docs/protocol/extensions.md#templates`). A template
   * whose parameters have values is the URI of a resource; {@linkcode RemoteComputer.complete} suggests values.
   *
   * @param mcpServer Lists one page of this MCP server; by default all pages of all MCP servers.
   * @param options `cursor`: the `nextCursor` of the previous page; only with `mcpServer`.
   * @example
   * ```ts
   * import { assertEquals } from "@std/assert";
   * import { Agent } from "@a2c-smcp/sdk/agent";
   * import { Computer } from "@a2c-smcp/sdk/computer";
   * import { SmcpServer } from "@a2c-smcp/sdk/server";
   *
   * await using server = await SmcpServer.listen({ port: 0 });
   * await using computer = Computer.open({ name: "laptop", config: { servers: {} } });
   * await computer.join({ url: server.url, office: "lab" });
   * await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
   *
   * const { resourceTemplates } = await agent.computer("laptop").getResourceTemplates();
   * assertEquals(resourceTemplates, []); // this Computer has no MCP servers
   * ```
   */
  async getResourceTemplates(
    mcpServer?: string,
    options: RequestOptions & { readonly cursor?: string | undefined } = {},
  ): Promise<ResourceTemplatePage> {
    const { cursor, ...rest } = options;
    const body = { mcp_server: mcpServer, cursor };
    const parse = parseGetResourceTemplatesRet;
    const answer = await this.#requests.ask(GET_RESOURCE_TEMPLATES_EVENT, body, { ...rest, parse });
    const { resource_templates: resourceTemplates, next_cursor: nextCursor } = answer;
    return nextCursor === undefined ? { resourceTemplates } : { resourceTemplates, nextCursor };
  }

  /**
   * Suggests values for a parameter of a template (`client:get_completion`, `docs/protocol/extensions.md#templates`).
   *
   * @param options `uri`: the template. `mcpServer`: its MCP server; found by the template's host by default.
   * @throws {SmcpError} 4015 when the MCP server does not support completion.
   * @example
   * ```ts
   * import type { RemoteComputer } from "@a2c-smcp/sdk/agent";
   *
   * export async function pagesOf(laptop: RemoteComputer, docRef: string): Promise<readonly string[]> {
   *   const { values } = await laptop.complete({
   *     uri: "dpe://com.example.notes/{doc_ref}/pages/{page_index}",
   *     argument: { name: "page_index", value: "" },
   *     context: { arguments: { doc_ref: docRef } },
   *   });
   *   return values;
   * }
   * ```
   */
  async complete(options: CompleteOptions): Promise<Completion> {
    const { uri, argument, context, mcpServer, ...rest } = options;
    const body = { mcp_server: mcpServer, ref: { uri }, argument, context };
    const asked = { ...rest, parse: parseGetCompletionRet };
    return toCompletion((await this.#requests.ask(GET_COMPLETION_EVENT, body, asked)).completion);
  }

  /**
   * Subscribes to a resource (`client:subscribe_resource`, `docs/protocol/extensions.md#subscriptions`). Changes arrive
   * as `resourcesUpdated` events. The subscription survives restarts of the MCP server. It ends when this Agent or the
   * Computer leaves the office, and when this Agent's connection is lost: subscribe again after `reconnected`.
   *
   * @param uri A `dpe://` or `window://` URI; with `options.mcpServer`, a URI of any scheme.
   * @throws {SmcpError} 4015 when the MCP server does not support subscriptions, 400 when there are too many.
   * @example
   * ```ts
   * import type { Agent } from "@a2c-smcp/sdk/agent";
   *
   * export async function follow(agent: Agent, uri: string): Promise<void> {
   *   agent.on("resourcesUpdated", ({ computer, updates }) => console.log(computer, updates));
   *   await agent.computer("laptop").subscribeResource(uri, { mcpServer: "files" });
   * }
   * ```
   */
  async subscribeResource(uri: string, options: ReadResourceOptions = {}): Promise<void> {
    await this.#subscribe(SUBSCRIBE_RESOURCE_EVENT, uri, options);
  }

  /** Ends a subscription (`client:unsubscribe_resource`). Does nothing for a resource without a subscription. */
  async unsubscribeResource(uri: string, options: ReadResourceOptions = {}): Promise<void> {
    await this.#subscribe(UNSUBSCRIBE_RESOURCE_EVENT, uri, options);
  }

  /**
   * Fetches the changes of subscribed resources and of lists of resources (`client:get_resource_updates`,
   * `docs/protocol/extensions.md#subscriptions`). With a listener for `resourcesUpdated` the Agent does it automatically.
   *
   * @param options `cursor`: the `cursor` of the previous answer; by default all changes that the Computer keeps.
   */
  async getResourceUpdates(
    options: RequestOptions & { readonly cursor?: string | undefined } = {},
  ): Promise<ResourceUpdates> {
    const { cursor: since, ...rest } = options;
    const asked = { ...rest, parse: parseGetResourceUpdatesRet };
    const answer = await this.#requests.ask(GET_RESOURCE_UPDATES_EVENT, { cursor: since }, asked);
    const { updates, cursor, has_more: hasMore = false } = answer;
    return { updates, cursor, hasMore };
  }

  /** Fetches an address from which the Agent can download a document itself (`client:get_dpe`). */
  async getDpe(uri: string, options: RequestOptions = {}): Promise<DpeResource> {
    return (await this.#requests.ask(GET_DPE_EVENT, { uri }, { ...options, parse: parseGetDpeRet })).resource;
  }

  /**
   * Reads a document's metadata: Level 1 (`docs/protocol/finder.md#navigation-helpers`).
   *
   * @param uri The document's `dpe://` URI, or that of one of its pages or elements.
   * @throws {SmcpError} 4201 when the document does not exist, 4204 when `uri` is not a document URI.
   */
  async readDocumentMetadata(uri: string, options: ReadResourceOptions = {}): Promise<DPEDocument> {
    return readDocument(await this.#readDocument(documentUri(uri), options));
  }

  /**
   * Reads a document's metadata and a part of its page index: Level 1 with `depth=pages`.
   *
   * @throws {SmcpError} as {@linkcode readDocumentMetadata}.
   */
  async readDocumentPages(
    uri: string,
    options: ReadResourceOptions & PageIndexOptions = {},
  ): Promise<DPEDocumentPages> {
    const { offset, limit, ...rest } = options;
    const pages = documentPagesUri(uri, { offset, limit });
    return readDocumentPages(await this.#readDocument(pages, rest));
  }

  /**
   * Reads a page of a document: Level 2.
   *
   * @param uri The document's URI.
   * @param pageIndex The number of the page, from 0.
   * @throws {SmcpError} 4201 when the document does not exist, 4202 when the page does not exist, 4204 when the URI is invalid.
   */
  async readPage(
    uri: string,
    pageIndex: number,
    options: ReadResourceOptions & PageOptions = {},
  ): Promise<DPEPage> {
    const { format, categories, ...rest } = options;
    const page = pageUri(uri, pageIndex, { format, categories });
    return readPage({ ...await this.#readDocument(page, rest), format });
  }

  /**
   * Reads an element of a document: Level 3.
   *
   * @param uri The document's URI.
   * @param elementId The `element_id` in the page.
   * @throws {SmcpError} 4201 when the document does not exist, 4203 when the element does not exist, 4204 when the URI is invalid.
   */
  async readElement(
    uri: string,
    elementId: string,
    options: ReadResourceOptions & FormatOptions = {},
  ): Promise<DPEElementDetail> {
    const { format, ...rest } = options;
    const element = elementUri(uri, elementId, { format });
    return readElement({ ...await this.#readDocument(element, rest), format });
  }

  async #readDocument(uri: string, options: ReadResourceOptions): Promise<DocumentAnswer> {
    return {
      uri,
      result: await this.readResource(uri, options),
      onFlaws: (fields) => this.#requests.warn("document has flaws", { uri, ...fields }),
    };
  }

  #subscribe(event: string, uri: string, { mcpServer, ...rest }: ReadResourceOptions): Promise<void> {
    const asked = { ...rest, parse: parseSubscribeResourceRet };
    return this.#requests.ask(event, { uri, mcp_server: mcpServer }, asked);
  }
}
