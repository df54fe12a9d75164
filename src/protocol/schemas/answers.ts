/** The schemas of answers, and of the entries in them. */
import * as z from "zod";
import { isRecord } from "../../json/json.ts";
import { type InputRequired, type OpenInputRet, QUESTION_MODES } from "../questions.ts";
import type { GetBlobRet, GetDpeRet } from "../resources.ts";
import type { Attributes, AttributeValue, SMCPTool } from "../tools.ts";
import type { PutBlobRet } from "../uploads.ts";
import { optional, withoutBytes } from "./schema.ts";

const text = z.string();
const optionalText = optional(text);
const count = z.int().nonnegative();
const record = z.record(z.string(), z.unknown());

/** Whether a value is allowed in flat metadata: not nested, or a list of strings. */
export function isAttribute(value: unknown): value is AttributeValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return typeof value !== "object" || value === null;
}

/** Stops at the first invalid member: to report 100,000 members takes most of a second. */
const attributes = z.custom<Attributes>(isRecord, "expected an object").superRefine((members, context) => {
  for (const key in members) {
    if (isAttribute(members[key])) continue;
    context.addIssue({
      code: "custom",
      path: [key],
      message: "expected a text, number, boolean or list of texts",
    });
    return;
  }
});

export const smcpTool: z.ZodType<SMCPTool> = z.looseObject({
  name: text,
  description: text.nullish().transform((description) => description ?? ""),
  params_schema: record,
  return_schema: record.nullish().transform((schema) => schema ?? null),
  meta: attributes.nullish(),
});

export const openInputRet: z.ZodType<OpenInputRet> = z.looseObject({
  modes: z.array(text).transform((modes) => QUESTION_MODES.filter((mode) => modes.includes(mode))),
  req_id: text.optional(),
});

const question = { state: text.min(1), message: text, expires_in_ms: z.number().positive() };

export const inputRequired: z.ZodType<InputRequired> = z.discriminatedUnion("mode", [
  z.looseObject({ ...question, mode: z.literal("form"), schema: record }),
  z.looseObject({ ...question, mode: z.literal("url"), url: text }),
  z.looseObject({ ...question, mode: z.literal("approval") }),
  z.looseObject({ ...question, mode: z.literal("wait") }),
]);

export const getDpeRet: z.ZodType<GetDpeRet> = z.looseObject({
  resource: withoutBytes(z.looseObject({
    uri: text,
    mime_type: optionalText,
    size: optional(z.number()),
    etag: optionalText,
  })),
  req_id: text.catch(""),
});

export const getBlobRet: z.ZodType<GetBlobRet> = z.looseObject({
  blob_handle: text,
  mime_type: optionalText,
  total_size: count,
  sha256: text,
  chunk_offset: count,
  eof: z.boolean(),
  blob: text,
  req_id: text.optional(),
});

export const putBlobRet: z.ZodType<PutBlobRet> = z.looseObject({
  upload_id: text.min(1),
  chunk_offset: count.optional(),
  landing_path: optionalText,
  total_size: optional(z.int()),
  sha256: optionalText,
  req_id: text.optional(),
});
