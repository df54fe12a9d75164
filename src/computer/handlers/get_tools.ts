/** `client:get_tools`. */
import { parseGetToolsReq } from "../../protocol/parse.ts";
import type { GetToolsRet } from "../../protocol/tools.ts";
import type { McpHost } from "../host.ts";

export function handleGetTools(host: McpHost, body: unknown): GetToolsRet {
  const { req_id } = parseGetToolsReq(body);
  return { tools: [...host.directory.tools], req_id };
}
