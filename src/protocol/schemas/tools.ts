import { z } from "zod";
import type { GetToolsReq, SMCPTool, ToolCallReq } from "../tools.ts";
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

export const smcpTool: z.ZodType<SMCPTool> = z.looseObject({
  name: z.string(),
  description: z.string().nullish().transform((text) => text ?? ""),
  params_schema: record,
  return_schema: optionalRecord.transform((schema) => schema ?? null),
  meta: attributes.nullish(),
});
