/** Options and results of the methods of `RemoteComputer`. */
import type { CompletionInfo, ResourceTemplateInfo } from "../protocol/resource_templates.ts";
import type { ResourceUpdate } from "../protocol/resource_updates.ts";
import type { ResourceInfo } from "../protocol/resources.ts";
import type { RequestOptions } from "./requests.ts";

/** Options of a tool call. */
export interface CallToolOptions extends RequestOptions {
  /**
   * The id of the call; random by default. A repeated call with the same id gets the answer of the first one, and the
   * tool runs once: use it to retry a call whose answer was lost.
   */
  readonly reqId?: string | undefined;
}

/** Which windows to fetch. */
export interface DesktopOptions extends RequestOptions {
  /** The most windows to fetch; no windows at 0 and below; all by default. */
  readonly size?: number | undefined;
  /** Only the window with this URI. */
  readonly window?: string | undefined;
}

/** Which documents to fetch (`docs/protocol/finder.md#filters`). */
export interface FinderOptions extends RequestOptions {
  /** Only documents whose title, keywords or summary contain one of these, in any case; all by default. */
  readonly keywords?: readonly string[] | undefined;
  /** Only documents of exactly this type, such as `pdf`; all by default. */
  readonly fileType?: string | undefined;
  /** How many matching documents to skip; 0 by default. */
  readonly offset?: number | undefined;
  /** The most documents to fetch; 20 by default, at most 100. */
  readonly limit?: number | undefined;
}

/** Options for reading a resource. */
export interface ReadResourceOptions extends RequestOptions {
  /** The MCP server to read from, by its name in the Computer's configuration; found by the URI's host by default. */
  readonly mcpServer?: string | undefined;
}

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

/** The parameter to complete. */
export interface CompleteOptions extends ReadResourceOptions {
  /** The template as listed: its `uri_template`. */
  readonly uri: string;
  /** The name of the parameter, and the beginning of its value, which may be empty. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The values of the other parameters, as far as they are known; none by default. */
  readonly context?: { readonly arguments: Readonly<Record<string, string>> } | undefined;
}

/** Suggested values for a parameter. */
export interface Completion {
  /** The values that begin as requested; at most 100. */
  readonly values: readonly string[];
  /** The number of all such values; absent when the MCP server does not state it. */
  readonly total?: number;
  /** Whether there are more values than these. */
  readonly hasMore: boolean;
}

/** Changes of resources and of lists of resources. */
export interface ResourceUpdates {
  /** In the order of the changes. An update without a `uri` means the list of its MCP server. */
  readonly updates: readonly ResourceUpdate[];
  /** The `cursor` for the next request. */
  readonly cursor: string;
  /** Whether the Computer has more updates: request them with `cursor`. */
  readonly hasMore: boolean;
}

/** Converts suggestions from the form of the wire. */
export function toCompletion({ values, total, has_more: hasMore = false }: CompletionInfo): Completion {
  return { values, ...(total === undefined ? {} : { total }), hasMore };
}
