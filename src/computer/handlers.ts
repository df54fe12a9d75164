/** Answers each `client:*` request with the matching part of the host. Every body is parsed once, here. */
import { readWindow, renderWindow } from "../organizer/windows.ts";
import { badRequest } from "../protocol/errors.ts";
import {
  ANSWER_INPUT_EVENT,
  ASK_TOOL_CALL_EVENT,
  FOLLOW_CALL_EVENT,
  GET_BLOB_EVENT,
  GET_COMPLETION_EVENT,
  GET_CONFIG_EVENT,
  GET_DESKTOP_EVENT,
  GET_DPE_EVENT,
  GET_FINDER_EVENT,
  GET_MCP_SERVERS_EVENT,
  GET_PROMPT_EVENT,
  GET_PROMPTS_EVENT,
  GET_RESOURCE_TEMPLATES_EVENT,
  GET_RESOURCE_UPDATES_EVENT,
  GET_RESOURCES_EVENT,
  GET_SKILL_EVENT,
  GET_SKILLS_EVENT,
  GET_TOOLS_EVENT,
  GET_WINDOWS_EVENT,
  OPEN_INPUT_EVENT,
  PUT_BLOB_EVENT,
  READ_RESOURCE_EVENT,
  SUBSCRIBE_RESOURCE_EVENT,
  TOOL_CALL_EVENT,
  UNSUBSCRIBE_RESOURCE_EVENT,
} from "../protocol/events.ts";
import type { MCPServerConfig, SentComputerConfig, ShownInput } from "../protocol/config.ts";
import type { GetDeskTopReq, GetDeskTopRet, GetWindowsRet, WindowInfo } from "../protocol/desktop.ts";
import type { GetFinderReq, GetFinderRet } from "../protocol/finder.ts";
import { parseAgentCallData } from "../protocol/office_requests.ts";
import * as parse from "../protocol/parse.ts";
import type { GetMcpServersReq, GetMcpServersRet, McpServerInfo } from "../protocol/mcp_servers.ts";
import type { GetPromptsReq, GetPromptsRet } from "../protocol/prompts.ts";
import type {
  GetCompletionRet,
  GetResourceTemplatesReq,
  GetResourceTemplatesRet,
} from "../protocol/resource_templates.ts";
import type { FollowCallReq, FollowCallRet } from "../protocol/progress.ts";
import type { GetResourceUpdatesReq, GetResourceUpdatesRet } from "../protocol/resource_updates.ts";
import type {
  GetBlobReq,
  GetBlobRet,
  GetDpeRet,
  GetResourcesReq,
  GetResourcesRet,
} from "../protocol/resources.ts";
import type { GetSkillsRet, SkillRef } from "../protocol/skills.ts";
import { timeoutMsOf } from "../protocol/call.ts";
import { A2C_MCP_SERVER, type GetToolsRet, type SMCPTool } from "../protocol/tools.ts";
import type { EntryLists } from "./offers/entry_lists.ts";
import type { McpHost } from "./host.ts";
import { MAX_CHUNK_BYTES, type OfficeBlobs } from "./office/blob_store.ts";
import * as reads from "./resources/read.ts";
import { resolveDocument, type ResolveDpe } from "./resources/resolve_dpe.ts";
import type { Uploads } from "./uploads/uploads.ts";

export interface HandlerScope {
  readonly host: McpHost;
  readonly resolveDpe: ResolveDpe | undefined;
  readonly uploads: Uploads;
  /** The blobs of the office that sent the request. */
  readonly blobs: OfficeBlobs;
  readonly limitBytes: number;
}

/** Turns the body of a request into its answer; throws {@linkcode SmcpError} for an error answer. */
export type Handle = (scope: HandlerScope, body: unknown) => unknown;

/** What a request is answered with, beside its `req_id`. */
type Answer<T> = Promise<Omit<T, "req_id">>;

/** Answers a request by its event under its own `req_id`. */
function under<R extends { readonly req_id: string }>(
  parseRequest: (body: unknown) => R,
  answer: (scope: HandlerScope, request: R) => object | Promise<object>,
): Handle {
  return async (scope, body) => {
    const request = parseRequest(body);
    return { ...await answer(scope, request), req_id: request.req_id };
  };
}

export const HANDLERS: ReadonlyMap<string, Handle> = new Map<string, Handle>([
  [TOOL_CALL_EVENT, ({ host }, body) => host.calls.call(parse.parseToolCallReq(body))],
  [ASK_TOOL_CALL_EVENT, ({ host }, body) => host.calls.call(parse.parseToolCallReq(body), { mustAsk: true })],
  [ANSWER_INPUT_EVENT, ({ host }, body) => host.channel.answer(parse.parseAnswerInputReq(body))],
  [FOLLOW_CALL_EVENT, under(parse.parseFollowCallReq, followCall)],
  [
    OPEN_INPUT_EVENT,
    under(parse.parseOpenInputReq, ({ host }, { modes }) => ({ modes: host.channel.open(modes) })),
  ],
  [GET_TOOLS_EVENT, under(parse.parseGetToolsReq, getTools)],
  [GET_CONFIG_EVENT, getConfig],
  [GET_DESKTOP_EVENT, under(parse.parseGetDeskTopReq, getDesktop)],
  [GET_WINDOWS_EVENT, under(parse.parseGetDeskTopReq, getWindows)],
  [GET_FINDER_EVENT, under(parse.parseGetFinderReq, getFinder)],
  [
    READ_RESOURCE_EVENT,
    under(parse.parseReadResourceReq, ({ host }, request) => reads.readResource(request, host.resources)),
  ],
  [GET_RESOURCES_EVENT, under(parse.parseGetResourcesReq, getResources)],
  [GET_RESOURCE_TEMPLATES_EVENT, under(parse.parseGetResourceTemplatesReq, getResourceTemplates)],
  [
    GET_COMPLETION_EVENT,
    under(
      parse.parseGetCompletionReq,
      async ({ host }, request): Answer<GetCompletionRet> => ({
        completion: await host.offers.complete(request),
      }),
    ),
  ],
  [GET_MCP_SERVERS_EVENT, under(parse.parseGetMcpServersReq, getMcpServers)],
  [GET_PROMPTS_EVENT, under(parse.parseGetPromptsReq, getPrompts)],
  [GET_PROMPT_EVENT, under(parse.parseGetPromptReq, ({ host }, request) => host.offers.prompts.get(request))],
  [
    SUBSCRIBE_RESOURCE_EVENT,
    under(parse.parseSubscribeResourceReq, async ({ host }, request) => {
      await host.resources.subscribe(request);
      return {};
    }),
  ],
  [
    UNSUBSCRIBE_RESOURCE_EVENT,
    under(parse.parseSubscribeResourceReq, ({ host }, { uri, mcp_server }) => {
      host.resources.unsubscribe(uri, mcp_server);
      return {};
    }),
  ],
  [GET_RESOURCE_UPDATES_EVENT, under(parse.parseGetResourceUpdatesReq, getResourceUpdates)],
  [GET_BLOB_EVENT, under(parse.parseGetBlobReq, getBlob)],
  [PUT_BLOB_EVENT, under(parseAgentCallData, ({ uploads }, request) => uploads.put({ ...request }))],
  [
    GET_DPE_EVENT,
    under(
      parse.parseGetDpeReq,
      async ({ host: { resources: { routes } }, resolveDpe }, request): Answer<GetDpeRet> => ({
        resource: await resolveDocument(request, { resolveDpe, routes }),
      }),
    ),
  ],
  [GET_SKILLS_EVENT, under(parseAgentCallData, getSkills)],
  [
    GET_SKILL_EVENT,
    under(
      parse.parseGetSkillReq,
      ({ host, blobs, limitBytes }, request) => host.skills.get(request, { blobs, limitBytes }),
    ),
  ],
]);

/**
 * What is served while the owner has paused the Computer: what only says what there is, and what serves calls that run. A
 * new call gets a result that says so.
 */
export const SERVED_WHILE_PAUSED: ReadonlySet<string> = new Set([
  TOOL_CALL_EVENT,
  ASK_TOOL_CALL_EVENT,
  ANSWER_INPUT_EVENT,
  FOLLOW_CALL_EVENT,
  OPEN_INPUT_EVENT,
  GET_TOOLS_EVENT,
  GET_CONFIG_EVENT,
  GET_MCP_SERVERS_EVENT,
  UNSUBSCRIBE_RESOURCE_EVENT,
  GET_BLOB_EVENT,
]);

/** The size of a blob answer without its chunk: member names, handle and request id. */
const BLOB_ENVELOPE_BYTES = 4_096;

function followCall(
  { host }: HandlerScope,
  { call, idle_timeout }: FollowCallReq,
): Omit<FollowCallRet, "req_id"> {
  const progress = host.calls.follow(call, idle_timeout === undefined ? undefined : idle_timeout * 1000);
  return progress === undefined ? {} : { progress };
}

/** As many of the values as the answer has room for; each MCP server has its share. */
function fit<T extends object>(
  { host, limitBytes }: HandlerScope,
  what: string,
  values: readonly T[],
  { serverOf, keeps = "first" }: {
    readonly serverOf: (value: T) => string | undefined;
    readonly keeps?: "first" | "most";
  },
): Promise<T[]> {
  const items = values.map((value) => ({ server: serverOf(value) ?? "", key: value, render: () => value }));
  return host.lists.fit(items, { what, limitBytes, keeps });
}

async function getTools(scope: HandlerScope): Answer<GetToolsRet> {
  const { tools } = scope.host;
  tools.revalidate();
  const { view } = tools;
  const serverOf = ({ name }: SMCPTool) => view.routes.get(name)?.server.name;
  return { tools: await fit(scope, "tools", view.tools, { serverOf, keeps: "most" }) };
}

/** Servers and inputs that do not fit into the answer are left out, the largest first. */
async function getConfig(scope: HandlerScope, body: unknown): Promise<SentComputerConfig> {
  parse.parseGetComputerConfigReq(body);
  const { servers, inputs } = scope.host.rules.maskConfig(scope.host.config);
  // Every server and every input has its own fair share of the answer.
  const parts: readonly ConfigPart[] = [
    ...Object.entries(servers).map((server) => ({ name: server[0], server })),
    ...inputs.map((input) => ({ name: input.id, input })),
  ];
  const serverOf = ({ name }: ConfigPart) => name;
  const shown = await fit(scope, "parts of the configuration", parts, { serverOf, keeps: "most" });
  return {
    servers: Object.fromEntries(shown.flatMap(({ server }) => server === undefined ? [] : [server])),
    inputs: shown.flatMap(({ input }) => input === undefined ? [] : [input]),
  };
}

interface ConfigPart {
  readonly name: string;
  readonly server?: readonly [string, MCPServerConfig];
  readonly input?: ShownInput;
}

async function getDesktop({ host, limitBytes }: HandlerScope, request: GetDeskTopReq): Answer<GetDeskTopRet> {
  const items = (await windowsOf(host, request)).map((each) => ({
    server: each.server,
    key: each.contents ?? each,
    render: () => renderWindow(each),
  }));
  return { desktops: await host.lists.fit(items, { what: "windows", limitBytes, keeps: "first" }) };
}

async function getWindows(scope: HandlerScope, request: GetDeskTopReq): Answer<GetWindowsRet> {
  const servers = new Map((await windowsOf(scope.host, request)).map((each): [WindowInfo, string] => {
    const { title } = each.resource;
    const named = typeof title === "string" && title !== "" ? { title } : {};
    return [{ ...readWindow(each), ...named, meta: { [A2C_MCP_SERVER]: each.server } }, each.server];
  }));
  return {
    windows: await fit(scope, "windows", [...servers.keys()], { serverOf: (each) => servers.get(each) }),
  };
}

function windowsOf(host: McpHost, request: GetDeskTopReq) {
  const { desktop_size: size, window } = request;
  return host.resources.windows({ size, window, timeoutMs: timeoutMsOf(request) });
}

async function getFinder(scope: HandlerScope, request: GetFinderReq): Answer<GetFinderRet> {
  const { keywords, file_type: fileType, query, offset, limit } = request;
  const asked = { keywords, fileType, query, offset, limit, timeoutMs: timeoutMsOf(request) };
  const { documents, totalCount, notIndexed = 0, notice } = await scope.host.resources.finder(asked);
  const shown = await fit(scope, "documents", documents, { serverOf: ({ server }) => server });
  return {
    documents: shown,
    total_count: totalCount,
    ...(notIndexed === 0 ? {} : { not_indexed: notIndexed }),
    ...(notice === undefined ? {} : { notice }),
  };
}

async function getResources(scope: HandlerScope, request: GetResourcesReq): Answer<GetResourcesRet> {
  const page = await reads.listResources(request, scope.host.resources);
  const serverOf = () => request.mcp_server;
  return { ...page, resources: await fit(scope, "resources", page.resources, { serverOf }) };
}

async function getResourceTemplates(
  scope: HandlerScope,
  request: GetResourceTemplatesReq,
): Answer<GetResourceTemplatesRet> {
  const { listed, ...rest } = await listEntries(scope, {
    what: "resource templates",
    lists: scope.host.offers.templates,
    request,
  });
  return { resource_templates: listed, ...rest };
}

async function getPrompts(scope: HandlerScope, request: GetPromptsReq): Answer<GetPromptsRet> {
  const { listed, ...rest } = await listEntries(scope, {
    what: "prompts",
    lists: scope.host.offers.prompts.lists,
    request,
  });
  return { prompts: listed, ...rest };
}

/** Lists the entries of all MCP servers, or one page of the named one. */
async function listEntries<T extends object>(
  { host, limitBytes }: HandlerScope,
  { what, lists, request }: {
    readonly what: string;
    readonly lists: EntryLists<T>;
    readonly request: GetResourceTemplatesReq | GetPromptsReq;
  },
): Promise<{ listed: T[]; next_cursor?: string }> {
  const { mcp_server, cursor } = request;
  if (mcp_server === undefined && cursor !== undefined) {
    throw badRequest("cursor", 'Cannot list from a cursor: name the server in "mcp_server"');
  }
  const page = await lists.page(mcp_server, { cursor, timeoutMs: timeoutMsOf(request) });
  const items = page.entries.map(({ server, entry }) => ({ server, key: entry, render: () => entry }));
  const listed = await host.lists.fit(items, { what, limitBytes, keeps: "first" });
  return { listed, ...(page.nextCursor === undefined ? {} : { next_cursor: page.nextCursor }) };
}

async function getMcpServers(scope: HandlerScope, request: GetMcpServersReq): Answer<GetMcpServersRet> {
  const { isPaused } = scope.host.calls.owner;
  const all = scope.host.offers.describe(request.mcp_server)
    .map((each) => isPaused ? { ...each, paused: true } : each);
  const serverOf = ({ mcp_server }: McpServerInfo) => mcp_server;
  return { mcp_servers: await fit(scope, "MCP servers", all, { serverOf, keeps: "most" }) };
}

function getResourceUpdates(
  { host, limitBytes }: HandlerScope,
  request: GetResourceUpdatesReq,
): Omit<GetResourceUpdatesRet, "req_id"> {
  const { updates, cursor, hasMore } = host.resources.updates(request.cursor, limitBytes);
  return { updates, cursor, ...(hasMore ? { has_more: true } : {}) };
}

/** The chunk is as large as the request allows and the connection takes. What was read is not given on in a pause. */
function getBlob(
  { host, blobs, limitBytes }: HandlerScope,
  request: GetBlobReq,
): Omit<GetBlobRet, "req_id"> {
  const { blob_handle: handle, chunk_offset: offset = 0, max_chunk_bytes: wanted = 0 } = request;
  if (blobs.isOfReads(handle)) host.calls.owner.assertNotPaused();
  // Base64 takes four bytes for three.
  const freeBytes = Math.floor((limitBytes - BLOB_ENVELOPE_BYTES) / 4) * 3;
  const maxBytes = Math.max(1, Math.min(wanted > 0 ? wanted : MAX_CHUNK_BYTES, freeBytes));
  return blobs.read({ handle, offset, maxBytes });
}

async function getSkills(scope: HandlerScope): Answer<GetSkillsRet> {
  const { skills } = await scope.host.skills.list();
  const serverOf = ({ source }: SkillRef) => source;
  return { skills: await fit(scope, "skills", skills, { serverOf, keeps: "most" }) };
}
