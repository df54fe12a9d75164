/** What the organizers report about the strangers' data that they put up with. */

/** What is wrong with a window or a document. */
export type OrganizerWarningCode =
  | "window-uri"
  | "window-query"
  | "window-duplicate"
  | "window-contents"
  | "window-blob"
  | "window-annotations"
  | "window-priority"
  | "window-audience"
  | "window-meta"
  | "window-fullscreen"
  | "document-uri"
  | "document-field"
  | "document-last-modified";

/** One thing that is wrong with one window or document; the rest is organized all the same. */
export interface OrganizerWarning {
  /** Which kind of thing is wrong. */
  readonly code: OrganizerWarningCode;
  /** Says what is wrong and what is done about it. */
  readonly message: string;
  /** The MCP server that it comes from. */
  readonly server: string;
  /** The URI as it was listed; empty when it is no text. */
  readonly uri: string;
}

/** Takes a warning and never throws. */
export type Report = (warning: OrganizerWarning) => void;

/**
 * Wraps a caller's `onWarning`: equal warnings arrive once, and a callback that throws breaks nothing.
 */
export function createReport(onWarning: ((warning: OrganizerWarning) => void) | undefined): Report {
  if (onWarning === undefined) return () => {};
  const reported = new Set<string>();
  return (warning) => {
    const key = JSON.stringify([warning.code, warning.server, warning.uri, warning.message]);
    if (reported.has(key)) return;
    reported.add(key);
    try {
      onWarning(warning);
    } catch {
      // A callback's failure is its own; organizing goes on.
    }
  };
}
