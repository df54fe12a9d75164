/** `client:get_tools`. */
import { parseGetToolsReq } from "../../protocol/parse.ts";
import type { GetToolsRet } from "../../protocol/tools.ts";
import type { McpHost } from "../host.ts";

export async function handleGetTools(host: McpHost, body: unknown, limitBytes: number): Promise<GetToolsRet> {
  const { req_id } = parseGetToolsReq(body);
  const { listed, routes } = host.tools;
  const items = listed.map((tool) => ({
    server: routes.get(tool.name)?.server.name ?? "",
    name: tool.name,
    key: tool,
    render: () => tool,
  }));
  return { tools: await host.fit(items, { what: "tools", limitBytes, keeps: "most" }), req_id };
}
