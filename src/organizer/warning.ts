/** Problems of windows and documents that do not stop the organizers. */

/** The kinds of problems that a window or a document can have. */
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
  | "document-last-modified";

/** One problem of one window or document. All others are organized normally. */
export interface OrganizerWarning {
  /** The kind of the problem. */
  readonly code: OrganizerWarningCode;
  /** A sentence that names the problem and what is done instead. */
  readonly message: string;
  /** The name of the MCP server of the window or document. */
  readonly server: string;
  /** The URI as it was listed; empty when it is not a string. */
  readonly uri: string;
}

/** Receives a warning; never throws. */
export type Report = (warning: OrganizerWarning) => void;

/** Wraps a caller's `onWarning`: equal warnings are passed on once, and an error of the callback is ignored. */
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
      // An error of the caller's callback must not stop the organizer.
    }
  };
}
