/** The Desktop's messages (`docs/protocol/data-structures.md#desktop`). */
import type { AgentCallData } from "./call.ts";
import { A2C_MCP_SERVER } from "./tools.ts";

/** One window as an Agent reads it: `{URI}\n\n{text}`, or the URI alone when there is no text. */
export type Desktop = string;

/** One window with its parts told apart. */
export interface DesktopEntry {
  /** Its `window://` URI, without a query. */
  readonly uri: string;
  /** What it shows; may be empty. */
  readonly text: string;
  /** For people, as its MCP server calls it; absent where nobody said. */
  readonly title?: string;
  /** The MCP server that it belongs to, by its name in the Computer's configuration; absent where nobody said. */
  readonly mcpServer?: string;
}

/** `client:get_desktop`, and `client:get_windows`. */
export interface GetDeskTopReq extends AgentCallData {
  /** The name of the Computer that shall answer. */
  computer: string;
  /** At most so many windows; none at 0 and below; all when absent. */
  desktop_size?: number;
  /** Only the window with this URI. */
  window?: string;
  /** Seconds, above 0 and up to 86,400; 30 when absent. */
  timeout?: number;
}

/** The answer to `client:get_desktop`. */
export interface GetDeskTopRet {
  /** The windows in the order of the Desktop. */
  desktops?: Desktop[];
  /** The id of the request that this answers. */
  req_id?: string;
}

/** A window in the answer to `client:get_windows`. */
export interface WindowInfo {
  /** Its `window://` URI, without a query. */
  uri: string;
  /** What it shows; may be empty. */
  text: string;
  /** For people. */
  title?: string;
  /** Flat: the MCP server's name as `a2c_mcp_server`. */
  meta?: Record<string, unknown> | null;
}

/** The answer to `client:get_windows`, an extension of ours (`docs/protocol/extensions.md#windows`). */
export interface GetWindowsRet {
  /** The windows in the order of the Desktop. */
  windows: WindowInfo[];
  /** The id of the request that this answers. */
  req_id?: string;
}

/**
 * Tells a window's URI and text apart.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseDesktopEntry } from "@a2c-smcp/sdk/agent";
 *
 * const entry = parseDesktopEntry("window://editor/main\n\nconst a = 1;\n\nconst b = 2;");
 * assertEquals(entry, { uri: "window://editor/main", text: "const a = 1;\n\nconst b = 2;" });
 * assertEquals(parseDesktopEntry("window://editor/main"), { uri: "window://editor/main", text: "" });
 * ```
 */
export function parseDesktopEntry(entry: Desktop): DesktopEntry {
  const end = entry.indexOf("\n\n");
  return end < 0 ? { uri: entry, text: "" } : { uri: entry.slice(0, end), text: entry.slice(end + 2) };
}

/** A window of an answer to `client:get_windows`, for an Agent's program. */
export function toDesktopEntry({ uri, text, title, meta }: WindowInfo): DesktopEntry {
  const mcpServer = meta?.[A2C_MCP_SERVER];
  return {
    uri,
    text,
    ...(title === undefined ? {} : { title }),
    ...(typeof mcpServer === "string" ? { mcpServer } : {}),
  };
}
