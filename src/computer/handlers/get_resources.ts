/** `client:get_resources`. */
import { parseGetResourcesReq } from "../../protocol/parse.ts";
import type { GetResourcesRet } from "../../protocol/resources.ts";
import { shorten } from "../../text.ts";
import type { McpHost } from "../host.ts";
import { listResources } from "../resources/reader.ts";

/** How much of a URI a log line tells. */
const MAX_NAMED_LENGTH = 200;

export async function handleGetResources(
  host: McpHost,
  body: unknown,
  limitBytes: number,
): Promise<GetResourcesRet> {
  const request = parseGetResourcesReq(body);
  const { mcp_server: server, req_id } = request;
  const page = await listResources(request, { fleet: host.fleet, directory: host.resources });
  const items = page.resources.map((resource) => ({
    server,
    name: shorten(resource.uri, MAX_NAMED_LENGTH),
    key: resource,
    render: () => resource,
  }));
  return {
    ...page,
    resources: await host.fit(items, { what: "resources", limitBytes, keeps: "first" }),
    req_id,
  };
}
