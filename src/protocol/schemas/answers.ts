/** The schemas of answers, and of the entries in them. */
import * as z from "zod";
import { isRecord } from "../../json/json.ts";
import type { DPEDocument, DPEDocumentSummary, DPEElementDetail, DPEPage, DPEPageSummary } from "../dpe.ts";
import type { SessionInfo } from "../office.ts";
import { type InputRequired, type OpenInputRet, QUESTION_MODES } from "../questions.ts";
import type { GetBlobRet, GetDpeRet } from "../resources.ts";
import type { Attributes, AttributeValue, SMCPTool } from "../tools.ts";
import type { PutBlobRet } from "../uploads.ts";
import { optional, withoutBytes } from "./schema.ts";

const text = z.string();
const optionalText = optional(text);
const count = z.int().nonnegative();
const record = z.record(z.string(), z.unknown());

export const sessionInfo: z.ZodType<SessionInfo> = z.looseObject({
  sid: text,
  name: text,
  role: z.enum(["computer", "agent"]),
  office_id: text,
  a2c_version: text.nullish(),
}).transform(({ a2c_version, ...session }) =>
  typeof a2c_version === "string" ? { ...session, a2c_version } : session
);

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

/** An optional member of a wrong type counts as absent, so that the rest is kept. */
function orDropped<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return schema.optional().catch(undefined);
}

const hit = z.looseObject({
  page_index: count,
  title: orDropped(z.string()),
  element_id: orDropped(z.string()),
  uri: z.string(),
  snippet: z.string(),
});

/** The metadata of a document, from its MCP server. */
const documentFields = {
  doc_ref: z.string().min(1),
  uri: z.string(),
  file_uri: z.string(),
  file_type: z.string(),
  title: z.string(),
  page_count: count,
  keywords: orDropped(z.array(z.string())),
  summary: orDropped(z.string()),
  last_modified: orDropped(z.string()),
  hits: orDropped(z.array(hit)),
};

export const documentSummary: z.ZodType<DPEDocumentSummary> = z.looseObject({
  ...documentFields,
  server: z.string(),
});

export const pageSummary: z.ZodType<DPEPageSummary> = z.looseObject({
  page_index: count,
  title: z.string(),
  element_count: count,
  uri: z.string(),
  doc_ref: orDropped(z.string()),
});

/** Without the schema of `pages`, which are read one by one. */
const outlineEntry = z.looseObject({
  title: z.string(),
  level: count,
  page_index: count,
  section_count: orDropped(count),
});

export const dpeDocument: z.ZodType<Omit<DPEDocument, "pages"> & { pages?: unknown[] | undefined }> = z
  .looseObject({
    ...documentFields,
    pages: orDropped(z.array(z.unknown())),
    page_offset: orDropped(count),
    page_limit: orDropped(count),
    page_total: orDropped(count),
    metadata: orDropped(z.record(z.string(), z.unknown())),
    outline: orDropped(z.array(outlineEntry)),
    hit_count: orDropped(count),
    not_indexed: orDropped(count),
    notice: orDropped(z.string()),
  });

export const dpeElement: z.ZodType<DPEElementDetail> = z.looseObject({
  element_id: z.string(),
  category: z.string(),
  summary: orDropped(z.string()),
  content: z.record(z.string(), z.unknown()),
  doc_ref: orDropped(z.string()),
  page_index: orDropped(count),
  uri: orDropped(z.string()),
  metadata: orDropped(z.record(z.string(), z.unknown())),
  content_markdown: orDropped(z.string()),
  content_text: orDropped(z.string()),
});

/** Without the schema of `elements`, which are read one by one. */
export const dpePage: z.ZodType<Omit<DPEPage, "elements"> & { elements: unknown[] }> = z.looseObject({
  page_index: count,
  title: z.string(),
  doc_ref: orDropped(z.string()),
  uri: orDropped(z.string()),
  elements: z.array(z.unknown()),
  element_count: orDropped(count),
  content_markdown: orDropped(z.string()),
  content_text: orDropped(z.string()),
});
