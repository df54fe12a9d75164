/** `client:get_resources`. */
import { parseGetResourcesReq } from "../../protocol/parse.ts";
import type { GetResourcesRet } from "../../protocol/resources.ts";
import type { McpHost } from "../host.ts";
import { listResources } from "../resource_reader.ts";

export async function handleGetResources(host: McpHost, body: unknown): Promise<GetResourcesRet> {
  const request = parseGetResourcesReq(body);
  const page = await listResources(request, { fleet: host.fleet, directory: host.resources });
  return { ...page, req_id: request.req_id };
}
