/** The Desktop from the windows of all MCP servers (`docs/protocol/desktop.md#organizing`). */
import type { Desktop } from "../protocol/desktop.ts";
import type { DesktopWindow } from "./desktop_window.ts";
import { orderServers } from "./server_order.ts";
import { selectShownWindows } from "./shown_windows.ts";
import { createReport, type OrganizerWarning } from "./warning.ts";
import { renderWindow } from "./window_text.ts";

/** Which windows to show. */
export interface OrganizeDesktopOptions {
  /** At most so many windows of all MCP servers together; none at 0 and below; all when absent. */
  readonly size?: number | undefined;
  /** The MCP server of each tool call, the oldest first; none by default. */
  readonly history?: readonly string[] | undefined;
  /** Hears of what is wrong with the windows of every MCP server that there was room for. */
  readonly onWarning?: ((warning: OrganizerWarning) => void) | undefined;
}

/**
 * Filters, orders and renders windows: those of the MCP server used last come first, servers without a tool call
 * follow by name, and within a server the window of the highest priority is first, unless one is fullscreen: the
 * first such window in the list then stands for its server. Windows come from strangers: one without text or with
 * an invalid URI is left out, metadata of a wrong type has its default, and either is reported.
 *
 * Specification: `docs/protocol/desktop.md#organizing`.
 *
 * @param windows in the order of `resources/list`; of two that differ only in their query the first counts
 * @returns `{URI}\n\n{text}` for each window, or the URI alone when its text is empty; no URI has a query
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { organizeDesktop } from "@a2c-smcp/sdk";
 *
 * const window = (server: string, uri: string, priority: number) => ({
 *   server,
 *   resource: { uri, annotations: { priority } },
 *   contents: [{ uri, text: "…" }],
 * });
 * const desktop = organizeDesktop([
 *   window("browser", "window://browser/history", 0.1),
 *   window("browser", "window://browser/main", 0.8),
 *   window("editor", "window://editor/file", 0.5),
 * ], { size: 2, history: ["browser"] });
 *
 * assertEquals(desktop, ["window://browser/main\n\n…", "window://browser/history\n\n…"]);
 * ```
 */
export function organizeDesktop(
  windows: Iterable<DesktopWindow>,
  options: OrganizeDesktopOptions = {},
): Desktop[] {
  return arrangeDesktop(windows, options).map(renderWindow);
}

/** The windows of a Desktop in its order, not rendered yet. */
export function arrangeDesktop(
  windows: Iterable<DesktopWindow>,
  options: OrganizeDesktopOptions,
): DesktopWindow[] {
  const { size = Infinity, history = [] } = options;
  const capacity = Math.floor(size);
  if (!(capacity > 0)) return [];
  const report = createReport(options.onWarning);
  const groups = Map.groupBy(windows, (window) => window.server);

  const desktop: DesktopWindow[] = [];
  for (const server of orderServers(groups.keys(), history)) {
    const room = capacity - desktop.length;
    if (room === 0) break;
    for (const window of selectShownWindows(groups.get(server) ?? [], room, report)) desktop.push(window);
  }
  return desktop;
}
