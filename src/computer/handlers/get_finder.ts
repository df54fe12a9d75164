/** `client:get_finder`. */
import type { GetFinderRet } from "../../protocol/finder.ts";
import { parseComputerCallData, parseGetFinderReq } from "../../protocol/parse.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import type { McpHost } from "../host.ts";

export async function handleGetFinder(
  host: McpHost,
  body: unknown,
  limitBytes: number,
): Promise<GetFinderRet> {
  const { keywords, file_type: fileType, offset, limit, req_id } = parseGetFinderReq(body);
  const timeoutMs = timeoutMsOf(parseComputerCallData(body));
  const { documents, totalCount } = await host.finder({ keywords, fileType, offset, limit, timeoutMs });
  const items = documents.map((document) => ({
    server: document.server,
    name: document.uri,
    key: document,
    render: () => document,
  }));
  const shown = await host.fit(items, { what: "documents", limitBytes, keeps: "first" });
  return { documents: shown, total_count: totalCount, req_id };
}
