/** Subscriptions of an Agent to resources (`docs/protocol/extensions.md#subscriptions`). */
import type { AgentCallAnswer, AgentCallData, ComputerCallData } from "./call.ts";

/** `client:subscribe_resource` and `client:unsubscribe_resource`. */
export interface SubscribeResourceReq extends ComputerCallData {
  /** `dpe://` and `window://`; any scheme when `mcp_server` is given. At most 2,048 characters. */
  uri: string;
  /** The MCP server of the resource; found by the URI's host when absent. */
  mcp_server?: string;
}

/** The answer to `client:subscribe_resource` and `client:unsubscribe_resource`. */
export type SubscribeResourceRet = AgentCallAnswer;

/** `client:get_resource_updates`: fetches the changes since the previous answer. */
export interface GetResourceUpdatesReq extends AgentCallData {
  /** The name of the Computer. */
  computer: string;
  /** The `cursor` of the previous answer; all changes that the Computer keeps when absent. */
  cursor?: string;
}

/** A resource or a list of resources that changed. */
export interface ResourceUpdate {
  /** The name of the MCP server in the Computer's configuration. */
  mcp_server: string;
  /** The subscribed URI, when its resource or a part of it changed; absent when the list of the MCP server changed. */
  uri?: string;
}

/** The answer to `client:get_resource_updates`. */
export interface GetResourceUpdatesRet extends AgentCallAnswer {
  /** In the order of the changes; each resource and each list once. */
  updates: ResourceUpdate[];
  /** The `cursor` for the next request. */
  cursor: string;
  /** Whether more updates follow, because not all fit into this answer. */
  has_more?: boolean;
}
