/** The Desktop's messages (`docs/protocol/data-structures.md#desktop`). */
import type { AgentCallAnswer, ComputerCallData } from "./call.ts";
import { A2C_MCP_SERVER } from "./tools.ts";

/** One window as an Agent reads it: `{URI}\n\n{text}`, or the URI alone when there is no text. */
export type Desktop = string;

/** One window, as an object. */
export interface DesktopEntry {
  /** The `window://` URI, without a query. */
  readonly uri: string;
  /** The text of the window; may be empty. */
  readonly text: string;
  /** The title from the MCP server, for display; absent when there is none. */
  readonly title?: string;
  /** The name of its MCP server in the Computer's configuration; absent when the Computer does not state it. */
  readonly mcpServer?: string;
}

/** The body of `client:get_desktop` and of `client:get_windows`. */
export interface GetDeskTopReq extends ComputerCallData {
  /** The most windows to return; no windows at 0 and below; all when absent. */
  desktop_size?: number;
  /** Only the window with this URI. */
  window?: string;
}

/** The answer to `client:get_desktop`. */
export interface GetDeskTopRet extends AgentCallAnswer {
  /** The windows in the order of the Desktop. */
  desktops?: Desktop[];
}

/** A window in the answer to `client:get_windows`. */
export interface WindowInfo {
  /** The `window://` URI, without a query. */
  uri: string;
  /** The text of the window; may be empty. */
  text: string;
  /** The title, for display. */
  title?: string;
  /** Flat metadata; `a2c_mcp_server` is the name of the MCP server. */
  meta?: Record<string, unknown> | null;
}

/** The answer to `client:get_windows` (`docs/protocol/extensions.md#windows`). */
export interface GetWindowsRet extends AgentCallAnswer {
  /** The windows in the order of the Desktop. */
  windows: WindowInfo[];
}

/**
 * Splits a window into its URI and its text.
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

/** Converts a window of an answer to `client:get_windows`. */
export function toDesktopEntry({ uri, text, title, meta }: WindowInfo): DesktopEntry {
  const mcpServer = meta?.[A2C_MCP_SERVER];
  return {
    uri,
    text,
    ...(title === undefined ? {} : { title }),
    ...(typeof mcpServer === "string" ? { mcpServer } : {}),
  };
}
