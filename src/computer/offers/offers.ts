/**
 * What MCP servers offer beside tools, windows and documents: what they say about themselves, templates, prompts
 * (`docs/protocol/extensions.md`).
 */
import { fitsApproximately, isRecord, textsOf } from "../../json/json.ts";
import type { CompletionRef } from "../../mcp/connection.ts";
import type { SupervisedServer } from "../../mcp/supervision/supervised_server.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { McpServerAbout, McpServerInfo } from "../../protocol/mcp_servers.ts";
import {
  type CompletionInfo,
  type GetCompletionReq,
  MAX_COMPLETION_VALUES,
  type ResourceTemplateInfo,
} from "../../protocol/resource_templates.ts";
import { timeoutMsOf } from "../../protocol/call.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import { shorten } from "../../text/text.ts";
import { EntryLists } from "./entry_lists.ts";
import { Prompts, type PromptsContext } from "./prompts.ts";
import { ask, isIcon, toResourceFields } from "../resources/read.ts";
import { withCapability } from "../resources/route.ts";

const MAX_COMPLETION_LENGTH = 256 * 1024;
const MAX_TEXT_LENGTH = 4_096;
const MAX_INSTRUCTIONS_LENGTH = 65_536;
/** The most bytes of the icons of a server, and of its capabilities; larger ones are left out. */
const MAX_PART_BYTES = 64 * 1024;

export interface ServerOffersContext extends PromptsContext {
  readonly toolNames: () => ReadonlyMap<string, readonly string[]>;
}

export type CompletionRequest = Omit<GetCompletionReq, "agent" | "req_id" | "computer">;

export class ServerOffers {
  readonly templates: EntryLists<ResourceTemplateInfo>;
  readonly prompts: Prompts;
  readonly #context: ServerOffersContext;

  constructor(context: ServerOffersContext) {
    this.#context = context;
    this.templates = new EntryLists({
      ...context,
      kind: "templates",
      capability: "resources",
      what: "resource templates",
      toEntry: toTemplateInfo,
    });
    this.prompts = new Prompts(context);
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
   * Suggests values for a parameter of a template or of a prompt (`client:get_completion`).
   *
   * @throws {SmcpError} 4014, 4015 with the capability `completions`, 4201, 404 or 400 when no server is found, 500 when
   *   its answer has no values; otherwise as `client:get_resources` is answered.
   */
  async complete(request: CompletionRequest): Promise<CompletionInfo> {
    const { ref, mcp_server: mcpServer } = request;
    const wanted = { mcpServer, timeoutMs: timeoutMsOf(request) };
    if ("uri" in ref) {
      const server = await this.#context.routes.findTemplate(ref.uri, wanted);
      return await completeAt(server, { type: "ref/resource", uri: ref.uri }, request);
    }
    const server = await this.prompts.find({ name: ref.prompt, ...wanted });
    const named = { type: "ref/prompt", name: ref.prompt } as const;
    return await completeAt(withCapability(server, "completions"), named, request);
  }
}

/** Describes a server: its status, and while it runs what it said when its session began. */
function describeServer(server: SupervisedServer, options: ServerOffersContext): McpServerInfo {
  const { name, status, connection } = server;
  if (connection === undefined) return { mcp_server: name, status };
  const { version, serverInfo, instructions, capabilities } = connection.introduction;
  const describe = { ...options, name };
  return {
    mcp_server: name,
    status,
    mcp_version: version,
    ...(isRecord(serverInfo) ? { server_info: toAbout(serverInfo, describe) } : {}),
    ...(typeof instructions === "string" && instructions !== "" ? cut(instructions, describe) : {}),
    ...(fits(capabilities, "capabilities", describe) ? { capabilities } : {}),
  };
}

type Describe = ServerOffersContext & { readonly name: string };

function cut(
  instructions: string,
  { redact, warnOnce, name: server }: Describe,
): Pick<McpServerInfo, "instructions" | "instructions_cut"> {
  const shown = redact(instructions);
  const limit = MAX_INSTRUCTIONS_LENGTH;
  if (shown.length <= limit) return { instructions: shown };
  warnOnce.warn("instructions of an MCP server are cut: too long", { server, length: shown.length, limit });
  return { instructions: shorten(shown, limit), instructions_cut: true };
}

function toAbout(about: Readonly<Record<string, unknown>>, options: Describe): McpServerAbout {
  const { name, title, version, description, websiteUrl: website_url, icons } = about;
  const texts = textsOf({ name, title, version, description, website_url });
  const shown = Object.entries(texts).map(([key, text]) => [
    key,
    shorten(options.redact(text), MAX_TEXT_LENGTH),
  ]);
  const listed = Array.isArray(icons) ? icons.filter(isIcon) : [];
  const hasIcons = listed.length > 0 && fits(listed, "icons", options);
  return { ...Object.fromEntries(shown), ...(hasIcons ? { icons: listed } : {}) };
}

function fits(part: unknown, what: string, { warnOnce, name: server }: Describe): boolean {
  if (fitsApproximately(part, MAX_PART_BYTES)) return true;
  warnOnce.warn(`${what} of an MCP server are left out: too large`, { server, limit: MAX_PART_BYTES });
  return false;
}

/** Translates an entry of `resources/templates/list`; returns `undefined` for an entry without `uriTemplate`. */
function toTemplateInfo(entry: unknown, server: string): ResourceTemplateInfo | undefined {
  if (!isRecord(entry) || typeof entry["uriTemplate"] !== "string") return undefined;
  const { uriTemplate, ...rest } = entry;
  const { _meta, ...fields } = toResourceFields(rest);
  return { ...fields, uri_template: uriTemplate, _meta: { ..._meta, [A2C_MCP_SERVER]: server } };
}

async function completeAt(
  server: SupervisedServer,
  ref: CompletionRef,
  request: CompletionRequest,
): Promise<CompletionInfo> {
  const { argument, context: chosen } = request;
  const timeoutMs = timeoutMsOf(request);
  const wanted = {
    ref,
    argument: { name: argument.name, value: argument.value },
    context: chosen && { arguments: chosen.arguments },
  };
  const { completion } = await ask({ server }, (connection) => connection.complete(wanted, { timeoutMs }));
  if (isRecord(completion) && Array.isArray(completion["values"])) return toCompletionInfo(completion);
  const mcp_server = server.name;
  const message = `MCP server "${mcp_server}" failed: its answer has no completion`;
  throw new SmcpError(ErrorCode.INTERNAL_ERROR, message, { details: { mcp_server } });
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
