import * as z from "zod";
import type { DPEDocument, DPEDocumentSummary, DPEElementDetail, DPEPage, DPEPageSummary } from "../dpe.ts";
import type { GetFinderReq } from "../finder.ts";
import { computerCall, timeoutSeconds } from "./office.ts";

const count = z.int().nonnegative();

/** Peers in Python write `null` for absent members. */
function orAbsent<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return schema.nullish().transform((value) => value ?? undefined);
}

export const getFinderReq: z.ZodType<GetFinderReq> = z.looseObject({
  ...computerCall,
  keywords: orAbsent(z.array(z.string())),
  file_type: orAbsent(z.string()),
  offset: orAbsent(count),
  limit: orAbsent(count),
  timeout: timeoutSeconds,
});

/** An optional member of a wrong type counts as absent, so that the rest is kept. */
function orDropped<T>(schema: z.ZodType<T>): z.ZodType<T | undefined> {
  return schema.optional().catch(undefined);
}

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
export const dpeDocument: z.ZodType<Omit<DPEDocument, "pages"> & { pages?: unknown[] | undefined }> = z
  .looseObject({
    ...documentFields,
    pages: orDropped(z.array(z.unknown())),
    page_offset: orDropped(count),
    page_limit: orDropped(count),
    page_total: orDropped(count),
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
