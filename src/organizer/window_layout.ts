/** How a window wants to be laid out (`docs/protocol/desktop.md#window-metadata`). */
import { isRecord } from "../json.ts";
import { excerpt } from "../uri/excerpt.ts";
import type { DesktopWindow } from "./desktop_window.ts";
import { parseInstant } from "./instant.ts";
import type { OrganizerWarningCode } from "./warning.ts";

/** What the ordering reads of a window's metadata. */
export interface WindowLayout {
  /** From 0 to 1. */
  readonly priority: number;
  readonly fullscreen: boolean;
}

/** Reports what is wrong with one window. */
export type ReportWindow = (window: DesktopWindow, code: OrganizerWarningCode, message: string) => void;

/** Reads a listed window's layout. What is absent or null has its default; what is wrong is reported, too. */
export function readLayout(window: DesktopWindow, warn: ReportWindow): WindowLayout {
  return {
    priority: readPriority(window, warn),
    fullscreen: readFullscreen(window, warn),
  };
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
    warn(
      window,
      "window-priority",
      `Cannot read priority ${excerpt(priority)}: not a number from 0 to 1, so it is 0`,
    );
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
    const message = `Cannot find audience "assistant" of the window: it is shown all the same`;
    warn(window, "window-audience", message);
  }
}

function checkLastModified(window: DesktopWindow, lastModified: unknown, warn: ReportWindow): void {
  if (lastModified === undefined || lastModified === null) return;
  if (typeof lastModified === "string" && parseInstant(lastModified) !== undefined) return;
  const message = `Cannot read lastModified ${excerpt(lastModified)}: not an ISO 8601 time stamp`;
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
    warn(
      window,
      "window-fullscreen",
      `Cannot read fullscreen ${excerpt(fullscreen)}: not a boolean, so it is false`,
    );
  }
  return false;
}

function isRole(value: unknown): boolean {
  return value === "user" || value === "assistant";
}
