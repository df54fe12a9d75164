/** `client:get_desktop`. */
import type { GetDeskTopRet } from "../../protocol/desktop.ts";
import { parseGetDeskTopReq } from "../../protocol/parse.ts";
import type { McpHost } from "../host.ts";

export async function handleGetDesktop(host: McpHost, body: unknown): Promise<GetDeskTopRet> {
  const { desktop_size: size, window, req_id } = parseGetDeskTopReq(body);
  return { desktops: await host.desktop({ size, window }), req_id };
}
