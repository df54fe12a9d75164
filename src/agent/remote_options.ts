/** What the methods of a `RemoteComputer` take and give. */
import type { CompletionInfo, ResourceTemplateInfo } from "../protocol/resource_templates.ts";
import type { ResourceUpdate } from "../protocol/resource_updates.ts";
import type { ResourceInfo } from "../protocol/resources.ts";
import type { RequestOptions } from "./requests.ts";

/** How a tool is called. */
export interface CallToolOptions extends RequestOptions {
  /**
   * The id of the call; a random one by default. Repeating a call under the id of one whose answer was lost gets
   * that answer: the tool runs once.
   */
  readonly reqId?: string | undefined;
}

/** Which windows are wanted. */
export interface DesktopOptions extends RequestOptions {
  /** At most so many windows, none at 0 and below; all by default. */
  readonly size?: number | undefined;
  /** Only the window with this URI. */
  readonly window?: string | undefined;
}

/** Which documents are wanted. */
export interface FinderOptions extends RequestOptions {
  /** Documents in which one of these occurs in title, keywords or summary; all by default. */
  readonly keywords?: readonly string[] | undefined;
  /** Documents of exactly this type, such as `pdf`. */
  readonly fileType?: string | undefined;
  /** 0 by default. */
  readonly offset?: number | undefined;
  /** 20 by default, at most 100. */
  readonly limit?: number | undefined;
}

/** How a resource is read. */
export interface ReadResourceOptions extends RequestOptions {
  /** The MCP server to read from, by its name in the Computer's configuration; found by the URI's host by default. */
  readonly mcpServer?: string | undefined;
}

/** A page of the resources of one MCP server. */
export interface ResourcePage {
  /** As the MCP server lists them. */
  readonly resources: readonly ResourceInfo[];
  /** Where the next page starts; absent on the last one. */
  readonly nextCursor?: string;
}

/** A page of the templates of one MCP server, or the templates of all. */
export interface ResourceTemplatePage {
  /** As the MCP servers list them; `_meta.a2c_mcp_server` names the server of each. */
  readonly resourceTemplates: readonly ResourceTemplateInfo[];
  /** Where the next page starts; absent on the last one, and where all servers were asked. */
  readonly nextCursor?: string;
}

/** What is to be completed. */
export interface CompleteOptions extends ReadResourceOptions {
  /** The template, as it is listed. */
  readonly uri: string;
  /** The parameter, and the beginning of its value; the text may be empty. */
  readonly argument: { readonly name: string; readonly value: string };
  /** The values of other parameters, as far as they are chosen; none by default. */
  readonly context?: { readonly arguments: Readonly<Record<string, string>> } | undefined;
}

/** Suggestions for a parameter. */
export interface Completion {
  /** At most 100. */
  readonly values: readonly string[];
  /** How many there are in all; absent where nobody said. */
  readonly total?: number;
  /** Whether there are more than these. */
  readonly hasMore: boolean;
}

/** What changed. */
export interface ResourceUpdates {
  /** Each resource that was subscribed to by its URI, and each list without one, in the order of the changes. */
  readonly updates: readonly ResourceUpdate[];
  /** Where the next answer goes on. */
  readonly cursor: string;
  /** Whether more of them wait. */
  readonly hasMore: boolean;
}

/** Reads suggestions as the wire has them. */
export function toCompletion({ values, total, has_more: hasMore = false }: CompletionInfo): Completion {
  return { values, ...(total === undefined ? {} : { total }), hasMore };
}
