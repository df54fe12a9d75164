/** `client:read_resource`. */
import { parseReadResourceReq } from "../../protocol/parse.ts";
import type { ReadResourceRet } from "../../protocol/resources.ts";
import type { McpHost } from "../host.ts";
import { readResource } from "../resources/reader.ts";

export async function handleReadResource(host: McpHost, body: unknown): Promise<ReadResourceRet> {
  const request = parseReadResourceReq(body);
  const result = await readResource(request, { fleet: host.fleet, directory: host.resources });
  return { ...result, req_id: request.req_id };
}
