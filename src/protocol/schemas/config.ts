import { z } from "zod";
import type {
  GetComputerConfigReq,
  GetComputerConfigRet,
  MCPServerConfig,
  MCPServerInput,
} from "../config.ts";
import type { ToolMeta } from "../tools.ts";
import { computerCall } from "./office.ts";

const record = z.record(z.string(), z.unknown());
const texts = z.record(z.string(), z.string());

export const getComputerConfigReq: z.ZodType<GetComputerConfigReq> = z.looseObject(computerCall);

export const toolMeta: z.ZodType<ToolMeta> = z.looseObject({
  auto_apply: z.boolean().nullish(),
  ret_object_mapper: record.nullish(),
  alias: z.string().min(1).nullish(),
  tags: z.array(z.string()).nullish(),
});

/** What all servers share. Absent means the default, so a hand-written file may leave it out. */
const base = {
  name: z.string().min(1),
  disabled: z.boolean().default(false),
  forbidden_tools: z.array(z.string()).default([]),
  tool_meta: z.record(z.string(), toolMeta).default({}),
  default_tool_meta: toolMeta.nullish(),
  vrl: z.string().nullish(),
};

const stdio = z.looseObject({
  ...base,
  type: z.literal("stdio"),
  server_parameters: z.looseObject({
    command: z.string().min(1),
    args: z.array(z.string()).default([]),
    env: texts.nullable().default(null),
    cwd: z.string().nullable().default(null),
    encoding: z.string().default("utf-8"),
    encoding_error_handler: z.enum(["strict", "ignore", "replace"]).default("strict"),
  }),
});

const streamable = z.looseObject({
  ...base,
  type: z.literal("streamable"),
  server_parameters: z.looseObject({
    url: z.string().min(1),
    headers: record.nullable().default(null),
    timeout: z.string().default("PT30S"),
    sse_read_timeout: z.string().default("PT5M"),
    terminate_on_close: z.boolean().default(true),
  }),
});

const sse = z.looseObject({
  ...base,
  type: z.literal("sse"),
  server_parameters: z.looseObject({
    url: z.string().min(1),
    headers: record.nullable().default(null),
    timeout: z.number().positive().default(5),
    sse_read_timeout: z.number().positive().default(300),
  }),
});

export const mcpServerConfig: z.ZodType<MCPServerConfig> = z.discriminatedUnion("type", [
  stdio,
  streamable,
  sse,
]);

const inputBase = { id: z.string().min(1), description: z.string().default("") };

/** From protocol 0.3.2 on an option is `{ label, value }`; before that a string. */
const option = z.union([
  z.string(),
  z.looseObject({ value: z.string() }).transform(({ value }) => value),
]);

export const mcpServerInput: z.ZodType<MCPServerInput> = z.discriminatedUnion("type", [
  z.looseObject({
    ...inputBase,
    type: z.literal("promptString"),
    default: z.string().nullish(),
    password: z.boolean().nullish(),
  }),
  z.looseObject({
    ...inputBase,
    type: z.literal("pickString"),
    options: z.array(option).min(1),
    default: z.string().nullish(),
  }),
  z.looseObject({
    ...inputBase,
    type: z.literal("command"),
    command: z.string().min(1),
    args: texts.nullish(),
  }),
]);

export const getComputerConfigRet: z.ZodType<GetComputerConfigRet> = z.looseObject({
  inputs: z.array(mcpServerInput).nullish(),
  servers: z.record(z.string(), mcpServerConfig),
});
