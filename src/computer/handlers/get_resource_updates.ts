/** `client:get_resource_updates` (`docs/protocol/extensions.md#hearing-of-updates`). */
import { parseGetResourceUpdatesReq } from "../../protocol/parse.ts";
import type { GetResourceUpdatesRet } from "../../protocol/resource_updates.ts";
import type { McpHost } from "../host.ts";

export function handleGetResourceUpdates(
  host: McpHost,
  body: unknown,
  limitBytes: number,
): GetResourceUpdatesRet {
  const { cursor: since, req_id } = parseGetResourceUpdatesReq(body);
  const servers = host.fleet.servers.map(({ name }) => name);
  const { updates, cursor, hasMore } = host.watch.read(since, { servers, limitBytes });
  return { updates, cursor, ...(hasMore ? { has_more: true } : {}), req_id };
}
