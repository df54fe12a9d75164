import * as z from "zod";
import { isRecord } from "../../json/json.ts";
import type { Attributes, AttributeValue, GetToolsReq, SMCPTool, ToolCallReq } from "../tools.ts";
import { computerCall, timeoutSeconds } from "./office.ts";

const record = z.record(z.string(), z.unknown());

/** `null` means absent; peers send either. */
const optionalRecord = record.nullish();

export const toolCallReq: z.ZodType<ToolCallReq> = z.looseObject({
  ...computerCall,
  tool_name: z.string().min(1),
  params: record,
  timeout: timeoutSeconds,
});

export const getToolsReq: z.ZodType<GetToolsReq> = z.looseObject(computerCall);

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
  name: z.string(),
  description: z.string().nullish().transform((text) => text ?? ""),
  params_schema: record,
  return_schema: optionalRecord.transform((schema) => schema ?? null),
  meta: attributes.nullish(),
});
