/** Pages of lists and suggested values as Agent and Computer return them to their host programs. */
import type { PromptInfo } from "./prompts.ts";
import type { CompletionInfo, ResourceTemplateInfo } from "./resource_templates.ts";
import type { ResourceInfo } from "./resources.ts";

/** A page of the resources of one MCP server. */
export interface ResourcePage {
  /** In the order of the MCP server. */
  readonly resources: readonly ResourceInfo[];
  /** The `cursor` of the next page; absent on the last page. */
  readonly nextCursor?: string;
}

/** A page of the templates of one MCP server, or the templates of all MCP servers. */
export interface ResourceTemplatePage {
  /** In the order of the MCP servers; `_meta.a2c_mcp_server` names the MCP server of each. */
  readonly resourceTemplates: readonly ResourceTemplateInfo[];
  /** The `cursor` of the next page; absent on the last page, and in a list of all MCP servers. */
  readonly nextCursor?: string;
}

/** A page of the prompts of one MCP server, or the prompts of all MCP servers. */
export interface PromptPage {
  /** In the order of the MCP servers; `_meta.a2c_mcp_server` names the MCP server of each. */
  readonly prompts: readonly PromptInfo[];
  /** The `cursor` of the next page; absent on the last page, and in a list of all MCP servers. */
  readonly nextCursor?: string;
}

/** What has a parameter to complete: a template, or a prompt. */
export type CompletionTarget =
  | {
    /** The template as listed: its `uri_template`. */
    readonly uri: string;
    /** Absent: the target is the template. */
    readonly prompt?: undefined;
  }
  | {
    /** The name of the prompt. */
    readonly prompt: string;
    /** Absent: the target is the prompt. */
    readonly uri?: undefined;
  };

/** Suggested values for a parameter. */
export interface Completion {
  /** The values that begin as requested; at most 100. */
  readonly values: readonly string[];
  /** The number of all such values; absent when the MCP server does not state it. */
  readonly total?: number;
  /** Whether there are more values than these. */
  readonly hasMore: boolean;
}

/** Converts suggestions from the form of the wire. */
export function toCompletion({ values, total, has_more: hasMore = false }: CompletionInfo): Completion {
  return { values, ...(total === undefined ? {} : { total }), hasMore };
}
