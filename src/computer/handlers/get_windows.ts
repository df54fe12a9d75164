/** `client:get_windows`: the Desktop with what is known of each window (`docs/protocol/extensions.md`). */
import { type DesktopWindow, readWindow } from "../../organizer/windows.ts";
import type { GetWindowsRet, WindowInfo } from "../../protocol/desktop.ts";
import { parseComputerCallData, parseGetDeskTopReq } from "../../protocol/parse.ts";
import { timeoutMsOf } from "../../protocol/timeouts.ts";
import { A2C_MCP_SERVER } from "../../protocol/tools.ts";
import type { McpHost } from "../host.ts";

export async function handleGetWindows(
  host: McpHost,
  body: unknown,
  limitBytes: number,
): Promise<GetWindowsRet> {
  const { desktop_size: size, window, req_id } = parseGetDeskTopReq(body);
  const timeoutMs = timeoutMsOf(parseComputerCallData(body));
  const windows = (await host.windows({ size, window, timeoutMs })).map((each) => {
    const shown = toWindowInfo(each);
    return { server: each.server, name: shown.uri, key: shown, render: () => shown };
  });
  return { windows: await host.fit(windows, { what: "windows", limitBytes, keeps: "first" }), req_id };
}

function toWindowInfo(window: DesktopWindow): WindowInfo {
  const { title } = window.resource;
  const named = typeof title === "string" && title !== "" ? { title } : {};
  return { ...readWindow(window), ...named, meta: { [A2C_MCP_SERVER]: window.server } };
}
