/** The tools of an office for the OpenAI Agents SDK: function tools, before which it asks a person. */
import { isRecord, parseJson } from "../../json/json.ts";
import type { ToolParts } from "./ai_sdk.ts";
import type { McpTool } from "../../local_tools/mcp.ts";
import { toModelContent } from "./model_content.ts";

/** The JSON Schema of arguments. Members that are not named here are there as well. */
export interface ToolSchema {
  /** The arguments are an object. */
  type: "object";
  /** The JSON Schema of each argument. */
  properties: Record<string, unknown>;
  /** The arguments that must be there. */
  required: string[];
  /** Whether there may be others; absent where the MCP server does not say. */
  additionalProperties: boolean;
}

/** An item of a result: `text` with `text`, or `image` with `data` in base64 and `mimeType`. */
export interface ListedContent {
  /** The kind. */
  type: string;
  /** Other members. */
  [member: string]: unknown;
}

/** A function tool of the OpenAI Agents SDK. */
export interface OpenAiTool {
  /** The kind of tool. */
  type: "function";
  /** The name to call it by. */
  name: string;
  /** The description, for the model. */
  description: string;
  /** The JSON Schema of the arguments. */
  parameters: ToolSchema;
  /** Whether the schema is in the form that OpenAI calls strict: not, since MCP servers write other schemas. */
  strict: boolean;
  /** Whether a person has to agree before the tool is called. */
  needsApproval: () => Promise<boolean>;
  /** Whether the tool is offered: always. */
  isEnabled: () => Promise<boolean>;
  /** Calls the tool with the arguments as JSON. A failure is a text that tells a model what to do. */
  invoke: (
    context: unknown,
    input: string,
    details?: { readonly signal?: AbortSignal | undefined },
  ) => Promise<ListedContent[]>;
}

export function toOpenAiTool(tool: McpTool, { call, needsApproval }: ToolParts): OpenAiTool {
  const { name, description = "", inputSchema } = tool;
  const isAsked = needsApproval(tool);
  return {
    type: "function",
    name,
    description,
    parameters: toToolSchema(inputSchema),
    strict: false,
    needsApproval: () => Promise.resolve(isAsked),
    isEnabled: () => Promise.resolve(true),
    async invoke(_context, input, details) {
      const args = input === "" ? {} : parseJson(input);
      if (!isRecord(args)) {
        return [{ type: "text", text: `Cannot call "${name}": the arguments must be a JSON object` }];
      }
      const result = await call(name, args, { signal: details?.signal });
      return toModelContent(result).map((item) => ({ ...item }));
    },
  };
}

/** The SDK lacks defaults where MCP has them, and may modify what it gets. */
function toToolSchema(inputSchema: McpTool["inputSchema"]): ToolSchema {
  const given = structuredClone({ ...inputSchema });
  const { properties, required } = given;
  const schema = {
    ...given,
    properties: isRecord(properties) ? properties : {},
    required: Array.isArray(required) ? required : [],
  };
  return schema as unknown as ToolSchema;
}
