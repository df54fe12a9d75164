/** What of a window's contents is shown (`docs/protocol/desktop.md#rendering-rules`). */
import { isRecord } from "../json.ts";
import { withoutQuery } from "../uri/window_identity.ts";
import type { DesktopWindow } from "./desktop_window.ts";
import type { ReportWindow } from "./window_layout.ts";

/** Whether there is any text to show, be it empty. Blobs and what is neither are reported and skipped. */
export function hasText(window: DesktopWindow, warn: ReportWindow): boolean {
  const contents: unknown = window.contents;
  if (contents === undefined || contents === null) return false;
  if (!Array.isArray(contents)) {
    warn(window, "window-contents", "Cannot read contents of window: not a list");
    return false;
  }
  let found = false;
  for (const item of contents) {
    if (textOf(item) !== undefined) found = true;
    else if (isRecord(item) && typeof item["blob"] === "string") {
      warn(window, "window-blob", "Cannot render blob contents of window: only text is shown");
    } else {warn(
        window,
        "window-contents",
        "Cannot read an item of the window's contents: neither text nor blob",
      );}
  }
  return found;
}

/** Renders a window: `{URI}\n\n{body}`, or the URI alone when all its text is empty. */
export function renderWindow(window: DesktopWindow): string {
  const { uri, text } = readWindow(window);
  return text === "" ? uri : `${uri}\n\n${text}`;
}

/** A window's URI as it is shown, and its text, which may be empty. */
export function readWindow({ resource, contents }: DesktopWindow): { uri: string; text: string } {
  let body: string | undefined;
  for (const item of contents ?? []) {
    const text = textOf(item);
    if (text !== undefined) body = body === undefined ? text : `${body}\n\n${text}`;
  }
  return { uri: withoutQuery(resource.uri), text: body ?? "" };
}

function textOf(item: unknown): string | undefined {
  return isRecord(item) && typeof item["text"] === "string" ? item["text"] : undefined;
}
