/** The tools of an office for the AI SDK of Vercel. */
import type { Json, McpTool, McpToolResult } from "../../local_tools/mcp.ts";
import { type ModelContent, toModelContent } from "./model_content.ts";

/** The major versions of the AI SDK. They name a picture in a result differently. */
export type AiSdkVersion = 6 | 7;

/** A JSON Schema as a Standard Schema, which the AI SDK takes. It checks nothing: the MCP server checks its arguments. */
export interface AiSchema {
  /** The Standard Schema. */
  readonly "~standard": {
    /** The version of Standard Schema. */
    readonly version: 1;
    /** Who made the schema. */
    readonly vendor: string;
    /** Accepts any value. */
    readonly validate: (value: unknown) => { readonly value: unknown };
    /** Gives the JSON Schema. */
    readonly jsonSchema: {
      /** The JSON Schema of what a model gives. */
      readonly input: () => Record<string, unknown>;
      /** The same. */
      readonly output: () => Record<string, unknown>;
    };
  };
}

/** A picture in a result: version 6 knows one form of it alone, and version 7 warns of that form. */
export type AiPicture<Version extends AiSdkVersion> = Version extends 6
  ? { type: "image-data"; data: string; mediaType: string }
  : { type: "file"; data: { type: "data"; data: string }; mediaType: string };

/** A result, as the AI SDK passes it to a model. */
export type AiOutput<Version extends AiSdkVersion> =
  | { type: "error-text"; value: string }
  | { type: "content"; value: ({ type: "text"; text: string } | AiPicture<Version>)[] };

/** A tool of an office for the AI SDK. */
export interface AiTool<Version extends AiSdkVersion = 7> {
  /** A tool whose arguments are not known when the program is written. */
  type: "dynamic";
  /** The title, for display. */
  title?: string;
  /** The description, for the model. */
  description?: string;
  /** The schema of the arguments. */
  inputSchema: AiSchema;
  /** Whether a person has to agree before the tool is called. */
  needsApproval: boolean;
  /**
   * Calls the tool. A failure is a result with `isError`, whose text tells a model what to do.
   *
   * @param args The arguments, an object.
   * @param options `abortSignal`: cancels the call, up to the MCP server.
   */
  execute: (
    args: unknown,
    options: { readonly abortSignal?: AbortSignal | undefined },
  ) => Promise<McpToolResult>;
  /** Translates a result for the model: pictures stay pictures. */
  toModelOutput: (options: { readonly output: McpToolResult }) => AiOutput<Version>;
}

export type CallByName = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: { readonly signal?: AbortSignal | undefined },
) => Promise<McpToolResult>;

/** What the tools and objects for LLM toolkits work with. */
export interface ToolParts {
  readonly list: () => Promise<readonly McpTool[]>;
  readonly call: CallByName;
  readonly needsApproval: (tool: McpTool) => boolean;
}

export function toAiTool<Version extends AiSdkVersion>(
  tool: McpTool,
  { call, needsApproval, version }: ToolParts & { readonly version: Version },
): AiTool<Version> {
  const { name, title, description, inputSchema } = tool;
  return {
    type: "dynamic",
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: toAiSchema(inputSchema),
    needsApproval: needsApproval(tool),
    execute: (args, { abortSignal }) => call(name, toArguments(args), { signal: abortSignal }),
    toModelOutput: ({ output }) => toAiOutput(output, version),
  };
}

/** By this key the AI SDK knows schemas of its own, whose JSON Schema it leaves as it is; from others it bans unnamed members. */
const AI_SCHEMA: unique symbol = Symbol.for("vercel.ai.schema");

function toAiSchema(schema: Json): AiSchema {
  const toJsonSchema = () => structuredClone({ ...schema });
  const own = { [AI_SCHEMA]: true, jsonSchema: toJsonSchema(), validate: undefined };
  return {
    ...own,
    "~standard": {
      version: 1,
      vendor: "a2c-smcp",
      validate: (value) => ({ value }),
      jsonSchema: { input: toJsonSchema, output: toJsonSchema },
    },
  };
}

/** A model that has nothing to say gives `null` or nothing. */
function toArguments(args: unknown): Readonly<Record<string, unknown>> {
  return typeof args === "object" && args !== null ? { ...args } : {};
}

function toAiOutput<Version extends AiSdkVersion>(
  result: McpToolResult,
  version: Version,
): AiOutput<Version> {
  const items = toModelContent(result);
  const texts = items.flatMap((item) => item.type === "text" ? [item.text] : []);
  if (result.isError === true && texts.length === items.length) {
    return { type: "error-text", value: texts.join("\n\n") };
  }
  return {
    type: "content",
    value: items.map((item) => item.type === "text" ? { ...item } : toAiPicture(item, version)),
  };
}

function toAiPicture<Version extends AiSdkVersion>(
  { data, mimeType: mediaType }: ModelContent & { readonly type: "image" },
  version: Version,
): AiPicture<Version> {
  const picture: AiPicture<6> | AiPicture<7> = version === 6
    ? { type: "image-data", data, mediaType }
    : { type: "file", data: { type: "data", data }, mediaType };
  // The compiler does not see that the version chose the form.
  return picture as AiPicture<Version>;
}
