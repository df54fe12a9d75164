/** The MCP servers of a Computer and their prompts, as an Agent uses them. */
import { GET_MCP_SERVERS_EVENT, GET_PROMPT_EVENT, GET_PROMPTS_EVENT } from "../protocol/events.ts";
import type { McpServerInfo } from "../protocol/mcp_servers.ts";
import { parseGetMcpServersRet, parseGetPromptRet, parseGetPromptsRet } from "../protocol/prompt_answers.ts";
import type { GetPromptRet } from "../protocol/prompts.ts";
import { fillPrompt, hasPromptHandles } from "./blobs.ts";
import type { ComputerRequests } from "./computer_requests.ts";
import type { PromptPage } from "../protocol/pages.ts";
import type { PromptOptions } from "./remote_options.ts";
import type { RequestOptions } from "./requests.ts";

/** The part of a `RemoteComputer` that describes its MCP servers and fills in their prompts. */
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
    if (!hasPromptHandles(answer)) return answer;
    return await this.#requests.fill((filling) => fillPrompt(answer, filling), rest);
  }
}
