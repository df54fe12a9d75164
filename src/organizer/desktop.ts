/** Builds the Desktop from the windows of all MCP servers (`docs/protocol/desktop.md#organizing`). */
import type { Desktop } from "../protocol/desktop.ts";
import { orderServers } from "./finder.ts";
import { createReport, type OrganizerWarning } from "./warning.ts";
import { type DesktopWindow, orderWindows, renderWindow } from "./windows.ts";

/** Which windows to show. */
export interface OrganizeDesktopOptions {
  /** The most windows of all MCP servers together; no windows at 0 and below; all windows by default. */
  readonly size?: number | undefined;
  /** The MCP server of each tool call, oldest first; empty by default. */
  readonly history?: readonly string[] | undefined;
  /** Receives each problem of the windows that were looked at. Servers that do not fit into `size` are not looked at. */
  readonly onWarning?: ((warning: OrganizerWarning) => void) | undefined;
}

/**
 * Filters, orders and renders windows. The MCP server of the latest tool call comes first; servers without a tool call
 * follow by name. Within a server, windows are ordered by descending priority, unless one is fullscreen: then the first
 * fullscreen window of the list is the only one of its server. Windows without text or with an invalid URI are left
 * out, and metadata of a wrong type is replaced by its default; both are reported to `onWarning`.
 *
 * Specification: `docs/protocol/desktop.md#organizing`.
 *
 * @param windows in the order of `resources/list`; of two windows that differ only in their query, the first is used
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

/** The windows of a Desktop in its order, before rendering. */
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
    const free = capacity - desktop.length;
    if (free === 0) break;
    for (const window of orderWindows(groups.get(server) ?? [], free, report)) desktop.push(window);
  }
  return desktop;
}
