/** One Computer of the office, as an Agent uses it. */
import * as answers from "../protocol/answers.ts";
import type { GetComputerConfigRet } from "../protocol/config.ts";
import { type Desktop, type DesktopEntry, parseDesktopEntry } from "../protocol/desktop.ts";
import type { DPEDocument, DPEDocumentPages, DPEElementDetail, DPEPage } from "../protocol/dpe.ts";
import * as events from "../protocol/events.ts";
import { type FinderPage, keywordsOf } from "../protocol/finder.ts";
import type { McpServerInfo } from "../protocol/mcp_servers.ts";
import * as pages from "../protocol/pages.ts";
import { parseGetMcpServersRet, parseGetPromptRet, parseGetPromptsRet } from "../protocol/prompt_answers.ts";
import type { GetPromptRet } from "../protocol/prompts.ts";
import type { DpeResource, ReadResourceRet } from "../protocol/resources.ts";
import type { SkillRef } from "../protocol/skills.ts";
import type { CallToolResult, SMCPTool } from "../protocol/tools.ts";
import { isFrom } from "../protocol/version.ts";
import { makeRequest } from "../tracing.ts";
import { fillPrompt } from "./blobs.ts";
import { type CallParts, callTool } from "./calls.ts";
import * as documents from "./documents.ts";
import * as reading from "./reading.ts";
import type * as Options from "./remote_options.ts";
import type { RequestOptions, Requests } from "./requests.ts";
import type { SkillFile, SkillFileOptions } from "./skills.ts";
import { putBlob, type PutBlobOptions, type UploadedBlob, type UploadSource } from "./uploads.ts";

/**
 * One Computer of the office: its tools, windows, documents, prompts and resources. Made by `agent.computer(name)`, which
 * sends no request: when the office has no such Computer, the first request rejects with an `SmcpError` 404.
 *
 * Every method takes `signal` and `timeoutMs` (30,000 by default). It rejects with an `SmcpError` when the Server or
 * the Computer answers with an error, with an `UnsupportedRequestError` when the Computer does not know the request, with
 * a `RequestTimeoutError` when there is no answer, and with a `ConnectionClosedError` when the connection is lost meanwhile.
 * When `signal` is aborted, it rejects with the reason of the signal: an `AbortError` for `abort()` without a reason.
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
  /** The Computer's name in the office, or in its group of offices. */
  readonly name: string;
  readonly #requests: Requests;
  readonly #parts: CallParts;

  /**
   * Use `agent.computer(name)`.
   *
   * @internal
   */
  constructor(requests: Requests, parts: CallParts) {
    this.name = requests.shownName;
    this.#requests = requests;
    this.#parts = parts;
  }

  /**
   * Lists the tools that can be called (`client:get_tools`; `docs/protocol/data-structures.md#smcptool`), each with the
   * name of its MCP server as `server`, where the Computer tells it. Before protocol 0.3 that takes a second request
   * (`client:get_mcp_servers`), once until the tools change.
   */
  async getTools(options: RequestOptions = {}): Promise<SMCPTool[]> {
    options.signal?.throwIfAborted();
    const hasBundleIds = isFrom(this.#requests.protocolVersion, "0.3");
    const asked = hasBundleIds ? undefined : this.#parts.facts.requestServers(this.#requests);
    const parse = answers.parseGetToolsRet;
    const { tools } = await this.#requests.ask(events.GET_TOOLS_EVENT, {}, { ...options, parse });
    const servers = await asked?.();
    return tools.map(({ server: _server, ...tool }) => {
      const server = servers?.get(tool.name) ?? tool.bundle_id;
      return server === undefined ? tool : { ...tool, server };
    });
  }

  /**
   * Calls a tool (`client:tool_call`). When the tool fails, the promise resolves to a result with `isError`;
   * `meta.error_code` has the cause. Parts that are too large for one message are fetched and inserted. A part that cannot
   * be fetched keeps its handle in `_meta`, and the logger receives the cause.
   *
   * When `signal` is aborted or no answer arrives in time, the call is also cancelled on the Computer, and the promise
   * rejects with the signal's reason or a `RequestTimeoutError`. When the call takes longer than `timeoutMs`, rounded up to
   * whole seconds, the Computer answers with `meta.a2c_timeout`.
   *
   * With `onQuestion`, the user of this Agent answers what the MCP server asks during the call, and confirms the call
   * where the Computer's owner allows that. A Computer or Server that does not know questions is used as without.
   *
   * @param tool The name under which the tool is listed.
   * @param params The arguments, matching the tool's `params_schema`.
   * @example
   * ```ts
   * import type { RemoteComputer } from "@a2c-smcp/sdk/agent";
   *
   * export async function build(laptop: RemoteComputer): Promise<void> {
   *   await laptop.callTool("build", { target: "release" }, {
   *     onProgress: ({ progress, total, message }) => console.log(progress, total, message),
   *     timeoutMs: 60_000,
   *     resetTimeoutOnProgress: true, // a minute without progress, not a minute in all
   *   });
   * }
   * ```
   */
  callTool(
    tool: string,
    params: Readonly<Record<string, unknown>> = {},
    options: Options.CallToolOptions = {},
  ): Promise<CallToolResult> {
    const attributes = { "a2c.computer": this.name, "gen_ai.tool.name": tool };
    const call = (reqId: string) =>
      callTool(this.#requests, { ...options, reqId: options.reqId ?? reqId, tool, params }, this.#parts);
    return makeRequest(events.TOOL_CALL_EVENT, attributes, call);
  }

  /**
   * Uploads a file (`client:put_blob`, `docs/protocol/versions.md#uploads`) and resolves to its place on the Computer: pass
   * `landingPath` as an argument of a tool. The Computer keeps it for a while, 24 hours by default.
   *
   * @param source At least one byte and at most 1 GiB, which is read into memory: bytes, a `Blob`, a `File`, another
   *   {@linkcode UploadFile}, or a stream.
   * @param options `timeoutMs`: for the whole upload, 300,000 by default. While other uploads take all places of the
   *   Computer, it waits.
   * @throws {SmcpError} 4019 with `details.reason`, such as `forbidden` while the Computer takes no uploads.
   * @throws {UnsupportedRequestError} when the Agent speaks a protocol before 0.4, or the Computer or the Server does not
   *   know uploads.
   * @throws {TypeError} when there are no bytes. {RangeError} when there are too many.
   */
  putBlob(source: UploadSource, options: PutBlobOptions = {}): Promise<UploadedBlob> {
    return putBlob(this.#requests, source, options);
  }

  /** Lists the skills of the Computer (`client:get_skills`, `docs/skills.md`): what each is for, without its text. */
  async getSkills(options: RequestOptions = {}): Promise<SkillRef[]> {
    return await (await import("./skills.ts")).getSkills(this.#requests, options);
  }

  /**
   * Reads a file of a skill whole (`client:get_skill`), in pieces where it is large, and compares its checksum.
   *
   * @param name the name of the skill as listed
   * @throws {SmcpError} 4014 for an unknown skill, 4016 for a malformed name, 4017 for a file that cannot be read, with
   *   `details.reason`; 413 when it has more bytes than `AgentOptions.maxBlobBytes`.
   */
  async getSkill(name: string, options: SkillFileOptions = {}): Promise<SkillFile> {
    return await (await import("./skills.ts")).getSkill(this.#requests, name, options);
  }

  /** Fetches the configuration of the Computer's MCP servers, with secrets masked (`client:get_config`). */
  getConfig(options: RequestOptions = {}): Promise<GetComputerConfigRet> {
    const parse = answers.parseGetComputerConfigRet;
    return this.#requests.ask(events.GET_CONFIG_EVENT, {}, { ...options, parse });
  }

  /** Fetches the windows, each as `{URI}\n\n{text}` (`client:get_desktop`; `docs/protocol/desktop.md#fetching-the-desktop`). */
  async getDesktop({ size, window, ...options }: Options.DesktopOptions = {}): Promise<Desktop[]> {
    const asked = { ...options, parse: answers.parseGetDeskTopRet };
    const answer = await this.#requests.ask(events.GET_DESKTOP_EVENT, { desktop_size: size, window }, asked);
    return answer.desktops ?? [];
  }

  /**
   * Fetches the windows, each as `{ uri, text, title?, mcpServer? }`. Uses `client:get_windows`
   * (`docs/protocol/extensions.md#windows`). When the Computer does not support it, or does not answer in five seconds,
   * uses `client:get_desktop`; then `title` and `mcpServer` are absent.
   */
  async getWindows(options: Options.DesktopOptions = {}): Promise<DesktopEntry[]> {
    return await reading.readWindows(this.#requests, options) ??
      (await this.getDesktop(options)).map(parseDesktopEntry);
  }

  /** Fetches a page of the Finder (`client:get_finder`; `docs/protocol/finder.md#fetching-documents`). */
  async getFinder(options: Options.FinderOptions = {}): Promise<FinderPage> {
    const { query, fileType: file_type, offset, limit, ...others } = options;
    const { keywords = query === undefined ? undefined : keywordsOf(query), ...rest } = others;
    const asked = { ...rest, parse: answers.parseGetFinderRet };
    const body = { keywords, file_type, query, offset, limit };
    const answer = await this.#requests.ask(events.GET_FINDER_EVENT, body, asked);
    const { documents = [], total_count, not_indexed: notIndexed, notice } = answer;
    const page = { documents, totalCount: total_count ?? documents.length };
    return query === undefined && notice === undefined ? page : { ...page, notIndexed, notice };
  }

  /**
   * Reads a document's metadata, and its outline if asked for: Level 1 (`docs/protocol/finder.md#navigation-helpers`).
   *
   * @param uri The document's `dpe://` URI, or that of one of its pages or elements.
   * @throws {SmcpError} At each level, 4201 for an unknown document and 4204 when `uri` is not a document URI.
   */
  async readDocumentMetadata(
    uri: string,
    { outline, ...options }: Options.ReadResourceOptions & documents.OutlineOptions = {},
  ): Promise<DPEDocument> {
    return documents.readDocument(await this.#readAt(documents.documentUri(uri, { outline }), options));
  }

  /** Reads a document's metadata and a part of its page index: Level 1 with `depth=pages`. */
  async readDocumentPages(
    uri: string,
    { offset, limit, ...options }: Options.ReadResourceOptions & documents.PageIndexOptions = {},
  ): Promise<DPEDocumentPages> {
    const at = documents.documentPagesUri(uri, { offset, limit });
    return documents.readDocumentPages(await this.#readAt(at, options));
  }

  /**
   * Reads a page of a document: Level 2.
   *
   * @param pageIndex The number of the page, from 0.
   * @throws {SmcpError} 4202 for an unknown page.
   */
  async readPage(
    uri: string,
    pageIndex: number,
    { format, elements, categories, ...options }: Options.ReadResourceOptions & documents.PageOptions = {},
  ): Promise<DPEPage> {
    const at = documents.pageUri(uri, pageIndex, { format, elements, categories });
    return documents.readPage({ ...await this.#readAt(at, options), format });
  }

  /**
   * Reads an element of a document: Level 3.
   *
   * @param elementId The `element_id` in the page.
   * @throws {SmcpError} 4203 for an unknown element.
   */
  async readElement(
    uri: string,
    elementId: string,
    { format, elements, ...options }: Options.ReadResourceOptions & documents.FormatOptions = {},
  ): Promise<DPEElementDetail> {
    const at = documents.elementUri(uri, elementId, { format, elements });
    return documents.readElement({ ...await this.#readAt(at, options), format });
  }

  /**
   * Lists the MCP servers in order of precedence: their status, and while they run their name, version, instructions and
   * capabilities (`client:get_mcp_servers`, `docs/protocol/extensions.md#list-of-mcp-servers`).
   *
   * @param options `mcpServer`: only this one.
   * @throws {SmcpError} 4014 when no MCP server has the name.
   */
  async getMcpServers({ mcpServer, ...options }: Options.McpServerOptions = {}): Promise<McpServerInfo[]> {
    const asked = { ...options, parse: parseGetMcpServersRet };
    const answer = await this.#requests.ask(events.GET_MCP_SERVERS_EVENT, { mcp_server: mcpServer }, asked);
    return answer.mcp_servers;
  }

  /**
   * Lists prompts (`client:get_prompts`, `docs/protocol/extensions.md#prompts`).
   *
   * @param mcpServer Lists one page of this MCP server; by default all pages of all MCP servers.
   * @param options `cursor`: the `nextCursor` of the previous page; only with `mcpServer`.
   */
  async getPrompts(
    mcpServer?: string,
    { cursor, ...options }: Options.PageRequestOptions = {},
  ): Promise<pages.PromptPage> {
    const body = { mcp_server: mcpServer, cursor };
    const asked = { ...options, parse: parseGetPromptsRet };
    const answer = await this.#requests.ask(events.GET_PROMPTS_EVENT, body, asked);
    return { prompts: answer.prompts, ...nextOf(answer) };
  }

  /**
   * Fills in a prompt (`client:get_prompt`, `docs/protocol/extensions.md#prompts`). Parts that are too large for one
   * message are fetched and inserted.
   *
   * @param name The name of the prompt as listed.
   * @param args The arguments; none by default.
   * @throws {SmcpError} 404 when no MCP server lists the prompt, 400 when the MCP server refuses the arguments.
   */
  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    { mcpServer, ...options }: Options.PromptOptions = {},
  ): Promise<GetPromptRet> {
    const body = { mcp_server: mcpServer, name, arguments: args };
    const asked = { ...options, parse: parseGetPromptRet };
    const answer = await this.#requests.ask(events.GET_PROMPT_EVENT, body, asked);
    return await this.#requests.fill((filling) => fillPrompt(answer, filling), options);
  }

  /**
   * Reads an MCP resource (`client:read_resource`) and resolves to MCP's `ReadResourceResult`. To read documents, see
   * also `readDocumentMetadata()`, `readPage()` and `readElement()`.
   *
   * A Computer that does not support the request has the text of a window in its Desktop: it is read there
   * (`client:get_desktop`), and has no `mimeType`.
   *
   * @param uri A `dpe://` or `window://` URI; with `options.mcpServer`, a URI of any scheme.
   * @throws {SmcpError} 404 when there is no such resource.
   */
  readResource(uri: string, options: Options.ReadResourceOptions = {}): Promise<ReadResourceRet> {
    return reading.readResource(this.#requests, uri, options);
  }

  /** Lists one page of the resources of an MCP server, by its name in the configuration (`client:get_resources`). */
  async getResources(
    mcpServer: string,
    { cursor, ...options }: Options.PageRequestOptions = {},
  ): Promise<pages.ResourcePage> {
    const body = { mcp_server: mcpServer, cursor };
    const asked = { ...options, parse: answers.parseGetResourcesRet };
    const answer = await this.#requests.ask(events.GET_RESOURCES_EVENT, body, asked);
    return { resources: answer.resources, ...nextOf(answer) };
  }

  /**
   * Lists resource templates (`client:get_resource_templates`, `docs/protocol/extensions.md#templates`). A template
   * whose parameters have values is the URI of a resource; {@linkcode RemoteComputer.complete} suggests values.
   *
   * @param mcpServer Lists one page of this MCP server; by default all pages of all MCP servers.
   * @param options `cursor`: the `nextCursor` of the previous page; only with `mcpServer`.
   */
  async getResourceTemplates(
    mcpServer?: string,
    { cursor, ...options }: Options.PageRequestOptions = {},
  ): Promise<pages.ResourceTemplatePage> {
    const body = { mcp_server: mcpServer, cursor };
    const asked = { ...options, parse: answers.parseGetResourceTemplatesRet };
    const answer = await this.#requests.ask(events.GET_RESOURCE_TEMPLATES_EVENT, body, asked);
    return { resourceTemplates: answer.resource_templates, ...nextOf(answer) };
  }

  /**
   * Suggests values for a parameter of a template or an argument of a prompt (`client:get_completion`,
   * `docs/protocol/extensions.md#completion`).
   *
   * @param options `uri`: the template, or `prompt`: the name of the prompt. `mcpServer`: the MCP server; by default it is
   *   found by the template's host, or is the first that lists a prompt of this name.
   * @throws {SmcpError} 4015 when the MCP server does not support completion.
   */
  async complete(options: Options.CompleteOptions): Promise<pages.Completion> {
    const { uri, prompt, argument, context, mcpServer, ...rest } = options;
    const body = { mcp_server: mcpServer, ref: uri === undefined ? { prompt } : { uri }, argument, context };
    const asked = { ...rest, parse: answers.parseGetCompletionRet };
    const { completion } = await this.#requests.ask(events.GET_COMPLETION_EVENT, body, asked);
    return pages.toCompletion(completion);
  }

  /**
   * Subscribes to a resource (`client:subscribe_resource`, `docs/protocol/extensions.md#subscriptions`). Changes arrive
   * as `resourcesUpdated` events. The subscription survives restarts of the MCP server. It ends when this Agent or the
   * Computer leaves the office, and when this Agent's connection is lost: subscribe again after `reconnected`.
   *
   * @param uri A `dpe://` or `window://` URI; with `options.mcpServer`, a URI of any scheme.
   * @throws {SmcpError} 4015 when the MCP server does not support subscriptions, 400 when there are too many.
   */
  subscribeResource(uri: string, options: Options.ReadResourceOptions = {}): Promise<void> {
    return this.#subscribe(events.SUBSCRIBE_RESOURCE_EVENT, { uri, ...options });
  }

  /** Ends a subscription (`client:unsubscribe_resource`). Does nothing for a resource without a subscription. */
  unsubscribeResource(uri: string, options: Options.ReadResourceOptions = {}): Promise<void> {
    return this.#subscribe(events.UNSUBSCRIBE_RESOURCE_EVENT, { uri, ...options });
  }

  /**
   * Fetches the changes of subscribed resources and of lists of resources (`client:get_resource_updates`,
   * `docs/protocol/extensions.md#subscriptions`). With a listener for `resourcesUpdated` the Agent does it automatically.
   *
   * @param options `cursor`: the `cursor` of the previous answer; by default all changes that the Computer keeps.
   */
  async getResourceUpdates(options: Options.PageRequestOptions = {}): Promise<Options.ResourceUpdates> {
    const { cursor: since, ...rest } = options;
    const asked = { ...rest, parse: answers.parseGetResourceUpdatesRet };
    const answer = await this.#requests.ask(events.GET_RESOURCE_UPDATES_EVENT, { cursor: since }, asked);
    return { updates: answer.updates, cursor: answer.cursor, hasMore: answer.has_more ?? false };
  }

  /** Fetches an address from which the Agent can download a document itself (`client:get_dpe`). */
  async getDpe(uri: string, options: RequestOptions = {}): Promise<DpeResource> {
    const asked = { ...options, parse: answers.parseGetDpeRet };
    return (await this.#requests.ask(events.GET_DPE_EVENT, { uri }, asked)).resource;
  }

  async #readAt(uri: string, options: Options.ReadResourceOptions): Promise<documents.DocumentAnswer> {
    return {
      uri,
      result: await reading.readResource(this.#requests, uri, options),
      onFlaws: (fields) => this.#requests.warn("document has flaws", { uri, ...fields }),
    };
  }

  #subscribe(event: string, options: Options.ReadResourceOptions & { readonly uri: string }): Promise<void> {
    const { uri, mcpServer, ...rest } = options;
    const asked = { ...rest, parse: answers.parseSubscribeResourceRet };
    return this.#requests.ask(event, { uri, mcp_server: mcpServer }, asked);
  }
}

function nextOf({ next_cursor: nextCursor }: { readonly next_cursor?: string }): { nextCursor?: string } {
  return nextCursor === undefined ? {} : { nextCursor };
}
