/** `client:get_desktop`. */
import type { GetDeskTopRet } from "../../protocol/desktop.ts";
import { parseComputerCallData, parseGetDeskTopReq } from "../../protocol/parse.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import type { McpHost } from "../host.ts";

export async function handleGetDesktop(
  host: McpHost,
  body: unknown,
  limitBytes: number,
): Promise<GetDeskTopRet> {
  const { desktop_size: size, window, req_id } = parseGetDeskTopReq(body);
  const timeoutMs = timeoutMsOf(parseComputerCallData(body));
  return { desktops: await host.desktop({ size, window, timeoutMs, limitBytes }), req_id };
}
