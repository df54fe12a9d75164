/** The templates of resources that MCP servers offer, and suggestions for their parameters (`docs/protocol/finder.md#document-templates`, `docs/protocol/finder.md#completion`). */
import { settledWithin } from "../../async/abortable.ts";
import type { McpConnection } from "../../mcp/connection.ts";
import type { Fleet } from "../../mcp/supervision/fleet.ts";
import type { SupervisedServer } from "../../mcp/supervision/server.ts";
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
import { toReadError } from "../failures.ts";
import { namedServer, type RouteContext, routeTemplate } from "./route.ts";
import { toResourceFields } from "./info.ts";

/** The most bytes that the suggestions of one answer take. */
const MAX_COMPLETION_BYTES = 256 * 1024;

/** A template and the MCP server that it belongs to. */
export interface ListedTemplate {
  readonly server: string;
  readonly template: ResourceTemplateInfo;
}

/** What listing templates needs. */
export interface ResourceTemplatesContext {
  readonly fleet: Fleet;
  readonly limits: ReadLimits & ListLimits;
  /** An Agent may ask as often as it likes. */
  readonly warnOnce: WarnOnce;
}

/** Lists templates; of one server no more than one list is under way, however many ask. */
export class ResourceTemplates {
  readonly #context: ResourceTemplatesContext;
  readonly #listing = new Map<SupervisedServer, Promise<readonly ListedTemplate[]>>();

  constructor(context: ResourceTemplatesContext) {
    this.#context = context;
  }

  /** The templates of all servers in order of precedence. One that fails, or is late, costs its own. */
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
   * One page of a server's list.
   *
   * @throws {SmcpError} as `client:get_resources` is answered.
   */
  async page(
    name: string,
    { cursor, timeoutMs }: { readonly cursor?: string | undefined; readonly timeoutMs: number },
  ): Promise<{ readonly templates: ListedTemplate[]; readonly nextCursor: string | undefined }> {
    const server = namedServer(name, this.#context);
    const { entries, nextCursor } = await asked(
      server,
      (connection) => connection.listTemplatesPage(cursor, { timeoutMs }),
    );
    return { templates: this.#read(server, entries), nextCursor };
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

  /** One bad entry costs that entry; what is too much is left out. */
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
      warnOnce.warn(
        "resource templates are left out: too many, too large, or without a URI template",
        fields,
      );
    }
    return templates;
  }
}

/**
 * `client:get_completion`: suggestions for a parameter of a template.
 *
 * @throws {SmcpError} 4014, 4015 with the capability `completions`, 4201, 404 or 400 when no server is found; else as
 * `client:get_resources` is answered.
 */
export async function completeTemplate(
  request: Omit<GetCompletionReq, "agent" | "req_id" | "computer">,
  context: RouteContext,
): Promise<CompletionInfo> {
  const { ref, argument, context: chosen } = request;
  const server = await routeTemplate(request, context);
  const { completion } = await asked(server, (connection) =>
    connection.complete({
      uri: ref.uri,
      argument: { name: argument.name, value: argument.value },
      context: chosen && { arguments: chosen.arguments },
    }, { timeoutMs: timeoutMsOf(request) }));
  if (isRecord(completion) && Array.isArray(completion["values"])) return toCompletionInfo(completion);
  const mcp_server = server.name;
  throw new SmcpError(
    ErrorCode.INTERNAL_ERROR,
    `MCP server "${mcp_server}" failed: it answers no completion`,
    { details: { mcp_server } },
  );
}

/** As MCP has it: texts, and no more than 100. */
function toCompletionInfo({ values, total, hasMore }: Readonly<Record<string, unknown>>): CompletionInfo {
  const texts = Array.isArray(values) ? values.filter((value) => typeof value === "string") : [];
  const shown: string[] = [];
  let roomBytes = MAX_COMPLETION_BYTES;
  for (const text of texts.slice(0, MAX_COMPLETION_VALUES)) {
    roomBytes -= text.length;
    if (roomBytes < 0) break;
    shown.push(text);
  }
  const more = shown.length < texts.length ? true : hasMore;
  return {
    values: shown,
    ...(typeof total === "number" && total >= 0 ? { total } : {}),
    ...(typeof more === "boolean" ? { has_more: more } : {}),
  };
}

/** An entry of `resources/templates/list` as this wire spells it; `undefined` for one without a URI template. */
function toTemplateInfo(entry: unknown, server: string): ResourceTemplateInfo | undefined {
  if (!isRecord(entry) || typeof entry["uriTemplate"] !== "string") return undefined;
  const { uriTemplate, ...rest } = entry;
  const { _meta, ...fields } = toResourceFields(rest);
  return { ...fields, uri_template: uriTemplate, _meta: { ..._meta, [A2C_MCP_SERVER]: server } };
}

async function asked<T>(
  server: SupervisedServer,
  request: (connection: McpConnection) => Promise<T>,
): Promise<T> {
  try {
    return await server.use(request);
  } catch (error) {
    throw toReadError(error, { server });
  }
}
