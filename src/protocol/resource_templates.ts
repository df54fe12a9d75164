/** Resource templates, and suggested values for their parameters (`docs/protocol/extensions.md#templates`). */
import type { AgentCallAnswer, ComputerCallData } from "./call.ts";
import type { McpListed, ResourceAnnotations } from "./resources.ts";

/** The most values in one answer, as in MCP. */
export const MAX_COMPLETION_VALUES = 100;

/** `client:get_resource_templates`. */
export interface GetResourceTemplatesReq extends ComputerCallData {
  /** Lists one page of this MCP server; all pages of all MCP servers when absent. */
  mcp_server?: string;
  /** Where the page begins; the first page when absent. Only with `mcp_server`. */
  cursor?: string;
}

/** A template in the answer to `client:get_resource_templates`. MCP spells `uriTemplate` and `mimeType`. */
export interface ResourceTemplateInfo extends McpListed {
  /** A URI with parameters in braces (RFC 6570). */
  uri_template: string;
  /** The media type, when all resources of this template have the same. */
  mime_type?: string;
  /** MCP's hints for display and ranking. */
  annotations?: ResourceAnnotations | null;
}

/** The answer to `client:get_resource_templates`. */
export interface GetResourceTemplatesRet extends AgentCallAnswer {
  /** One page of one MCP server, or all templates of all MCP servers. */
  resource_templates: ResourceTemplateInfo[];
  /** The `cursor` of the next page; absent on the last page. */
  next_cursor?: string;
}

/** `client:get_completion`: suggests values for a parameter of a template, or for an argument of a prompt. */
export interface GetCompletionReq extends ComputerCallData {
  /** The MCP server. When absent, found by the template's host; for a prompt, the first that lists one of this name. */
  mcp_server?: string;
  /** The template, or the name of the prompt, as listed. */
  ref: { uri: string } | { prompt: string };
  /** The name of the parameter, and the beginning of its value, which may be empty. */
  argument: { name: string; value: string };
  /** The values of the other parameters, as far as they are known. */
  context?: { arguments: Record<string, string> };
}

/** Suggested values. */
export interface CompletionInfo {
  /** The values; at most 100. */
  values: string[];
  /** The number of all values, if the MCP server states it. */
  total?: number;
  /** Whether there are more values than these. */
  has_more?: boolean;
}

/** The answer to `client:get_completion`. */
export interface GetCompletionRet extends AgentCallAnswer {
  /** The suggested values. */
  completion: CompletionInfo;
}
