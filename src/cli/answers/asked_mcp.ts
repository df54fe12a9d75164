/** What commands ask of the MCP servers of a Computer, in this process or in an office. */
import type { McpServerInfo } from "../../protocol/mcp_servers.ts";
import type {
  Completion,
  CompletionTarget,
  PromptPage,
  ResourcePage,
  ResourceTemplatePage,
} from "../../protocol/pages.ts";
import type { GetPromptRet } from "../../protocol/prompts.ts";

/** How a request may end early, and which MCP server it is for. */
interface ServerOptions {
  readonly signal?: AbortSignal | undefined;
  readonly mcpServer?: string | undefined;
}

/** How a request for a page may end early, and where the page begins. */
interface PageOptions {
  readonly signal?: AbortSignal | undefined;
  readonly cursor?: string | undefined;
}

/** The part of a Computer that describes and asks its MCP servers. */
export interface AskedMcp {
  getMcpServers(options: ServerOptions): Promise<readonly McpServerInfo[]>;
  getPrompts(mcpServer: string | undefined, options: PageOptions): Promise<PromptPage>;
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    options: ServerOptions,
  ): Promise<GetPromptRet>;
  getResources(mcpServer: string, options: PageOptions): Promise<ResourcePage>;
  getResourceTemplates(mcpServer: string | undefined, options: PageOptions): Promise<ResourceTemplatePage>;
  complete(
    options: ServerOptions & CompletionTarget & {
      readonly argument: { readonly name: string; readonly value: string };
      readonly context: { readonly arguments: Readonly<Record<string, string>> };
    },
  ): Promise<Completion>;
}
