/** The prompts of MCP servers (`docs/protocol/extensions.md#prompts`). */
import type { AgentCallAnswer, ComputerCallData } from "./call.ts";
import type { McpListed, McpNamed } from "./resources.ts";
import type { ContentItem } from "./tools.ts";

/** `client:get_prompts`. */
export interface GetPromptsReq extends ComputerCallData {
  /** Lists one page of this MCP server; all pages of all MCP servers when absent. */
  mcp_server?: string;
  /** Where the page begins; the first page when absent. Only with `mcp_server`. */
  cursor?: string;
}

/** An argument of a prompt. */
export interface PromptArgument extends McpNamed {
  /** The name. */
  name: string;
  /** Whether the prompt needs it; false when absent. */
  required?: boolean;
}

/** A prompt in the answer to `client:get_prompts`. */
export interface PromptInfo extends McpListed {
  /** The name; unique in its MCP server alone. */
  name: string;
  /** The arguments. */
  arguments?: PromptArgument[];
}

/** The answer to `client:get_prompts`. */
export interface GetPromptsRet extends AgentCallAnswer {
  /** One page of one MCP server, or all prompts of all MCP servers. */
  prompts: PromptInfo[];
  /** The `cursor` of the next page; absent on the last page. */
  next_cursor?: string;
}

/** `client:get_prompt`: fills in a prompt. */
export interface GetPromptReq extends ComputerCallData {
  /** The MCP server; when absent, the first one that lists a prompt of this name. */
  mcp_server?: string;
  /** The name of the prompt as listed. */
  name: string;
  /** The arguments. */
  arguments?: Record<string, string>;
}

/** A message of a prompt. */
export interface PromptMessage {
  /** Whose message it is. */
  role: "user" | "assistant";
  /** The content, as in a tool result. */
  content: ContentItem;
}

/** The answer to `client:get_prompt`. */
export interface GetPromptRet extends AgentCallAnswer {
  /** A description. */
  description?: string;
  /** The messages, for the model. */
  messages: PromptMessage[];
  /** Other members that the MCP server sends; `a2c_mcp_server` is its name. */
  _meta?: Record<string, unknown> | null;
}
