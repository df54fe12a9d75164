/** Reads documents, pages and elements of any MCP server: an invalid entry is left out, unknown keys are kept. */
import * as z from "zod";
import { isRecord } from "../json/json.ts";
import type { DPEDocument, DPEDocumentSummary, DPEElementDetail, DPEPage, DPEPageSummary } from "./dpe.ts";
import { type AnswerReader, ignoreFlaws, readList, readWith } from "./flaws.ts";
import { parserOf } from "./schemas/schema.ts";

const count = z.int().nonnegative();

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

const dpeDocument: z.ZodType<Omit<DPEDocument, "pages"> & { pages?: unknown[] | undefined }> = z
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

const dpeElement: z.ZodType<DPEElementDetail> = z.looseObject({
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
const dpePage: z.ZodType<Omit<DPEPage, "elements"> & { elements: unknown[] }> = z.looseObject({
  page_index: count,
  title: z.string(),
  doc_ref: orDropped(z.string()),
  uri: orDropped(z.string()),
  elements: z.array(z.unknown()),
  element_count: orDropped(count),
  content_markdown: orDropped(z.string()),
  content_text: orDropped(z.string()),
});

export const parseDpeDocument: AnswerReader<DPEDocument> = (answer, onFlaw = ignoreFlaws) => {
  const { pages, ...document } = parserOf("document", dpeDocument)(answer);
  if (pages === undefined) return document;
  return {
    ...document,
    pages: readList(pages, { field: "pages", read: readWith(pageSummary), onFlaw }),
  };
};

export const parseDpePage: AnswerReader<DPEPage> = (answer, onFlaw = ignoreFlaws) => {
  const untitled = isRecord(answer) && typeof answer["title"] !== "string";
  if (untitled) onFlaw("title", "repaired, expected a string");
  const { elements, ...page } = parserOf("page", dpePage)(
    untitled ? { ...answer, title: "" } : answer,
  );
  return {
    ...page,
    elements: readList(elements, { field: "elements", read: readWith(dpeElement), onFlaw }),
  };
};

export const parseDpeElement: AnswerReader<DPEElementDetail> = parserOf("element", dpeElement);
