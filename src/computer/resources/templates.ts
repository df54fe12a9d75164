/** The templates of resources (`docs/protocol/extensions.md#templates`). */
import { isRecord } from "../../json.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import type { CompletionInfo, ResourceTemplateInfo } from "../../protocol/resource_templates.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import { completeAt, type CompletionRequest } from "../completion.ts";
import { EntryLists } from "../entry_lists.ts";
import type { ListLimits, ReadLimits } from "../limits.ts";
import { toResourceFields } from "./read.ts";
import type { ResourceRoutes } from "./route.ts";

export interface ResourceTemplatesContext {
  readonly fleet: Fleet;
  readonly routes: ResourceRoutes;
  readonly limits: ReadLimits & ListLimits;
  readonly warnOnce: WarnOnce;
}

export class ResourceTemplates {
  readonly lists: EntryLists<ResourceTemplateInfo>;
  readonly #routes: ResourceRoutes;

  constructor({ limits, ...context }: ResourceTemplatesContext) {
    this.#routes = context.routes;
    this.lists = new EntryLists({
      ...context,
      limits,
      kind: "templates",
      capability: "resources",
      what: "resource templates",
      toEntry: toTemplateInfo,
      maxEntries: limits.maxTemplates,
      maxEntryBytes: limits.maxResourceBytes,
    });
  }

  /**
   * Requests completions for a parameter of a template (`client:get_completion`).
   *
   * @throws {SmcpError} 4014, 4015 with the capability `completions`, 4201, 404 or 400 when no server is found;
   *   otherwise as `client:get_resources` is answered.
   */
  async complete(uri: string, request: CompletionRequest): Promise<CompletionInfo> {
    const wanted = { mcpServer: request.mcp_server, timeoutMs: timeoutMsOf(request) };
    const server = await this.#routes.findTemplate(uri, wanted);
    return await completeAt(server, { type: "ref/resource", uri }, request);
  }
}

/** Translates an entry of `resources/templates/list`; returns `undefined` for an entry without `uriTemplate`. */
function toTemplateInfo(entry: unknown, server: string): ResourceTemplateInfo | undefined {
  if (!isRecord(entry) || typeof entry["uriTemplate"] !== "string") return undefined;
  const { uriTemplate, ...rest } = entry;
  const { _meta, ...fields } = toResourceFields(rest);
  return { ...fields, uri_template: uriTemplate, _meta: { ..._meta, [A2C_MCP_SERVER]: server } };
}
