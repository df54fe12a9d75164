import * as z from "zod";
import type { GetMcpServersReq } from "../mcp_servers.ts";
import type { GetPromptReq, GetPromptsReq } from "../prompts.ts";
import { argumentText, optionalText, promptName, timed } from "./resources.ts";

export const getMcpServersReq: z.ZodType<GetMcpServersReq> = z.looseObject({
  ...timed,
  mcp_server: optionalText,
});

export const getPromptsReq: z.ZodType<GetPromptsReq> = z.looseObject({
  ...timed,
  mcp_server: optionalText,
  cursor: optionalText,
});

export const getPromptReq: z.ZodType<GetPromptReq> = z.looseObject({
  ...timed,
  mcp_server: optionalText,
  name: promptName,
  arguments: z.record(z.string(), argumentText).nullish().transform((value) => value ?? undefined),
});
