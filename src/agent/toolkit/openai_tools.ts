/** The tools of an office as function tools of the OpenAI Agents SDK, which asks a person where its MCP servers cannot. */
import { isRecord, parseJson } from "../../json/json.ts";
import type { ToolParts } from "./ai_tools.ts";
import type { McpTool } from "./mcp.ts";
import { type ListedContent, toListedTool, type ToolSchema } from "./mcp_objects.ts";
import { toModelContent } from "./model_content.ts";

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
  const { name, description = "", inputSchema: parameters } = toListedTool(tool);
  const isAsked = needsApproval(tool);
  return {
    type: "function",
    name,
    description,
    parameters,
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
