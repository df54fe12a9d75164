/** Subscriptions of an Agent to single resources; extensions of ours (`docs/protocol/extensions.md#subscriptions`). */
import type { AgentCallData } from "./call.ts";

/** `client:subscribe_resource` and `client:unsubscribe_resource`. */
export interface SubscribeResourceReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** `dpe://` and `window://`; any scheme when `mcp_server` is given. At most 2,048 characters. */
  uri: string;
  /** The MCP server of the resource; found by the URI's host when absent. */
  mcp_server?: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** The answer to `client:subscribe_resource` and `client:unsubscribe_resource`. */
export interface SubscribeResourceRet {
  /** The id of the request that this answers. */
  req_id?: string;
}

/** `client:get_resource_updates`: what changed since the last answer. */
export interface GetResourceUpdatesReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** The `cursor` of the last answer; all that is remembered of the office when absent. */
  cursor?: string;
}

/** One thing that changed. */
export interface ResourceUpdate {
  /** The MCP server, by its name in the Computer's configuration. */
  mcp_server: string;
  /** What was subscribed to, where it or something below it changed; absent where the server's list changed. */
  uri?: string;
}

/** The answer to `client:get_resource_updates`. */
export interface GetResourceUpdatesRet {
  /** In the order of the changes, each resource and each list once. */
  updates: ResourceUpdate[];
  /** Where the next answer goes on. */
  cursor: string;
  /** Whether more updates wait for the next request: not all of them fit into this answer. */
  has_more?: boolean;
  /** The id of the request that this answers. */
  req_id?: string;
}
