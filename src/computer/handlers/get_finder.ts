/** `client:get_finder`. */
import type { GetFinderRet } from "../../protocol/finder.ts";
import { parseGetFinderReq } from "../../protocol/parse.ts";
import type { McpHost } from "../host.ts";

export async function handleGetFinder(host: McpHost, body: unknown): Promise<GetFinderRet> {
  const { keywords, file_type: fileType, offset, limit, req_id } = parseGetFinderReq(body);
  const { documents, totalCount } = await host.finder({ keywords, fileType, offset, limit });
  return { documents, total_count: totalCount, req_id };
}
