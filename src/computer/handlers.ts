/** Answers each `client:*` request with the matching part of the host. Every body is parsed once, here. */
import { readWindow, renderWindow } from "../organizer/windows.ts";
import { isRecord } from "../json/json.ts";
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
import type { GetDeskTopRet, GetWindowsRet, WindowInfo } from "../protocol/desktop.ts";
import type { GetFinderRet } from "../protocol/finder.ts";
import type { OpenInputRet } from "../protocol/questions.ts";
import * as parse from "../protocol/parse.ts";
import type { GetMcpServersRet } from "../protocol/mcp_servers.ts";
import type { GetPromptRet, GetPromptsReq, GetPromptsRet } from "../protocol/prompts.ts";
import type {
  GetCompletionRet,
  GetResourceTemplatesReq,
  GetResourceTemplatesRet,
} from "../protocol/resource_templates.ts";
import type { FollowCallRet } from "../protocol/progress.ts";
import type { GetResourceUpdatesRet, SubscribeResourceRet } from "../protocol/resource_updates.ts";
import type { GetBlobRet, GetDpeRet, GetResourcesRet, ReadResourceRet } from "../protocol/resources.ts";
import type { GetSkillRet, GetSkillsRet } from "../protocol/skills.ts";
import type { PutBlobRet } from "../protocol/uploads.ts";
import { timeoutMsOf } from "../protocol/call.ts";
import { A2C_MCP_SERVER, type CallToolResult, type GetToolsRet } from "../protocol/tools.ts";
import type { EntryLists, ListedEntry } from "./offers/entry_lists.ts";
import type { McpHost } from "./host.ts";
import { MAX_CHUNK_BYTES, type OfficeBlobs } from "./office/blob_store.ts";
import type { ListItem } from "./office/list_answer.ts";
import * as reads from "./resources/read.ts";
import { resolveDocument } from "./resources/resolve_dpe.ts";
import type { ResolveDpe } from "./resources/file_resolver.ts";
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

export const HANDLERS: ReadonlyMap<string, Handle> = new Map<string, Handle>([
  [TOOL_CALL_EVENT, callTool],
  [ASK_TOOL_CALL_EVENT, askAndCallTool],
  [FOLLOW_CALL_EVENT, followCall],
  [OPEN_INPUT_EVENT, openInput],
  [ANSWER_INPUT_EVENT, answerInput],
  [GET_TOOLS_EVENT, getTools],
  [GET_CONFIG_EVENT, getConfig],
  [GET_DESKTOP_EVENT, getDesktop],
  [GET_WINDOWS_EVENT, getWindows],
  [GET_FINDER_EVENT, getFinder],
  [READ_RESOURCE_EVENT, readResource],
  [GET_RESOURCES_EVENT, getResources],
  [GET_RESOURCE_TEMPLATES_EVENT, getResourceTemplates],
  [GET_COMPLETION_EVENT, getCompletion],
  [GET_MCP_SERVERS_EVENT, getMcpServers],
  [GET_PROMPTS_EVENT, getPrompts],
  [GET_PROMPT_EVENT, getPrompt],
  [SUBSCRIBE_RESOURCE_EVENT, subscribeResource],
  [UNSUBSCRIBE_RESOURCE_EVENT, unsubscribeResource],
  [GET_RESOURCE_UPDATES_EVENT, getResourceUpdates],
  [GET_BLOB_EVENT, getBlob],
  [PUT_BLOB_EVENT, putBlob],
  [GET_DPE_EVENT, getDpe],
  [GET_SKILLS_EVENT, getSkills],
  [GET_SKILL_EVENT, getSkill],
]);

interface ConfigPart {
  readonly server?: readonly [string, MCPServerConfig];
  readonly input?: ShownInput;
}

/** The size of a blob answer without its chunk: member names, handle and request id. */
const BLOB_ENVELOPE_BYTES = 4_096;

async function callTool({ host }: HandlerScope, body: unknown): Promise<CallToolResult> {
  return await host.calls.call(parse.parseToolCallReq(body));
}

async function askAndCallTool({ host }: HandlerScope, body: unknown): Promise<CallToolResult> {
  return await host.calls.call(parse.parseToolCallReq(body), { mustAsk: true });
}

function followCall({ host }: HandlerScope, body: unknown): FollowCallRet {
  const { call, idle_timeout, req_id } = parse.parseFollowCallReq(body);
  const progress = host.calls.follow(call, idle_timeout === undefined ? undefined : idle_timeout * 1000);
  return { ...(progress === undefined ? {} : { progress }), req_id };
}

function openInput({ host }: HandlerScope, body: unknown): OpenInputRet {
  const { modes, req_id } = parse.parseOpenInputReq(body);
  return { modes: host.channel.open(modes), req_id };
}

async function answerInput({ host }: HandlerScope, body: unknown): Promise<CallToolResult> {
  return await host.channel.answer(parse.parseAnswerInputReq(body));
}

async function getTools({ host, limitBytes }: HandlerScope, body: unknown): Promise<GetToolsRet> {
  const { req_id } = parse.parseGetToolsReq(body);
  host.tools.revalidate();
  const { tools, routes } = host.tools.view;
  const items = tools.map((tool) => listItem(tool, routes.get(tool.name)?.server.name));
  return { tools: await host.lists.fit(items, { what: "tools", limitBytes, keeps: "most" }), req_id };
}

/** Servers and inputs that do not fit into the answer are left out, the largest first. */
async function getConfig(
  { host, limitBytes }: HandlerScope,
  body: unknown,
): Promise<SentComputerConfig> {
  parse.parseGetComputerConfigReq(body);
  const { servers, inputs } = host.rules.maskConfig(host.config);
  // Every server and every input has its own fair share of the answer.
  const items = [
    ...Object.entries(servers).map((server) => listItem<ConfigPart>({ server }, server[0])),
    ...inputs.map((input) => listItem<ConfigPart>({ input }, input.id)),
  ];
  const shown = await host.lists.fit(items, {
    what: "parts of the configuration",
    limitBytes,
    keeps: "most",
  });
  return {
    servers: Object.fromEntries(shown.flatMap(({ server }) => server === undefined ? [] : [server])),
    inputs: shown.flatMap(({ input }) => input === undefined ? [] : [input]),
  };
}

async function getDesktop(
  { host, limitBytes }: HandlerScope,
  body: unknown,
): Promise<GetDeskTopRet> {
  const request = parse.parseGetDeskTopReq(body);
  const { desktop_size: size, window, req_id } = request;
  const windows = await host.resources.windows({ size, window, timeoutMs: timeoutMsOf(request) });
  const items = windows.map((each) => ({
    server: each.server,
    key: each.contents ?? each,
    render: () => renderWindow(each),
  }));
  return { desktops: await host.lists.fit(items, { what: "windows", limitBytes, keeps: "first" }), req_id };
}

async function getWindows(
  { host, limitBytes }: HandlerScope,
  body: unknown,
): Promise<GetWindowsRet> {
  const request = parse.parseGetDeskTopReq(body);
  const { desktop_size: size, window, req_id } = request;
  const windows = await host.resources.windows({ size, window, timeoutMs: timeoutMsOf(request) });
  const items = windows.map((each) => {
    const { title } = each.resource;
    const named = typeof title === "string" && title !== "" ? { title } : {};
    const info: WindowInfo = { ...readWindow(each), ...named, meta: { [A2C_MCP_SERVER]: each.server } };
    return listItem(info, each.server);
  });
  return { windows: await host.lists.fit(items, { what: "windows", limitBytes, keeps: "first" }), req_id };
}

async function getFinder({ host, limitBytes }: HandlerScope, body: unknown): Promise<GetFinderRet> {
  const request = parse.parseGetFinderReq(body);
  const { keywords, file_type: fileType, offset, limit, req_id } = request;
  const timeoutMs = timeoutMsOf(request);
  const { documents, totalCount } = await host.resources.finder({
    keywords,
    fileType,
    offset,
    limit,
    timeoutMs,
  });
  const items = documents.map((document) => listItem(document, document.server));
  const shown = await host.lists.fit(items, { what: "documents", limitBytes, keeps: "first" });
  return { documents: shown, total_count: totalCount, req_id };
}

async function readResource({ host }: HandlerScope, body: unknown): Promise<ReadResourceRet> {
  const request = parse.parseReadResourceReq(body);
  return { ...await reads.readResource(request, host.resources), req_id: request.req_id };
}

async function getResources(
  { host, limitBytes }: HandlerScope,
  body: unknown,
): Promise<GetResourcesRet> {
  const request = parse.parseGetResourcesReq(body);
  const page = await reads.listResources(request, host.resources);
  const items = page.resources.map((resource) => listItem(resource, request.mcp_server));
  const resources = await host.lists.fit(items, { what: "resources", limitBytes, keeps: "first" });
  return { ...page, resources, req_id: request.req_id };
}

async function getResourceTemplates(
  { host, limitBytes }: HandlerScope,
  body: unknown,
): Promise<GetResourceTemplatesRet> {
  const request = parse.parseGetResourceTemplatesReq(body);
  const { listed, ...rest } = await listEntries(host.offers.templates, request);
  const items = listed.map(({ server, entry }) => listItem(entry, server));
  const fitted = await host.lists.fit(items, { what: "resource templates", limitBytes, keeps: "first" });
  return { resource_templates: fitted, ...rest };
}

async function getPrompts({ host, limitBytes }: HandlerScope, body: unknown): Promise<GetPromptsRet> {
  const request = parse.parseGetPromptsReq(body);
  const { listed, ...rest } = await listEntries(host.offers.prompts.lists, request);
  const items = listed.map(({ server, entry }) => listItem(entry, server));
  return { prompts: await host.lists.fit(items, { what: "prompts", limitBytes, keeps: "first" }), ...rest };
}

/** Lists the entries of all MCP servers, or one page of the named one. */
async function listEntries<T>(
  lists: EntryLists<T>,
  request: GetResourceTemplatesReq | GetPromptsReq,
): Promise<{ listed: readonly ListedEntry<T>[]; next_cursor?: string; req_id: string }> {
  const { mcp_server, cursor, req_id } = request;
  const timeoutMs = timeoutMsOf(request);
  if (mcp_server === undefined && cursor !== undefined) {
    throw badRequest("cursor", 'Cannot list from a cursor: name the server in "mcp_server"');
  }
  const { entries: listed, nextCursor } = await lists.page(mcp_server, { cursor, timeoutMs });
  return { listed, ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }), req_id };
}

async function getPrompt({ host }: HandlerScope, body: unknown): Promise<GetPromptRet> {
  const request = parse.parseGetPromptReq(body);
  return { ...await host.offers.prompts.get(request), req_id: request.req_id };
}

async function getMcpServers({ host, limitBytes }: HandlerScope, body: unknown): Promise<GetMcpServersRet> {
  const { mcp_server, req_id } = parse.parseGetMcpServersReq(body);
  const items = host.offers.describe(mcp_server).map((each) => listItem(each, each.mcp_server));
  return {
    mcp_servers: await host.lists.fit(items, { what: "MCP servers", limitBytes, keeps: "most" }),
    req_id,
  };
}

async function getCompletion({ host }: HandlerScope, body: unknown): Promise<GetCompletionRet> {
  const request = parse.parseGetCompletionReq(body);
  return { completion: await host.offers.complete(request), req_id: request.req_id };
}

async function subscribeResource({ host }: HandlerScope, body: unknown): Promise<SubscribeResourceRet> {
  const request = parse.parseSubscribeResourceReq(body);
  await host.resources.subscribe(request);
  return { req_id: request.req_id };
}

function unsubscribeResource({ host }: HandlerScope, body: unknown): SubscribeResourceRet {
  const { uri, mcp_server, req_id } = parse.parseSubscribeResourceReq(body);
  host.resources.unsubscribe(uri, mcp_server);
  return { req_id };
}

function getResourceUpdates({ host, limitBytes }: HandlerScope, body: unknown): GetResourceUpdatesRet {
  const { cursor: since, req_id } = parse.parseGetResourceUpdatesReq(body);
  const { updates, cursor, hasMore } = host.resources.updates(since, limitBytes);
  return { updates, cursor, ...(hasMore ? { has_more: true } : {}), req_id };
}

/** The chunk is as large as the request allows and the connection takes. */
function getBlob({ blobs, limitBytes }: HandlerScope, body: unknown): GetBlobRet {
  const { blob_handle: handle, chunk_offset: offset = 0, max_chunk_bytes, req_id } = parse.parseGetBlobReq(
    body,
  );
  // Base64 takes four bytes for three.
  const freeBytes = Math.floor((limitBytes - BLOB_ENVELOPE_BYTES) / 4) * 3;
  const wantedBytes = max_chunk_bytes === undefined || max_chunk_bytes <= 0
    ? MAX_CHUNK_BYTES
    : max_chunk_bytes;
  const maxBytes = Math.max(1, Math.min(wantedBytes, freeBytes));
  return { ...blobs.read({ handle, offset, maxBytes }), req_id };
}

async function putBlob({ uploads }: HandlerScope, body: unknown): Promise<PutBlobRet> {
  const { req_id } = parse.parseAgentCallData(body);
  return { ...await uploads.put(isRecord(body) ? body : {}), req_id };
}

async function getDpe({ host, resolveDpe }: HandlerScope, body: unknown): Promise<GetDpeRet> {
  const request = parse.parseGetDpeReq(body);
  const { routes } = host.resources;
  return { resource: await resolveDocument(request, { resolveDpe, routes }), req_id: request.req_id };
}

async function getSkills({ host, limitBytes }: HandlerScope, body: unknown): Promise<GetSkillsRet> {
  const { req_id } = parse.parseAgentCallData(body);
  const { skills } = await host.skills.list();
  const items = skills.map((skill) => listItem(skill, skill.source));
  return { skills: await host.lists.fit(items, { what: "skills", limitBytes, keeps: "most" }), req_id };
}

async function getSkill({ host, blobs, limitBytes }: HandlerScope, body: unknown): Promise<GetSkillRet> {
  const { req_id, ...request } = parse.parseGetSkillReq(body);
  return { ...await host.skills.get(request, { blobs, limitBytes }), req_id };
}

function listItem<T extends object>(value: T, server: string = ""): ListItem<T> {
  return { server, key: value, render: () => value };
}
