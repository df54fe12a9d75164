/** Windows to organize, and what is reported about them. */
import { organizeDesktop, type OrganizeDesktopOptions } from "../../../src/organizer/desktop.ts";
import type { DesktopWindow } from "../../../src/organizer/windows.ts";
import type { OrganizerWarning } from "../../../src/organizer/warning.ts";

/** A window of the server that its path is rooted at, showing its own path unless told otherwise. */
export function makeWindow(path: string, parts: {
  readonly resource?: Record<string, unknown>;
  readonly contents?: unknown;
  readonly server?: string;
} = {}): DesktopWindow {
  const uri = `window://${path}`;
  const { resource = {}, server = path.split("/")[0] ?? "" } = parts;
  const contents = "contents" in parts ? parts.contents : [{ uri, text: path }];
  // Strangers send what the types do not allow
  return { server, resource: { uri, ...resource }, contents } as DesktopWindow;
}

/** What is shown, without the text. */
export function listUris(windows: readonly DesktopWindow[], options: OrganizeDesktopOptions = {}): string[] {
  return organizeDesktop(windows, options).map((desktop) => desktop.split("\n\n")[0] ?? "");
}

/** The codes of what is reported. */
export function listWarnings(
  windows: readonly DesktopWindow[],
  options: OrganizeDesktopOptions = {},
): string[] {
  const warnings: OrganizerWarning[] = [];
  organizeDesktop(windows, { ...options, onWarning: (warning) => warnings.push(warning) });
  return warnings.map((warning) => warning.code);
}
