/** The MCP servers of a Computer, as an Agent uses them: their prompts and their resources. */
import {
  parseGetCompletionRet,
  parseGetDeskTopRet,
  parseGetDpeRet,
  parseGetResourcesRet,
  parseGetResourceTemplatesRet,
  parseGetResourceUpdatesRet,
  parseReadResourceRet,
  parseSubscribeResourceRet,
} from "../protocol/answers.ts";
import { parseDesktopEntry } from "../protocol/desktop.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError, UnsupportedRequestError } from "../protocol/errors.ts";
import {
  GET_COMPLETION_EVENT,
  GET_DESKTOP_EVENT,
  GET_DPE_EVENT,
  GET_MCP_SERVERS_EVENT,
  GET_PROMPT_EVENT,
  GET_PROMPTS_EVENT,
  GET_RESOURCE_TEMPLATES_EVENT,
  GET_RESOURCE_UPDATES_EVENT,
  GET_RESOURCES_EVENT,
  READ_RESOURCE_EVENT,
  SUBSCRIBE_RESOURCE_EVENT,
  UNSUBSCRIBE_RESOURCE_EVENT,
} from "../protocol/events.ts";
import type { McpServerInfo } from "../protocol/mcp_servers.ts";
import {
  type Completion,
  type PromptPage,
  type ResourcePage,
  type ResourceTemplatePage,
  toCompletion,
} from "../protocol/pages.ts";
import { parseGetMcpServersRet, parseGetPromptRet, parseGetPromptsRet } from "../protocol/prompt_answers.ts";
import type { GetPromptRet } from "../protocol/prompts.ts";
import type { DpeResource, ReadResourceRet } from "../protocol/resources.ts";
import { windowIdentity } from "../uri/window_uri.ts";
import { fillContents, fillPrompt } from "./blobs.ts";
import type { ComputerRequests } from "./computer_requests.ts";
import type {
  CompleteOptions,
  PromptOptions,
  ReadResourceOptions,
  ResourceUpdates,
} from "./remote_options.ts";
import type { RequestOptions } from "./requests.ts";

/** The part of a `RemoteComputer` that is about its MCP servers, their prompts and their resources. */
export class RemoteMcpServers {
  readonly #requests: ComputerRequests;

  /**
   * Use `agent.computer(name)`.
   *
   * @internal
   */
  constructor(requests: ComputerRequests) {
    this.#requests = requests;
  }

  /**
   * Lists the MCP servers in order of precedence: their status, and while they run their name, version, instructions and
   * capabilities (`client:get_mcp_servers`, `docs/protocol/extensions.md#list-of-mcp-servers`).
   *
   * @param options `mcpServer`: only this one.
   * @throws {UnsupportedRequestError} when the Computer does not know the request.
   * @throws {SmcpError} 4014 when no MCP server has the name.
   * @example
   * ```ts
   * import { assertEquals } from "@std/assert";
   * import { Agent } from "@a2c-smcp/sdk/agent";
   * import { Computer } from "@a2c-smcp/sdk/computer";
   * import { SmcpServer } from "@a2c-smcp/sdk/server";
   *
   * await using server = await SmcpServer.listen({ port: 0 });
   * const shop = { type: "stdio", disabled: true, server_parameters: { command: "shop-mcp-server" } };
   * await using computer = Computer.open({ name: "laptop", config: { servers: { shop } } });
   * await computer.join({ url: server.url, office: "lab" });
   * await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
   *
   * const mcpServers = await agent.computer("laptop").getMcpServers();
   * assertEquals(mcpServers, [{ mcp_server: "shop", status: "stopped" }]);
   * ```
   */
  async getMcpServers(
    options: RequestOptions & { readonly mcpServer?: string | undefined } = {},
  ): Promise<McpServerInfo[]> {
    const { mcpServer, ...rest } = options;
    const asked = { ...rest, parse: parseGetMcpServersRet };
    return (await this.#requests.ask(GET_MCP_SERVERS_EVENT, { mcp_server: mcpServer }, asked)).mcp_servers;
  }

  /**
   * Lists prompts (`client:get_prompts`, `docs/protocol/extensions.md#prompts`).
   *
   * @param mcpServer Lists one page of this MCP server; by default all pages of all MCP servers.
   * @param options `cursor`: the `nextCursor` of the previous page; only with `mcpServer`.
   * @throws {UnsupportedRequestError} when the Computer does not know the request.
   */
  async getPrompts(
    mcpServer?: string,
    options: RequestOptions & { readonly cursor?: string | undefined } = {},
  ): Promise<PromptPage> {
    const { cursor, ...rest } = options;
    const asked = { ...rest, parse: parseGetPromptsRet };
    const answer = await this.#requests.ask(GET_PROMPTS_EVENT, { mcp_server: mcpServer, cursor }, asked);
    const { prompts, next_cursor: nextCursor } = answer;
    return nextCursor === undefined ? { prompts } : { prompts, nextCursor };
  }

  /**
   * Fills in a prompt (`client:get_prompt`, `docs/protocol/extensions.md#prompts`). Parts that are too large for one
   * message are fetched and inserted.
   *
   * @param name The name of the prompt as listed.
   * @param args The arguments; none by default.
   * @throws {UnsupportedRequestError} when the Computer does not know the request.
   * @throws {SmcpError} 404 when no MCP server lists the prompt, 400 when the MCP server refuses the arguments.
   * @example
   * ```ts
   * import type { RemoteComputer } from "@a2c-smcp/sdk/agent";
   *
   * export async function review(laptop: RemoteComputer): Promise<void> {
   *   const { messages } = await laptop.getPrompt("review", { language: "de" }, { mcpServer: "code" });
   *   for (const { role, content } of messages) console.log(role, content.text);
   * }
   * ```
   */
  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: PromptOptions = {},
  ): Promise<GetPromptRet> {
    const { mcpServer, ...rest } = options;
    const body = { mcp_server: mcpServer, name, arguments: args };
    const answer = await this.#requests.ask(GET_PROMPT_EVENT, body, { ...rest, parse: parseGetPromptRet });
    return await this.#requests.fill((filling) => fillPrompt(answer, filling), rest);
  }

  /**
   * Reads an MCP resource (`client:read_resource`) and resolves to MCP's `ReadResourceResult`. To read documents, see
   * also `readDocumentMetadata()`, `readPage()` and `readElement()`.
   *
   * A Computer that does not support the request has the text of a window in its Desktop: it is read there
   * (`client:get_desktop`), and has no `mimeType`.
   *
   * @param uri A `dpe://` or `window://` URI; with `options.mcpServer`, a URI of any scheme.
   * @throws {UnsupportedRequestError} when the Computer does not know the request, and the URI is none of a window.
   * @throws {SmcpError} 404 when there is no such resource.
   */
  async readResource(
    uri: string,
    options: ReadResourceOptions = {},
  ): Promise<ReadResourceRet> {
    const { mcpServer, ...rest } = options;
    const asked = { ...rest, parse: parseReadResourceRet };
    try {
      const result = await this.#requests.ask(READ_RESOURCE_EVENT, { uri, mcp_server: mcpServer }, asked);
      return await this.#requests.fill((filling) => fillContents(result, filling), rest);
    } catch (error) {
      const identity = error instanceof UnsupportedRequestError ? windowIdentity(uri) : undefined;
      if (identity === undefined) throw error;
      return await this.#readWindow(uri, { ...rest, identity });
    }
  }

  /** Reads a window as every Computer shows it. */
  async #readWindow(
    uri: string,
    { identity, ...options }: RequestOptions & { readonly identity: string },
  ): Promise<ReadResourceRet> {
    const asked = { ...options, parse: parseGetDeskTopRet };
    const { desktops = [] } = await this.#requests.ask(GET_DESKTOP_EVENT, { window: uri }, asked);
    const window = desktops.map(parseDesktopEntry).find((entry) => windowIdentity(entry.uri) === identity);
    if (window === undefined) {
      throw new SmcpError(ErrorCode.NOT_FOUND, `Resource not found: no window "${uri}"`, {
        details: { uri },
      });
    }
    return { contents: [{ uri, text: window.text }] };
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
   * whose parameters have values is the URI of a resource; {@linkcode RemoteMcpServers.complete} suggests values.
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
   * Suggests values for a parameter of a template or an argument of a prompt (`client:get_completion`,
   * `docs/protocol/extensions.md#completion`).
   *
   * @param options `uri`: the template, or `prompt`: the name of the prompt. `mcpServer`: the MCP server; by default it is
   *   found by the template's host, or is the first that lists a prompt of this name.
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
    const { uri, prompt, argument, context, mcpServer, ...rest } = options;
    const ref = uri === undefined ? { prompt } : { uri };
    const body = { mcp_server: mcpServer, ref, argument, context };
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

  #subscribe(event: string, uri: string, { mcpServer, ...rest }: ReadResourceOptions): Promise<void> {
    const asked = { ...rest, parse: parseSubscribeResourceRet };
    return this.#requests.ask(event, { uri, mcp_server: mcpServer }, asked);
  }
}
