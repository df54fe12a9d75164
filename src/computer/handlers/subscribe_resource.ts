/** `client:subscribe_resource` and `client:unsubscribe_resource` (`docs/protocol/extensions.md#subscriptions`). */
import { parseSubscribeResourceReq } from "../../protocol/parse.ts";
import type { SubscribeResourceRet } from "../../protocol/resource_updates.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import type { McpHost } from "../host.ts";
import { toReadError } from "../failures.ts";
import { routeRead, withCapability } from "../resources/route.ts";

export async function handleSubscribeResource(host: McpHost, body: unknown): Promise<SubscribeResourceRet> {
  const { office } = host.watch;
  const request = parseSubscribeResourceReq(body);
  const route = await routeRead(request, { fleet: host.fleet, directory: host.resources });
  const server = withCapability(route.server, "resources.subscribe");
  const subscription = { server, uri: route.uri, as: request.uri, office, timeoutMs: timeoutMsOf(request) };
  try {
    await host.resources.subscribe(subscription);
  } catch (error) {
    throw toReadError(error, route);
  }
  return { req_id: request.req_id };
}

export function handleUnsubscribeResource(host: McpHost, body: unknown): SubscribeResourceRet {
  const { uri, mcp_server, req_id } = parseSubscribeResourceReq(body);
  host.resources.unsubscribe(uri, mcp_server);
  return { req_id };
}
