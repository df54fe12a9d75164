import * as z from "zod";
import type {
  GetBlobReq,
  GetBlobRet,
  GetDpeReq,
  GetDpeRet,
  GetResourcesReq,
  ReadResourceReq,
} from "../resources.ts";
import type { GetCompletionReq, GetResourceTemplatesReq } from "../resource_templates.ts";
import type { GetResourceUpdatesReq, SubscribeResourceReq } from "../resource_updates.ts";
import type { GetSkillReq } from "../skills.ts";
import type { PutBlobRet } from "../uploads.ts";
import { computerCall, timeoutSeconds } from "./office.ts";

/** The members of every request to a Computer that may have a time limit. */
export const timed = { ...computerCall, timeout: timeoutSeconds };

const MAX_HANDLE_LENGTH = 8_192;
/** The most characters of the path of a file in a skill: a blob handle of such a file holds it. */
const MAX_SKILL_PATH_LENGTH = 1_024;
const MAX_SKILL_NAME_LENGTH = 1_024;

/** The most characters of a subscribed URI, which stays in memory. */
const MAX_SUBSCRIBED_URI_LENGTH = 2_048;
const MAX_TEMPLATE_LENGTH = 8_192;
const MAX_PROMPT_NAME_LENGTH = 1_024;
const MAX_ARGUMENT_LENGTH = 65_536;

const optionalInteger = z.int().nullish().transform((value) => value ?? undefined);

/** Peers in Python write `null` for absent members. */
export const optionalText: z.ZodType<string | undefined> = z.string().nullish().transform((text) =>
  text ?? undefined
);

export const readResourceReq: z.ZodType<ReadResourceReq> = z.looseObject({
  ...timed,
  uri: z.string().min(1),
  mcp_server: optionalText,
});

export const getResourcesReq: z.ZodType<GetResourcesReq> = z.looseObject({
  ...timed,
  mcp_server: z.string().min(1),
  cursor: optionalText,
});

export const getResourceTemplatesReq: z.ZodType<GetResourceTemplatesReq> = z.looseObject({
  ...timed,
  mcp_server: optionalText,
  cursor: optionalText,
});

export const promptName: z.ZodString = z.string().min(1).max(MAX_PROMPT_NAME_LENGTH);

export const argumentText: z.ZodString = z.string().max(MAX_ARGUMENT_LENGTH);

/** Bytes become nothing: a schema of an object would look at each byte as a member. */
function withoutBytes(value: unknown): unknown {
  return ArrayBuffer.isView(value) ? undefined : value;
}

export const getCompletionReq: z.ZodType<GetCompletionReq> = z.looseObject({
  ...timed,
  mcp_server: optionalText,
  ref: z.preprocess(
    withoutBytes,
    z.union([
      z.looseObject({ uri: z.string().min(1).max(MAX_TEMPLATE_LENGTH) }),
      z.looseObject({ prompt: promptName }),
    ]),
  ),
  argument: z.preprocess(withoutBytes, z.looseObject({ name: argumentText.min(1), value: argumentText })),
  context: z.preprocess(
    withoutBytes,
    z.looseObject({
      arguments: z.record(z.string(), argumentText).nullish().transform((value) => value ?? {}),
    }).nullish().transform((value) => value ?? undefined),
  ),
});

export const subscribeResourceReq: z.ZodType<SubscribeResourceReq> = z.looseObject({
  ...timed,
  uri: z.string().min(1).max(MAX_SUBSCRIBED_URI_LENGTH),
  mcp_server: optionalText,
});

export const getResourceUpdatesReq: z.ZodType<GetResourceUpdatesReq> = z.looseObject({
  ...timed,
  cursor: optionalText,
});

export const getDpeReq: z.ZodType<GetDpeReq> = z.looseObject({ ...timed, uri: z.string() });

export const getDpeRet: z.ZodType<GetDpeRet> = z.looseObject({
  resource: z.preprocess(
    withoutBytes,
    z.looseObject({
      uri: z.string(),
      mime_type: optionalText,
      size: z.number().nullish().transform((size) => size ?? undefined),
      etag: optionalText,
    }),
  ),
  req_id: z.string().catch(""),
});

export const getBlobReq: z.ZodType<GetBlobReq> = z.looseObject({
  ...timed,
  blob_handle: z.string().min(1).max(MAX_HANDLE_LENGTH),
  chunk_offset: optionalInteger,
  max_chunk_bytes: optionalInteger,
});

export const getBlobRet: z.ZodType<GetBlobRet> = z.looseObject({
  blob_handle: z.string(),
  mime_type: optionalText,
  total_size: z.int().nonnegative(),
  sha256: z.string(),
  chunk_offset: z.int().nonnegative(),
  eof: z.boolean(),
  blob: z.string(),
  req_id: z.string().optional(),
});

export const putBlobRet: z.ZodType<PutBlobRet> = z.looseObject({
  upload_id: z.string().min(1),
  chunk_offset: z.int().nonnegative().optional(),
  landing_path: optionalText,
  total_size: optionalInteger,
  sha256: optionalText,
  req_id: z.string().optional(),
});

export const getSkillReq: z.ZodType<GetSkillReq> = z.looseObject({
  ...timed,
  name: z.string().max(MAX_SKILL_NAME_LENGTH),
  rel_path: z.string().max(MAX_SKILL_PATH_LENGTH).nullish().transform((path) => path ?? undefined),
});
