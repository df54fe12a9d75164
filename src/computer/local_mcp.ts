/** What the MCP servers of a Computer have beside tools, windows and documents, for the Computer's own program. */
import { abortable } from "../async/abortable.ts";
import type { McpServerInfo } from "../protocol/mcp_servers.ts";
import {
  type Completion,
  type CompletionTarget,
  type PromptPage,
  type ResourcePage,
  type ResourceTemplatePage,
  toCompletion,
} from "../protocol/pages.ts";
import type { GetPromptRet } from "../protocol/prompts.ts";
import type { EntryLists } from "./offers/entry_lists.ts";
import type { McpHost } from "./host.ts";
import type { OwnerTool } from "./tools/directory.ts";
import { listResources } from "./resources/read.ts";
import { type LocalRequestOptions, toMilliseconds, toSeconds } from "./shared/shared_parts.ts";

/** How long a list may take, and where its page begins. */
export interface LocalPageOptions extends LocalRequestOptions {
  /** The `nextCursor` of the previous page; the first page by default. */
  readonly cursor?: string | undefined;
}

/** The parameter to complete. */
export type LocalCompleteOptions = LocalRequestOptions & CompletionTarget & {
  /** The name of the parameter, and the beginning of its value, which may be empty. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The values of the other parameters, as far as they are known; none by default. */
  readonly context?: { readonly arguments: Readonly<Record<string, string>> } | undefined;
  /** The MCP server; found by the template's host, or the first that lists such a prompt, by default. */
  readonly mcpServer?: string | undefined;
};

/**
 * The MCP servers of a Computer as an Agent sees them: what they say about themselves, their prompts, resources,
 * templates and suggestions. All methods reject with an {@linkcode SmcpError} as the request of an Agent is answered.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Computer } from "@a2c-smcp/sdk/computer";
 *
 * const shop = { type: "stdio", disabled: true, server_parameters: { command: "shop-mcp-server" } };
 * await using computer = Computer.open({ name: "laptop", config: { servers: { shop } } });
 * assertEquals(computer.mcp.getMcpServers(), [{ mcp_server: "shop", status: "stopped" }]);
 * assertEquals(await computer.mcp.getPrompts(), { prompts: [] });
 * ```
 */
export class LocalMcp {
  readonly #host: McpHost;

  /**
   * Use `computer.mcp`.
   *
   * @internal
   */
  constructor(host: McpHost) {
    this.#host = host;
  }

  /** All tools of the MCP servers that run, in order of precedence: also those that are hidden from the Agent or set aside. */
  get tools(): readonly OwnerTool[] {
    return this.#host.tools.all;
  }

  /**
   * Allows a tool as it is listed now, where `on_change` has it asked about or set aside since it has changed.
   *
   * @return whether there is such a tool that has changed.
   */
  allowChanged(tool: Pick<OwnerTool, "server" | "tool">): boolean {
    const route = this.#host.tools.routeOf(tool);
    if (route?.changed === undefined) return false;
    this.#host.approved.approve(route);
    return true;
  }

  /** The name of an MCP server in the configuration, by the name by which the office knows it. */
  writtenNameOf(server: string): string {
    return this.#host.writtenNameOf(server);
  }

  /** The MCP servers in order of precedence, or the one that `mcpServer` names. */
  getMcpServers({ mcpServer }: { readonly mcpServer?: string | undefined } = {}): McpServerInfo[] {
    return this.#host.offers.describe(mcpServer);
  }

  /** Lists one page of the resources of an MCP server. */
  async getResources(mcpServer: string, options: LocalPageOptions = {}): Promise<ResourcePage> {
    const { cursor, signal } = options;
    const request = { mcp_server: mcpServer, timeout: toSeconds(options) };
    const page = cursor === undefined ? request : { ...request, cursor };
    const listing = listResources(page, this.#host.resources);
    const { resources, next_cursor: nextCursor } = await abortable(listing, signal);
    return nextCursor === undefined ? { resources } : { resources, nextCursor };
  }

  /** Lists one page of the templates of an MCP server, or all templates of all MCP servers. */
  async getResourceTemplates(
    mcpServer?: string,
    options: LocalPageOptions = {},
  ): Promise<ResourceTemplatePage> {
    const { entries: resourceTemplates, ...rest } = await list(
      this.#host.offers.templates,
      mcpServer,
      options,
    );
    return { resourceTemplates, ...rest };
  }

  /** Lists one page of the prompts of an MCP server, or all prompts of all MCP servers. */
  async getPrompts(mcpServer?: string, options: LocalPageOptions = {}): Promise<PromptPage> {
    const { entries: prompts, ...rest } = await list(this.#host.offers.prompts.lists, mcpServer, options);
    return { prompts, ...rest };
  }

  /** Fills in a prompt of the MCP server that `mcpServer` names, or of the first one that lists it. */
  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options: LocalRequestOptions & { readonly mcpServer?: string | undefined } = {},
  ): Promise<GetPromptRet> {
    const { mcpServer, signal } = options;
    const named = mcpServer === undefined ? {} : { mcp_server: mcpServer };
    const request = { name, arguments: { ...args }, timeout: toSeconds(options), ...named };
    return await this.#host.offers.prompts.get(request, { signal });
  }

  /** Suggests values for a parameter of a template or an argument of a prompt. */
  async complete(options: LocalCompleteOptions): Promise<Completion> {
    const { uri, prompt, argument, context, mcpServer, signal } = options;
    const request = {
      ref: uri === undefined ? { prompt } : { uri },
      argument: { ...argument },
      timeout: toSeconds(options),
      ...(context === undefined ? {} : { context: { arguments: { ...context.arguments } } }),
      ...(mcpServer === undefined ? {} : { mcp_server: mcpServer }),
    };
    return toCompletion(await abortable(this.#host.offers.complete(request), signal));
  }
}

async function list<T>(
  lists: EntryLists<T>,
  mcpServer: string | undefined,
  options: LocalPageOptions,
): Promise<{ readonly entries: T[]; readonly nextCursor?: string }> {
  const { cursor, signal } = options;
  const listing = lists.page(mcpServer, { cursor, timeoutMs: toMilliseconds(options) });
  const { entries, ...rest } = await abortable(listing, signal);
  return { entries: entries.map(({ entry }) => entry), ...rest };
}
