/** Reads the answers of any peer to an Agent's requests: an invalid entry is left out, and unknown keys are kept. */
import type { GetComputerConfigRet, MCPServerConfig, MCPServerInput } from "./config.ts";
import type { GetDeskTopRet, GetWindowsRet, WindowInfo } from "./desktop.ts";
import { documentSummary } from "./dpe_answers.ts";
import { isRecord } from "../json/json.ts";
import type { GetFinderRet } from "./finder.ts";
import {
  type AnswerReader,
  ignoreFlaws,
  listOf,
  type OnFlaw,
  type ReadEntry,
  readList,
  readNextCursor,
  readWith,
  reqIdOf,
  toBody,
  withoutNulls,
} from "./flaws.ts";
import type {
  GetBlobRet,
  GetDpeRet,
  GetResourcesRet,
  ReadResourceRet,
  ResourceContents,
  ResourceInfo,
} from "./resources.ts";
import {
  type CompletionInfo,
  type GetCompletionRet,
  type GetResourceTemplatesRet,
  MAX_COMPLETION_VALUES,
  type ResourceTemplateInfo,
} from "./resource_templates.ts";
import type { FollowCallRet } from "./progress.ts";
import type { InputRequired, OpenInputRet } from "./questions.ts";
import type { GetResourceUpdatesRet, ResourceUpdate } from "./resource_updates.ts";
import type { PutBlobRet } from "./uploads.ts";
import { parserOf } from "./schemas/schema.ts";
import { unreadable } from "./errors.ts";
import * as config from "./schemas/config.ts";
import * as schemas from "./schemas/answers.ts";
import { shorten } from "../text/text.ts";
import type { GetToolsRet, SMCPTool } from "./tools.ts";

export const parseGetToolsRet: AnswerReader<GetToolsRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetToolsRet";
  const body = toBody(what, answer);
  return {
    ...body,
    tools: listOf(body, { what, field: "tools", read: readTool, onFlaw }),
    req_id: reqIdOf(body),
  };
};

/** Only the name of a tool is required: a tool with an invalid schema or invalid metadata can still be called. */
const readAnyTool = readWith(schemas.smcpTool, (tool) => ({
  ...tool,
  description: typeof tool["description"] === "string" ? tool["description"] : "",
  params_schema: isRecord(tool["params_schema"]) ? tool["params_schema"] : { type: "object" },
  return_schema: isRecord(tool["return_schema"]) ? tool["return_schema"] : null,
  meta: isRecord(tool["meta"]) ? flat(tool["meta"]) : {},
}));

/** A tool without a usable identity of its MCP server is read like one of protocol 0.2. */
const readTool: ReadEntry<SMCPTool> = (entry, tell) => {
  const tool = readAnyTool(entry, tell);
  if (tool === undefined || !("bundle_id" in tool)) return tool;
  const { bundle_id, ...rest }: Omit<SMCPTool, "bundle_id"> & { readonly bundle_id?: unknown } = tool;
  if (typeof bundle_id === "string") return tool;
  if (bundle_id !== null) tell("repaired, bundle_id: expected a string");
  return rest;
};

/** Metadata is flat: nested values become JSON strings, as our Computer sends them. */
function flat(meta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(meta).map((
      [key, value],
    ) => [key, schemas.isAttribute(value) ? value : JSON.stringify(value)]),
  );
}

export const parseGetComputerConfigRet: AnswerReader<GetComputerConfigRet> = (
  answer,
  onFlaw = ignoreFlaws,
) => {
  const what = "GetComputerConfigRet";
  const { inputs, servers, ...rest } = toBody(what, answer);
  if (!isRecord(servers)) throw unreadable(what, "servers", "expected an object");
  const read = readList(Object.entries(servers), {
    field: "servers",
    read: readServer,
    onFlaw,
    keyOf: ([name]) => name,
  });
  return { ...rest, servers: Object.fromEntries(read), ...readInputs(inputs, onFlaw) };
};

/** Some peers omit `name`, because the key has it. */
const readServer: ReadEntry<[string, MCPServerConfig], [string, unknown]> = ([name, server], tell) => {
  if (!isRecord(server)) return void tell("left out, expected an object");
  const config = readServerConfig({ ...server, name: server["name"] ?? name }, tell);
  return config === undefined ? undefined : [name, config];
};

/** Members that are null get their default, and a transport gets the name that the specification has for it. */
const readServerConfig = readWith(config.serverConfig, (server) => {
  const { type, server_parameters: parameters, ...rest } = withoutNulls(server);
  return {
    ...rest,
    type: typeOf(type),
    server_parameters: isRecord(parameters) ? withoutNulls(parameters) : parameters,
  };
});

/** The types that the Rust SDK writes, by the names of its variants, in lower case. */
const TYPES_OF_RUST: Readonly<Record<string, string>> = {
  stdio: "stdio",
  sse: "sse",
  http: "streamable",
  promptstring: "promptString",
  pickstring: "pickString",
  command: "command",
};

function typeOf(type: unknown): unknown {
  return typeof type === "string" ? TYPES_OF_RUST[type.toLowerCase()] ?? type : type;
}

const readInput = readWith(
  config.input,
  (input) => ({ ...withoutNulls(input), type: typeOf(input["type"]) }),
);

function readInputs(inputs: unknown, onFlaw: OnFlaw): { inputs?: MCPServerInput[] | null } {
  if (inputs === undefined || inputs === null) return inputs === null ? { inputs } : {};
  if (Array.isArray(inputs)) {
    return { inputs: readList(inputs, { field: "inputs", read: readInput, onFlaw }) };
  }
  onFlaw("inputs", "left out, expected a list");
  return {};
}

export const parseGetDeskTopRet: AnswerReader<GetDeskTopRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetDeskTopRet";
  const body = toBody(what, answer);
  return { ...body, desktops: listOf(body, { what, field: "desktops", read: readText, onFlaw }) };
};

const readText: ReadEntry<string> = (entry, tell) =>
  typeof entry === "string" ? entry : void tell("left out, expected a string");

export const parseGetWindowsRet: AnswerReader<GetWindowsRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetWindowsRet";
  const body = toBody(what, answer);
  return { ...body, windows: listOf(body, { what, field: "windows", read: readWindowInfo, onFlaw }) };
};

const readWindowInfo: ReadEntry<WindowInfo> = (entry, tell) => {
  const { uri, text, title, meta, ...rest } = isRecord(entry) ? entry : {};
  if (typeof uri !== "string") return void tell("left out, no uri");
  if (typeof text !== "string") tell("repaired, text: expected a string");
  return {
    ...rest,
    uri,
    text: typeof text === "string" ? text : "",
    ...(typeof title === "string" ? { title } : {}),
    ...(isRecord(meta) ? { meta } : {}),
  };
};

export const parseGetFinderRet: AnswerReader<GetFinderRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetFinderRet";
  const { total_count, not_indexed, notice, ...rest } = toBody(what, answer);
  const body = {
    ...rest,
    ...(isCount(not_indexed) ? { not_indexed } : {}),
    ...(typeof notice === "string" ? { notice } : {}),
  };
  const documents = listOf(body, {
    what,
    field: "documents",
    read: readWith(documentSummary),
    onFlaw,
  });
  if (isCount(total_count)) return { ...body, documents, total_count };
  onFlaw("total_count", "left out, expected a count");
  return { ...body, documents };
};

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export const parseReadResourceRet: AnswerReader<ReadResourceRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "ReadResourceResult";
  const body = toBody(what, answer);
  return { ...body, contents: listOf(body, { what, field: "contents", read: readContents, onFlaw }) };
};

/** An item without a URI is kept, with an empty one. */
const readContents: ReadEntry<ResourceContents> = (entry, tell) => {
  if (!isRecord(entry)) return void tell("left out, expected an object");
  const { uri, mimeType, text, blob, ...rest } = withoutNulls(entry);
  const wrong = Object.entries({ uri: uri ?? 0, mimeType, text, blob }).filter(([, value]) =>
    value !== undefined && typeof value !== "string"
  );
  if (wrong.length > 0) tell(`repaired, ${wrong.map(([key]) => key).join(", ")}: expected a string`);
  return {
    ...rest,
    uri: typeof uri === "string" ? uri : "",
    ...(typeof mimeType === "string" ? { mimeType } : {}),
    ...(typeof text === "string" ? { text } : {}),
    ...(typeof blob === "string" ? { blob } : {}),
  };
};

export const parseGetResourcesRet: AnswerReader<GetResourcesRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetResourcesRet";
  const { next_cursor, ...body } = toBody(what, answer);
  const list = listOf(body, { what, field: "resources", read: readResourceInfo, onFlaw });
  return { ...body, resources: list, ...readNextCursor(next_cursor, onFlaw) };
};

const readResourceInfo: ReadEntry<ResourceInfo> = (entry, tell) => {
  const uri = isRecord(entry) ? entry["uri"] : undefined;
  if (!isRecord(entry) || typeof uri !== "string") return void tell("left out, no uri");
  return { ...withAnnotations(entry), uri };
};

/** The official SDKs write `last_modified` in annotations, MCP `lastModified` (`docs/protocol/data-structures.md#resourceinfo`). */
function withAnnotations(entry: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { annotations, ...rest } = withoutNulls(entry);
  if (!isRecord(annotations)) return rest;
  const { last_modified, ...known } = withoutNulls(annotations);
  const lastModified = known["lastModified"] ?? last_modified;
  return { ...rest, annotations: lastModified === undefined ? known : { ...known, lastModified } };
}

export const parseGetResourceTemplatesRet: AnswerReader<GetResourceTemplatesRet> = (
  answer,
  onFlaw = ignoreFlaws,
) => {
  const what = "GetResourceTemplatesRet";
  const { next_cursor, ...body } = toBody(what, answer);
  const list = listOf(body, { what, field: "resource_templates", read: readTemplateInfo, onFlaw });
  return { ...body, resource_templates: list, ...readNextCursor(next_cursor, onFlaw) };
};

const readTemplateInfo: ReadEntry<ResourceTemplateInfo> = (entry, tell) => {
  const uri_template = isRecord(entry) ? entry["uri_template"] : undefined;
  if (!isRecord(entry) || typeof uri_template !== "string") return void tell("left out, no uri_template");
  return { ...withAnnotations(entry), uri_template };
};

export const parseGetCompletionRet: AnswerReader<GetCompletionRet> = (answer, onFlaw = ignoreFlaws) => {
  const what = "GetCompletionRet";
  const body = toBody(what, answer);
  if (!isRecord(body["completion"])) throw unreadable(what, "completion", "expected an object");
  return { ...body, completion: readCompletion(body["completion"], { what, onFlaw }) };
};

function readCompletion(
  completion: Readonly<Record<string, unknown>>,
  { what, onFlaw }: { readonly what: string; readonly onFlaw: OnFlaw },
): CompletionInfo {
  const { total, has_more } = completion;
  const values = listOf(completion, { what, field: "values", read: readText, onFlaw });
  const excess = values.length - MAX_COMPLETION_VALUES;
  if (excess > 0) onFlaw("values", `${excess} left out, at most ${MAX_COMPLETION_VALUES} are allowed`);
  const hasMore = excess > 0 ? true : has_more;
  return {
    values: values.slice(0, MAX_COMPLETION_VALUES),
    ...(isCount(total) ? { total } : {}),
    ...(typeof hasMore === "boolean" ? { has_more: hasMore } : {}),
  };
}

/** Reads the answer to `client:subscribe_resource` and `client:unsubscribe_resource`: any object. */
export const parseSubscribeResourceRet: AnswerReader<void> = (answer) =>
  void toBody("SubscribeResourceRet", answer);

export const parseOpenInputRet: AnswerReader<OpenInputRet> = parserOf("OpenInputRet", schemas.openInputRet);

export const parseInputRequired: AnswerReader<InputRequired> = parserOf(
  "a2c_input_required",
  schemas.inputRequired,
);

export const parseGetResourceUpdatesRet: AnswerReader<GetResourceUpdatesRet> = (
  answer,
  onFlaw = ignoreFlaws,
) => {
  const what = "GetResourceUpdatesRet";
  const { cursor, has_more, ...body } = toBody(what, answer);
  if (typeof cursor !== "string") throw unreadable(what, "cursor", "expected a string");
  const updates = listOf(body, { what, field: "updates", read: readUpdate, onFlaw });
  return { ...body, updates, cursor, ...(has_more === true ? { has_more } : {}) };
};

const readUpdate: ReadEntry<ResourceUpdate> = (entry, tell) => {
  const { mcp_server, uri } = isRecord(entry) ? entry : {};
  if (typeof mcp_server !== "string") return void tell("left out, no mcp_server");
  return typeof uri === "string" ? { mcp_server, uri } : { mcp_server };
};

/** How much of the text of a progress is read, in characters; a Computer sends no more. */
const MAX_PROGRESS_LENGTH = 1_000;

/** Reads the answer to `client:follow_call`. Progress of a wrong shape is left out. */
export const parseFollowCallRet: AnswerReader<FollowCallRet> = (answer, onFlaw = ignoreFlaws) => {
  const { progress: entry, ...body } = toBody("FollowCallRet", answer);
  if (entry === undefined || entry === null) return body;
  const { progress, total, message } = isRecord(entry) ? entry : {};
  if (typeof progress !== "number") {
    onFlaw("progress", "left out, not a number");
    return body;
  }
  return {
    ...body,
    progress: {
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message: shorten(message, MAX_PROGRESS_LENGTH) } : {}),
    },
  };
};

export const parseGetDpeRet: AnswerReader<GetDpeRet> = parserOf("GetDpeRet", schemas.getDpeRet);
/** Reads the answer to `client:get_blob`. Every member is required, because invalid bytes are useless. */
export const parseGetBlobRet: AnswerReader<GetBlobRet> = parserOf("GetBlobRet", schemas.getBlobRet);
export const parsePutBlobRet: AnswerReader<PutBlobRet> = parserOf("PutBlobRet", schemas.putBlobRet);
