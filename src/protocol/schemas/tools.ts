import { z } from "zod";
import type {
  CallToolResult,
  ContentItem,
  GetToolsReq,
  GetToolsRet,
  SMCPTool,
  ToolCallReq,
} from "../tools.ts";
import { computerCall, timeoutSeconds } from "./office.ts";

const record = z.record(z.string(), z.unknown());

/** `null` and absent are the same to us; peers send either. */
const optionalRecord = record.nullish();

export const toolCallReq: z.ZodType<ToolCallReq> = z.looseObject({
  ...computerCall,
  tool_name: z.string().min(1),
  params: record,
  timeout: timeoutSeconds.optional(),
});

export const getToolsReq: z.ZodType<GetToolsReq> = z.looseObject(computerCall);

const attributes = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]),
);

const smcpTool: z.ZodType<SMCPTool> = z.looseObject({
  name: z.string(),
  description: z.string().nullish().transform((text) => text ?? ""),
  params_schema: record,
  return_schema: optionalRecord.transform((schema) => schema ?? null),
  meta: attributes.nullish(),
});

export const getToolsRet: z.ZodType<GetToolsRet> = z.looseObject({
  tools: z.array(smcpTool),
  req_id: z.string(),
});

/** Newer and older peers spell an item's metadata `meta`; ours is MCP's `_meta`. */
const contentItem: z.ZodType<ContentItem> = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  data: z.string().optional(),
  mimeType: z.string().optional(),
  uri: z.string().optional(),
  resource: record.optional(),
  annotations: optionalRecord,
  _meta: optionalRecord,
  meta: optionalRecord,
}).transform(({ meta, _meta, ...item }) => {
  const own = _meta ?? meta;
  return own === undefined ? item : { ...item, _meta: own };
});

export const callToolResult: z.ZodType<CallToolResult> = z.looseObject({
  content: z.array(contentItem),
  structuredContent: optionalRecord,
  isError: z.boolean().nullish().transform((isError) => isError ?? false),
  meta: optionalRecord,
  _meta: optionalRecord,
}).transform(({ meta, _meta, ...result }) => {
  const own = meta ?? _meta;
  return own === undefined ? result : { ...result, meta: own };
});
