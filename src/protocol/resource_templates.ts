/** Templates of resources, and suggestions for their parameters; extensions of ours (`docs/protocol/extensions.md#templates`). */
import type { AgentCallData } from "./call.ts";
import type { ResourceAnnotations, ResourceIcon } from "./resources.ts";

/** The most suggestions of one answer, as MCP has it. */
export const MAX_COMPLETION_VALUES = 100;

/** `client:get_resource_templates`. */
export interface GetResourceTemplatesReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** The MCP server to ask for one page of its list; all pages of all servers when absent. */
  mcp_server?: string;
  /** Where the page begins; the first page when absent. Only with `mcp_server`. */
  cursor?: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** A template in the answer to `client:get_resource_templates`; this wire spells `uri_template` and `mime_type`. */
export interface ResourceTemplateInfo {
  /** A URI with parameters in braces, after RFC 6570. */
  uri_template: string;
  /** For programs. */
  name?: string;
  /** For people. */
  title?: string;
  /** What it is for. */
  description?: string;
  /** The media type, where all resources of this template have the same. */
  mime_type?: string;
  /** Pictures for whoever shows it. */
  icons?: ResourceIcon[];
  /** Hints for whoever shows it. */
  annotations?: ResourceAnnotations | null;
  /** The MCP server's name as `a2c_mcp_server`, and whatever else that tells. */
  _meta?: Record<string, unknown> | null;
}

/** The answer to `client:get_resource_templates`. */
export interface GetResourceTemplatesRet {
  /** A page of one server's list, or the lists of all servers. */
  resource_templates: ResourceTemplateInfo[];
  /** Where the next page begins; absent on the last. */
  next_cursor?: string;
  /** The id of the request that this answers. */
  req_id?: string;
}

/** `client:get_completion`: suggestions for a parameter of a template. */
export interface GetCompletionReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** The MCP server of the template; found by the template's host when absent. */
  mcp_server?: string;
  /** The template, as it is listed. */
  ref: { uri: string };
  /** The parameter, and the beginning of its value; the text may be empty. */
  argument: { name: string; value: string };
  /** The values of other parameters, as far as they are chosen. */
  context?: { arguments: Record<string, string> };
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** Suggestions. */
export interface CompletionInfo {
  /** At most 100. */
  values: string[];
  /** How many there are in all, if its MCP server tells. */
  total?: number;
  /** Whether there are more than these. */
  has_more?: boolean;
}

/** The answer to `client:get_completion`. */
export interface GetCompletionRet {
  /** The suggestions. */
  completion: CompletionInfo;
  /** The id of the request that this answers. */
  req_id?: string;
}
