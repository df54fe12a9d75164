/** Parses the requests to a Computer. Unknown keys are kept. */
import * as z from "zod";
import { hasProto } from "../json/json.ts";
import type { GetComputerConfigReq } from "./config.ts";
import type { GetDeskTopReq } from "./desktop.ts";
import type { GetFinderReq } from "./finder.ts";
import type { GetMcpServersReq } from "./mcp_servers.ts";
import { computerCall, requestId, timed, timeout } from "./office_requests.ts";
import type { FollowCallReq } from "./progress.ts";
import type { GetPromptReq, GetPromptsReq } from "./prompts.ts";
import type { AnswerInputReq, OpenInputReq } from "./questions.ts";
import type { GetCompletionReq, GetResourceTemplatesReq } from "./resource_templates.ts";
import type { GetResourceUpdatesReq, SubscribeResourceReq } from "./resource_updates.ts";
import type { GetBlobReq, GetDpeReq, GetResourcesReq, ReadResourceReq } from "./resources.ts";
import { optional, type Parser, parserOf, withoutBytes } from "./schemas/schema.ts";
import type { GetSkillReq } from "./skills.ts";
import type { GetToolsReq, ToolCallReq } from "./tools.ts";

/** The most characters of a subscribed URI, which stays in memory. */
const MAX_SUBSCRIBED_URI_LENGTH = 2_048;
const MAX_TEMPLATE_LENGTH = 8_192;
const MAX_HANDLE_LENGTH = 8_192;
const MAX_PROMPT_NAME_LENGTH = 1_024;
const MAX_SKILL_NAME_LENGTH = 1_024;
/** The most characters of the path of a file in a skill: a blob handle of such a file holds it. */
const MAX_SKILL_PATH_LENGTH = 1_024;
const MAX_ARGUMENT_LENGTH = 65_536;
const MAX_MODES = 32;
const MAX_STATE_LENGTH = 1_024;

const text = z.string().min(1);
const optionalText = optional(z.string());
const optionalCount = optional(z.int().nonnegative());
const optionalInteger = optional(z.int());
const withoutProto = z.unknown().refine(
  (members) => !hasProto(members, 1),
  'no member may be named "__proto__"',
);
const record = withoutProto.pipe(z.record(z.string(), z.unknown()));

/** A request to one MCP server, or to all. */
const toServer = { ...timed, mcp_server: optionalText };
// Tools and questions

export const parseGetToolsReq: Parser<GetToolsReq> = parserOf("GetToolsReq", z.looseObject(computerCall));
export const parseGetComputerConfigReq: Parser<GetComputerConfigReq> = parserOf(
  "GetComputerConfigReq",
  z.looseObject(computerCall),
);
export const parseToolCallReq: Parser<ToolCallReq> = parserOf(
  "ToolCallReq",
  z.looseObject({ ...timed, tool_name: text, params: record }),
);
export const parseFollowCallReq: Parser<FollowCallReq> = parserOf(
  "FollowCallReq",
  z.looseObject({ ...timed, call: requestId, idle_timeout: timeout }),
);
export const parseOpenInputReq: Parser<OpenInputReq> = parserOf(
  "OpenInputReq",
  z.looseObject({ ...computerCall, modes: z.array(z.string()).max(MAX_MODES) }),
);
export const parseAnswerInputReq: Parser<AnswerInputReq> = parserOf(
  "AnswerInputReq",
  z.looseObject({
    ...timed,
    state: text.max(MAX_STATE_LENGTH),
    action: z.enum(["accept", "decline", "cancel"]),
    asked: z.boolean().optional(),
    content: record.optional(),
  }),
);

// Desktop, Finder and resources

export const parseGetDeskTopReq: Parser<GetDeskTopReq> = parserOf(
  "GetDeskTopReq",
  z.looseObject({ ...timed, desktop_size: optionalInteger, window: optionalText }),
);
export const parseGetFinderReq: Parser<GetFinderReq> = parserOf(
  "GetFinderReq",
  z.looseObject({
    ...timed,
    keywords: optional(z.array(z.string())),
    file_type: optionalText,
    query: optionalText,
    offset: optionalCount,
    limit: optionalCount,
  }),
);
export const parseReadResourceReq: Parser<ReadResourceReq> = parserOf(
  "ReadResourceReq",
  z.looseObject({ ...toServer, uri: text }),
);
export const parseGetResourcesReq: Parser<GetResourcesReq> = parserOf(
  "GetResourcesReq",
  z.looseObject({ ...timed, mcp_server: text, cursor: optionalText }),
);
export const parseGetResourceTemplatesReq: Parser<GetResourceTemplatesReq> = parserOf(
  "GetResourceTemplatesReq",
  z.looseObject({ ...toServer, cursor: optionalText }),
);
export const parseSubscribeResourceReq: Parser<SubscribeResourceReq> = parserOf(
  "SubscribeResourceReq",
  z.looseObject({ ...toServer, uri: text.max(MAX_SUBSCRIBED_URI_LENGTH) }),
);
export const parseGetResourceUpdatesReq: Parser<GetResourceUpdatesReq> = parserOf(
  "GetResourceUpdatesReq",
  z.looseObject({ ...timed, cursor: optionalText }),
);
export const parseGetDpeReq: Parser<GetDpeReq> = parserOf(
  "GetDpeReq",
  z.looseObject({ ...timed, uri: z.string() }),
);
export const parseGetBlobReq: Parser<GetBlobReq> = parserOf(
  "GetBlobReq",
  z.looseObject({
    ...timed,
    blob_handle: text.max(MAX_HANDLE_LENGTH),
    chunk_offset: optionalInteger,
    max_chunk_bytes: optionalInteger,
  }),
);

// MCP servers, prompts and skills

const promptName = text.max(MAX_PROMPT_NAME_LENGTH);
const argumentText = z.string().max(MAX_ARGUMENT_LENGTH);
const argumentTexts = optional(withoutProto.pipe(z.record(z.string(), argumentText)));

export const parseGetMcpServersReq: Parser<GetMcpServersReq> = parserOf(
  "GetMcpServersReq",
  z.looseObject(toServer),
);
export const parseGetPromptsReq: Parser<GetPromptsReq> = parserOf(
  "GetPromptsReq",
  z.looseObject({ ...toServer, cursor: optionalText }),
);
export const parseGetPromptReq: Parser<GetPromptReq> = parserOf(
  "GetPromptReq",
  z.looseObject({ ...toServer, name: promptName, arguments: argumentTexts }),
);
export const parseGetCompletionReq: Parser<GetCompletionReq> = parserOf(
  "GetCompletionReq",
  z.looseObject({
    ...toServer,
    ref: withoutBytes(z.union([
      z.looseObject({ uri: text.max(MAX_TEMPLATE_LENGTH) }),
      z.looseObject({ prompt: promptName }),
    ])),
    argument: withoutBytes(z.looseObject({ name: argumentText.min(1), value: argumentText })),
    context: withoutBytes(optional(
      z.looseObject({ arguments: argumentTexts.transform((texts) => texts ?? {}) }),
    )),
  }),
);
export const parseGetSkillReq: Parser<GetSkillReq> = parserOf(
  "GetSkillReq",
  z.looseObject({
    ...timed,
    name: z.string().max(MAX_SKILL_NAME_LENGTH),
    rel_path: optional(z.string().max(MAX_SKILL_PATH_LENGTH)),
  }),
);
