/** The Desktop of a Computer: the windows of all MCP servers, checked and in order, before rendering. */
import type { WarnOnce } from "../../mcp/warn_once.ts";
import { arrangeDesktop } from "../../organizer/desktop.ts";
import type { OrganizerWarning } from "../../organizer/warning.ts";
import type { DesktopWindow } from "../../organizer/windows.ts";
import { badRequest } from "../../protocol/errors.ts";
import { shorten } from "../../text/text.ts";
import { windowIdentity } from "../../uri/window_uri.ts";
import type { ResourceDirectory } from "./directory.ts";

const MAX_URI_LENGTH = 8_192;
const MAX_SHOWN_URI_LENGTH = 200;

export interface DesktopOptions {
  /** The most windows; none at 0 and below; all by default. */
  readonly size?: number | undefined;
  /** The URI of the only window to show. */
  readonly window?: string | undefined;
  readonly timeoutMs: number;
}

export interface DesktopContext {
  readonly resources: ResourceDirectory;
  /** The MCP server of each tool call, oldest first. */
  readonly history: readonly string[];
  readonly warnOnce: WarnOnce;
}

/**
 * Collects the windows of a Desktop.
 *
 * @throws {SmcpError} 400 when `window` is not a window URI.
 */
export async function collectDesktop(
  { size, window, timeoutMs }: DesktopOptions,
  { resources, history, warnOnce }: DesktopContext,
): Promise<DesktopWindow[]> {
  const identity = window === undefined ? undefined : identityOf(window);
  if (size !== undefined && size <= 0) return [];
  const onWarning = ({ code: kind, message, server, uri }: OrganizerWarning) =>
    warnOnce.warn(message, { server, uri, kind });
  const windows = await resources.windows({ identity, timeoutMs });
  return arrangeDesktop(windows, { size, history, onWarning });
}

function identityOf(window: string): string {
  const identity = window.length > MAX_URI_LENGTH ? undefined : windowIdentity(window);
  if (identity !== undefined) return identity;
  const shown = shorten(window, MAX_SHOWN_URI_LENGTH);
  throw badRequest("window", `Cannot show window "${shown}": invalid window:// URI`);
}
