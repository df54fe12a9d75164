/** The windows of one MCP server: which are shown, in which order, and as what text. */
import { isRecord } from "../json/json.ts";
import type { McpResource, ResourceContents } from "../protocol/resources.ts";
import { excerpt } from "../text/text.ts";
import { windowIdentity, windowQueryOf, withoutQuery } from "../uri/window_uri.ts";
import { parseInstant } from "./instant.ts";
import type { OrganizerWarningCode, Report } from "./warning.ts";

/** A window as its MCP server listed it and as it was read. */
export interface DesktopWindow {
  /** The name of its MCP server. */
  readonly server: string;
  /** Its entry in `resources/list`. */
  readonly resource: McpResource;
  /** The contents that `resources/read` returned; `undefined` when the window was not read. */
  readonly contents: readonly ResourceContents[] | undefined;
}

/** The metadata that the order of windows depends on. */
export interface WindowLayout {
  /** From 0 to 1. */
  readonly priority: number;
  readonly fullscreen: boolean;
}

/** A window and its priority, which is read once. */
interface RankedWindow extends Pick<WindowLayout, "priority"> {
  readonly window: DesktopWindow;
}

/** Reports a problem of one window. */
export type ReportWindow = (window: DesktopWindow, code: OrganizerWarningCode, message: string) => void;

/**
 * Orders the windows of one MCP server: the first fullscreen window alone, or all windows by descending priority
 * (`docs/protocol/desktop.md#window-order`, `docs/protocol/desktop.md#fullscreen-windows`).
 *
 * @param windows in the order of `resources/list`
 * @param capacity the most windows to return, at least 1
 */
export function orderWindows(
  windows: readonly DesktopWindow[],
  capacity: number,
  report: Report,
): DesktopWindow[] {
  const warn: ReportWindow = ({ server, resource }, code, message) => {
    const uri: unknown = isRecord(resource) ? resource.uri : undefined;
    report({ code, message, server, uri: typeof uri === "string" ? uri : "" });
  };
  const identities = new Set<string>();
  const ranked: RankedWindow[] = [];
  let firstFullscreen: DesktopWindow | undefined;
  for (const window of windows) {
    if (!isFirstSpelling(window, identities, warn) || !hasText(window, warn)) continue;
    const { priority, fullscreen } = readLayout(window, warn);
    ranked.push({ window, priority });
    if (fullscreen) firstFullscreen ??= window;
  }
  if (firstFullscreen !== undefined) return [firstFullscreen];
  ranked.sort((a, b) => b.priority - a.priority);
  return ranked.slice(0, capacity).map(({ window }) => window);
}

/** Whether the window has a valid URI, and no window before it has the same host and path. */
function isFirstSpelling(window: DesktopWindow, identities: Set<string>, warn: ReportWindow): boolean {
  const uri: unknown = isRecord(window.resource) ? window.resource.uri : undefined;
  const identity = typeof uri === "string" ? windowIdentity(uri) : undefined;
  if (identity === undefined) {
    warn(window, "window-uri", `Cannot show window ${excerpt(uri)}: invalid window:// URI`);
    return false;
  }
  if (identity !== uri && windowQueryOf(window.resource.uri) !== undefined) {
    const message = `Cannot use the query of window ${
      excerpt(uri)
    }: layout is read from annotations and _meta`;
    warn(window, "window-query", message);
  }
  const known = identities.size;
  if (identities.add(identity).size > known) return true;
  const message = `Cannot show window ${excerpt(uri)}: its server lists the same window earlier`;
  warn(window, "window-duplicate", message);
  return false;
}

/** Reads the layout of a listed window. A value that is missing, null or invalid has its default; an invalid one is reported. */
export function readLayout(window: DesktopWindow, warn: ReportWindow): WindowLayout {
  return { priority: readPriority(window, warn), fullscreen: readFullscreen(window, warn) };
}

function readPriority(window: DesktopWindow, warn: ReportWindow): number {
  const annotations: unknown = window.resource.annotations;
  if (annotations === undefined || annotations === null) return 0;
  if (!isRecord(annotations)) {
    warn(window, "window-annotations", `Cannot read annotations ${excerpt(annotations)}: not an object`);
    return 0;
  }
  const { priority, audience, lastModified } = annotations;
  checkAudience(window, audience, warn);
  checkLastModified(window, lastModified, warn);
  if (typeof priority === "number" && priority >= 0 && priority <= 1) return priority;
  if (priority !== undefined && priority !== null) {
    const message = `Cannot use priority ${excerpt(priority)}: not a number from 0 to 1; 0 is used`;
    warn(window, "window-priority", message);
  }
  return 0;
}

function checkAudience(window: DesktopWindow, audience: unknown, warn: ReportWindow): void {
  if (audience === undefined || audience === null) return;
  if (!Array.isArray(audience) || !audience.every(isRole)) {
    const message = `Cannot read audience ${excerpt(audience)}: not a list of "user" and "assistant"`;
    warn(window, "window-annotations", message);
  }
  if (Array.isArray(audience) && !audience.includes("assistant")) {
    const message = `Cannot find "assistant" in the audience of the window; the window is shown anyway`;
    warn(window, "window-audience", message);
  }
}

function checkLastModified(window: DesktopWindow, lastModified: unknown, warn: ReportWindow): void {
  if (lastModified === undefined || lastModified === null) return;
  if (typeof lastModified === "string" && parseInstant(lastModified) !== undefined) return;
  const message = `Cannot read lastModified ${excerpt(lastModified)}: not an ISO 8601 date`;
  warn(window, "window-annotations", message);
}

function readFullscreen(window: DesktopWindow, warn: ReportWindow): boolean {
  const meta: unknown = window.resource._meta;
  if (meta === undefined || meta === null) return false;
  if (!isRecord(meta)) {
    warn(window, "window-meta", `Cannot read _meta ${excerpt(meta)}: not an object`);
    return false;
  }
  const { fullscreen } = meta;
  if (typeof fullscreen === "boolean") return fullscreen;
  if (fullscreen !== undefined && fullscreen !== null) {
    const message = `Cannot use fullscreen ${excerpt(fullscreen)}: not a boolean; false is used`;
    warn(window, "window-fullscreen", message);
  }
  return false;
}

function isRole(value: unknown): boolean {
  return value === "user" || value === "assistant";
}

/** Whether the window has a text item, which may be empty. Every other item is reported. */
function hasText(window: DesktopWindow, warn: ReportWindow): boolean {
  const contents: unknown = window.contents;
  if (contents === undefined || contents === null) return false;
  if (!Array.isArray(contents)) {
    warn(window, "window-contents", "Cannot read the contents of the window: not a list");
    return false;
  }
  let found = false;
  for (const item of contents) {
    if (textOf(item) !== undefined) found = true;
    else if (isRecord(item) && typeof item["blob"] === "string") {
      warn(window, "window-blob", "Cannot render a blob of the window: only text is shown");
    } else {
      const message = "Cannot read an item of the window's contents: neither text nor blob";
      warn(window, "window-contents", message);
    }
  }
  return found;
}

/** Renders a window as `{URI}\n\n{text}`, or as the URI alone when its text is empty (`docs/protocol/desktop.md#rendering-rules`). */
export function renderWindow(window: DesktopWindow): string {
  const { uri, text } = readWindow(window);
  return text === "" ? uri : `${uri}\n\n${text}`;
}

/** The URI of a window without its query, and its texts joined by blank lines. */
export function readWindow({ resource, contents }: DesktopWindow): { uri: string; text: string } {
  let text: string | undefined;
  for (const item of contents ?? []) {
    const next = textOf(item);
    if (next !== undefined) text = text === undefined ? next : `${text}\n\n${next}`;
  }
  return { uri: withoutQuery(resource.uri), text: text ?? "" };
}

function textOf(item: unknown): string | undefined {
  return isRecord(item) && typeof item["text"] === "string" ? item["text"] : undefined;
}
