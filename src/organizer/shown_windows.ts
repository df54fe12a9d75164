/** Which windows of one MCP server are shown, and in which order (`docs/protocol/desktop.md#organizing`). */
import { isRecord } from "../json.ts";
import { excerpt } from "../uri/excerpt.ts";
import { windowIdentity, windowQueryOf } from "../uri/window_identity.ts";
import { BestFirst } from "./best_first.ts";
import type { DesktopWindow } from "./desktop_window.ts";
import type { Report } from "./warning.ts";
import { readLayout, type ReportWindow } from "./window_layout.ts";
import { hasText } from "./window_text.ts";

/**
 * The first fullscreen window alone, or the windows of the highest priority, the highest first.
 *
 * @param windows those of one MCP server, in the order of its list
 * @param capacity the most windows to return, at least 1
 */
export function selectShownWindows(
  windows: readonly DesktopWindow[],
  capacity: number,
  report: Report,
): DesktopWindow[] {
  const warn: ReportWindow = ({ server, resource }, code, message) => {
    const uri: unknown = isRecord(resource) ? resource.uri : undefined;
    report({ code, message, server, uri: typeof uri === "string" ? uri : "" });
  };
  const identities = new Set<string>();
  const best = new BestFirst<DesktopWindow>(capacity);
  let firstFullscreen: DesktopWindow | undefined;
  for (const window of windows) {
    if (!isFirstSpelling(window, identities, warn) || !hasText(window, warn)) continue;
    const { priority, fullscreen } = readLayout(window, warn);
    best.offer(window, priority);
    if (fullscreen) firstFullscreen ??= window;
  }
  return firstFullscreen === undefined ? best.list() : [firstFullscreen];
}

/** Whether the window has a valid URI whose host and path no window before it had. */
function isFirstSpelling(window: DesktopWindow, identities: Set<string>, warn: ReportWindow): boolean {
  const uri: unknown = isRecord(window.resource) ? window.resource.uri : undefined;
  const identity = typeof uri === "string" ? windowIdentity(uri) : undefined;
  if (identity === undefined) {
    warn(
      window,
      "window-uri",
      `Cannot show window ${excerpt(uri)}: not a valid window:// URI, so it is left out`,
    );
    return false;
  }
  if (identity !== uri && windowQueryOf(window.resource.uri) !== undefined) {
    warn(
      window,
      "window-query",
      `Cannot use the query of window ${excerpt(uri)}: dropped, metadata has its own fields`,
    );
  }
  const known = identities.size;
  if (identities.add(identity).size > known) return true;
  warn(
    window,
    "window-duplicate",
    `Cannot show window ${excerpt(uri)}: its server lists the same window before`,
  );
  return false;
}
