/** Reads the answers of any peer about MCP servers and prompts: an invalid entry is left out, unknown keys are kept. */
import { isRecord, textsOf } from "../json/json.ts";
import {
  type AnswerReader,
  ignoreFlaws,
  listOf,
  type ReadEntry,
  readList,
  readNextCursor,
  toBody,
  withoutNulls,
} from "./flaws.ts";
import type { GetMcpServersRet, McpServerInfo } from "./mcp_servers.ts";
import type { GetPromptRet, GetPromptsRet, PromptArgument, PromptInfo, PromptMessage } from "./prompts.ts";
import { readContentItem } from "./tool_result.ts";

type Json = Readonly<Record<string, unknown>>;

export const parseGetMcpServersRet: AnswerReader<GetMcpServersRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetMcpServersRet";
  const body = toBody(what, answer);
  return { ...body, mcp_servers: listOf(body, { what, field: "mcp_servers", read: readServer, onFlaw }) };
};

const readServer: ReadEntry<McpServerInfo> = (entry, tell) => {
  const { mcp_server, status, tools, instructions, mcp_version, server_info, capabilities, ...rest } =
    isRecord(entry) ? withoutNulls(entry) : {};
  if (typeof mcp_server !== "string") return void tell("left out, no mcp_server");
  if (typeof status !== "string") tell("repaired, status: expected a string");
  return {
    ...rest,
    mcp_server,
    status: typeof status === "string" ? status : "unknown",
    ...(Array.isArray(tools) ? { tools: tools.filter((tool) => typeof tool === "string") } : {}),
    ...textsOf({ mcp_version, instructions }),
    ...(isRecord(server_info) ? { server_info: readAbout(server_info) } : {}),
    ...(isRecord(capabilities) ? { capabilities } : {}),
  };
};

const ABOUT_TEXTS = ["name", "title", "version", "description", "website_url"] as const;

/** Removes members of a wrong type. */
function readAbout(about: Json): Json {
  const { icons, ...rest } = withoutNulls(about);
  const texts = Object.fromEntries(ABOUT_TEXTS.map((key) => [key, rest[key]]));
  const others = Object.entries(rest).filter(([key]) => !(key in texts));
  return { ...Object.fromEntries(others), ...textsOf(texts), ...iconsOf(icons) };
}

export const parseGetPromptsRet: AnswerReader<GetPromptsRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetPromptsRet";
  const { next_cursor, ...body } = toBody(what, answer);
  const prompts = listOf(body, { what, field: "prompts", read: readPrompt, onFlaw });
  return { ...body, prompts, ...readNextCursor(next_cursor, onFlaw) };
};

const readPrompt: ReadEntry<PromptInfo> = (entry, tell) => {
  const { name, title, description, arguments: args, icons, ...rest } = isRecord(entry)
    ? withoutNulls(entry)
    : {};
  if (typeof name !== "string") return void tell("left out, no name");
  const list = Array.isArray(args) ? args : [];
  const onFlaw = (field: string, what: string) => tell(`${field} ${what}`);
  return {
    ...rest,
    name,
    ...textsOf({ title, description }),
    ...(list.length === 0
      ? {}
      : { arguments: readList(list, { field: "arguments", read: readArgument, onFlaw }) }),
    ...iconsOf(icons),
  };
};

const readArgument: ReadEntry<PromptArgument> = (entry, tell) => {
  const { name, title, description, required, ...rest } = isRecord(entry) ? withoutNulls(entry) : {};
  if (typeof name !== "string") return void tell("left out, no name");
  return {
    ...rest,
    name,
    ...textsOf({ title, description }),
    ...(typeof required === "boolean" ? { required } : {}),
  };
};

export const parseGetPromptRet: AnswerReader<GetPromptRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetPromptRet";
  const { description, ...body } = withoutNulls(toBody(what, answer));
  const messages = listOf(body, { what, field: "messages", read: readMessage, onFlaw });
  return { ...body, ...textsOf({ description }), messages };
};

/** A message of an unknown role counts as the user's; content of an unknown type is kept as it is. */
const readMessage: ReadEntry<PromptMessage> = (entry, tell) => {
  if (!isRecord(entry)) return void tell("left out, expected an object");
  const { role, content, ...rest } = entry;
  if (role !== "user" && role !== "assistant") tell("repaired, role: expected user or assistant");
  const onFlaw = (_field: string, what: string) => tell(`content ${what}`);
  return {
    ...rest,
    role: role === "assistant" ? role : "user",
    content: readContentItem(content, { index: 0, onFlaw }),
  };
};

function iconsOf(icons: unknown): { icons?: { src: string }[] } {
  if (!Array.isArray(icons)) return {};
  return {
    icons: icons.filter((icon): icon is { src: string } => isRecord(icon) && typeof icon["src"] === "string"),
  };
}
