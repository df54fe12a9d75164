/** `client:get_completion` (`docs/protocol/extensions.md#completion`). */
import { parseGetCompletionReq } from "../../protocol/parse.ts";
import type { GetCompletionRet } from "../../protocol/resource_templates.ts";
import type { McpHost } from "../host.ts";
import { completeTemplate } from "../resources/templates.ts";

export async function handleGetCompletion(host: McpHost, body: unknown): Promise<GetCompletionRet> {
  const request = parseGetCompletionReq(body);
  const completion = await completeTemplate(request, { fleet: host.fleet, directory: host.resources });
  return { completion, req_id: request.req_id };
}
