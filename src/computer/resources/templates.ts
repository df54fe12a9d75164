/**
 * The resource templates of MCP servers, and completions of their parameters
 * (`docs/protocol/extensions.md#templates`, `docs/protocol/extensions.md#completion`).
 */
import { settledWithin } from "../../async/abortable.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import type { WarnOnce } from "../../mcp/warn_once.ts";
import { isRecord } from "../../json.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { describeError } from "../../text.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import {
  type CompletionInfo,
  type GetCompletionReq,
  MAX_COMPLETION_VALUES,
  type ResourceTemplateInfo,
} from "../../protocol/resource_templates.ts";
import { fitsApproximately } from "../../protocol/size.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import type { ListLimits, ReadLimits } from "../limits.ts";
import { ask, toResourceFields } from "./read.ts";
import type { ResourceRoutes } from "./route.ts";

/** The most that the completions of one answer take, in characters. */
const MAX_COMPLETION_LENGTH = 256 * 1024;

/** A template and its MCP server. */
export interface ListedTemplate {
  /** The server's name. */
  readonly server: string;
  readonly template: ResourceTemplateInfo;
}

/** What templates need. */
export interface ResourceTemplatesContext {
  readonly fleet: Fleet;
  readonly routes: ResourceRoutes;
  readonly limits: ReadLimits & ListLimits;
  /** Logs a problem once, however often the Agent lists templates. */
  readonly warnOnce: WarnOnce;
}

/** Lists and completes templates. Requests at the same time share one list of a server. */
export class ResourceTemplates {
  readonly #context: ResourceTemplatesContext;
  readonly #listing = new Map<SupervisedServer, Promise<readonly ListedTemplate[]>>();

  constructor(context: ResourceTemplatesContext) {
    this.#context = context;
  }

  /** Lists the templates of all servers in order of precedence, without those of a server that fails or is late. */
  async all({ timeoutMs }: { readonly timeoutMs: number }): Promise<ListedTemplate[]> {
    const { fleet, limits, warnOnce } = this.#context;
    const withinMs = Math.min(timeoutMs, limits.viewDeadlineMs);
    const servers = fleet.servers.filter(({ connection }) => connection?.capabilities.resources === true);
    const lists = await Promise.all(servers.map(async (server) => {
      const templates = await settledWithin(this.#list(server), withinMs);
      if (templates === undefined) {
        warnOnce.warn("MCP server is slow; its resource templates are left out", { server: server.name });
      }
      return templates ?? [];
    }));
    return lists.flat();
  }

  /**
   * Lists one page of a server.
   *
   * @throws {SmcpError} as `client:get_resources` is answered.
   */
  async page(
    name: string,
    { cursor, timeoutMs }: { readonly cursor?: string | undefined; readonly timeoutMs: number },
  ): Promise<{ readonly templates: ListedTemplate[]; readonly nextCursor: string | undefined }> {
    const server = this.#context.routes.findServer(name);
    const { entries, nextCursor } = await ask(
      { server },
      (connection) => connection.listTemplatesPage(cursor, { timeoutMs }),
    );
    return { templates: this.#read(server, entries), nextCursor };
  }

  /**
   * Requests completions for a parameter of a template (`client:get_completion`).
   *
   * @throws {SmcpError} 4014, 4015 with the capability `completions`, 4201, 404 or 400 when no server is found;
   *   otherwise as `client:get_resources` is answered.
   */
  async complete(
    request: Omit<GetCompletionReq, "agent" | "req_id" | "computer">,
  ): Promise<CompletionInfo> {
    const { ref, argument, context: chosen, mcp_server: mcpServer } = request;
    const timeoutMs = timeoutMsOf(request);
    const server = await this.#context.routes.findTemplate(ref.uri, { mcpServer, timeoutMs });
    const wanted = {
      uri: ref.uri,
      argument: { name: argument.name, value: argument.value },
      context: chosen && { arguments: chosen.arguments },
    };
    const { completion } = await ask({ server }, (connection) => connection.complete(wanted, { timeoutMs }));
    if (isRecord(completion) && Array.isArray(completion["values"])) return toCompletionInfo(completion);
    const mcp_server = server.name;
    const message = `MCP server "${mcp_server}" failed: its answer has no completion`;
    throw new SmcpError(ErrorCode.INTERNAL_ERROR, message, { details: { mcp_server } });
  }

  /** Never rejects. */
  #list(server: SupervisedServer): Promise<readonly ListedTemplate[]> {
    let listing = this.#listing.get(server);
    if (listing === undefined) {
      listing = this.#listOnce(server).finally(() => this.#listing.delete(server));
      this.#listing.set(server, listing);
    }
    return listing;
  }

  async #listOnce(server: SupervisedServer): Promise<readonly ListedTemplate[]> {
    const { warnOnce, limits: { readTimeoutMs: timeoutMs } } = this.#context;
    try {
      return this.#read(server, await server.use((connection) => connection.listTemplates({ timeoutMs })));
    } catch (error) {
      warnOnce.warn("cannot list resource templates", { server: server.name, error: describeError(error) });
      return [];
    }
  }

  /** Leaves out invalid entries and those beyond the limits. */
  #read(server: SupervisedServer, entries: readonly unknown[]): ListedTemplate[] {
    const { limits: { maxTemplates, maxResourceBytes }, warnOnce } = this.#context;
    const templates: ListedTemplate[] = [];
    let leftOut = 0;
    for (const entry of entries) {
      const template = toTemplateInfo(entry, server.name);
      const fits = templates.length < maxTemplates && fitsApproximately(entry, maxResourceBytes);
      if (template !== undefined && fits) templates.push({ server: server.name, template });
      else leftOut++;
    }
    if (leftOut > 0) {
      const fields = { server: server.name, count: leftOut, maxTemplates, maxResourceBytes };
      warnOnce.warn("resource templates are left out: too many, too large, or without uriTemplate", fields);
    }
    return templates;
  }
}

/** Reads MCP's completion: at most 100 strings. */
function toCompletionInfo({ values, total, hasMore }: Readonly<Record<string, unknown>>): CompletionInfo {
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
  const shown: string[] = [];
  let free = MAX_COMPLETION_LENGTH;
  for (const text of texts.slice(0, MAX_COMPLETION_VALUES)) {
    free -= text.length;
    if (free < 0) break;
    shown.push(text);
  }
  const more = shown.length < texts.length ? true : hasMore;
  return {
    values: shown,
    ...(typeof total === "number" && total >= 0 ? { total } : {}),
    ...(typeof more === "boolean" ? { has_more: more } : {}),
  };
}

/** Translates an entry of `resources/templates/list`; returns `undefined` for an entry without `uriTemplate`. */
function toTemplateInfo(entry: unknown, server: string): ResourceTemplateInfo | undefined {
  if (!isRecord(entry) || typeof entry["uriTemplate"] !== "string") return undefined;
  const { uriTemplate, ...rest } = entry;
  const { _meta, ...fields } = toResourceFields(rest);
  return { ...fields, uri_template: uriTemplate, _meta: { ..._meta, [A2C_MCP_SERVER]: server } };
}
