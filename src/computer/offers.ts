/** What MCP servers offer beside tools, windows and documents: what they say about themselves, templates, prompts. */
import type { Fleet } from "../mcp/supervision/fleet.ts";
import type { WarnOnce } from "../mcp/warn_once.ts";
import type { McpServerInfo } from "../protocol/mcp_servers.ts";
import type { CompletionInfo } from "../protocol/resource_templates.ts";
import type { CompletionRequest } from "./completion.ts";
import { describeServer } from "./described_server.ts";
import type { ListLimits, ReadLimits } from "./limits.ts";
import { Prompts } from "./prompts/prompts.ts";
import type { ResourceRoutes } from "./resources/route.ts";
import { ResourceTemplates } from "./resources/templates.ts";

export interface ServerOffersContext {
  readonly fleet: Fleet;
  readonly routes: ResourceRoutes;
  readonly limits: ReadLimits & ListLimits;
  readonly warnOnce: WarnOnce;
  readonly toolNames: () => ReadonlyMap<string, readonly string[]>;
  readonly redact: (text: string) => string;
  readonly onPromptsChange: () => void;
}

export class ServerOffers {
  readonly templates: ResourceTemplates;
  readonly prompts: Prompts;
  readonly #context: ServerOffersContext;

  constructor(context: ServerOffersContext) {
    this.#context = context;
    this.templates = new ResourceTemplates(context);
    this.prompts = new Prompts({ ...context, onChange: context.onPromptsChange });
  }

  /**
   * Describes all MCP servers in order of precedence, or the named one (`client:get_mcp_servers`).
   *
   * @throws {SmcpError} 4014 when no server has the name.
   */
  describe(name?: string): McpServerInfo[] {
    const { fleet, routes, toolNames } = this.#context;
    const servers = name === undefined ? fleet.servers : [routes.serverNamed(name)];
    const names = toolNames();
    return servers.map((server) => {
      const tools = names.get(server.name);
      return {
        ...describeServer(server, this.#context),
        ...(tools === undefined ? {} : { tools: [...tools] }),
      };
    });
  }

  /**
   * Suggests values for a parameter of a template or of a prompt.
   *
   * @throws {SmcpError} as `client:get_completion` is answered.
   */
  async complete(request: CompletionRequest): Promise<CompletionInfo> {
    const { ref } = request;
    if ("uri" in ref) return await this.templates.complete(ref.uri, request);
    return await this.prompts.complete(ref.prompt, request);
  }
}
