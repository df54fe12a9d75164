/** The window beside the Finder: which documents changed lately. */
import type { FolderFile } from "./folder/tree.ts";
import { countOf } from "../text.ts";

/** How many documents the window shows. */
const MAX_SHOWN = 20;

/** What the window shows. */
export interface RecentDocuments {
  readonly documents: Iterable<FolderFile>;
  /** How many files have not been read yet. */
  readonly unread: number;
  titleOf(file: FolderFile): string;
  uriOf(file: FolderFile): string;
}

/** The text of the window: the documents that changed last, the newest first, in Markdown. */
export function renderRecent({ documents, unread, titleOf, uriOf }: RecentDocuments): string {
  const files = [...documents];
  const newest = files.toSorted((a, b) => b.modifiedMs - a.modifiedMs).slice(0, MAX_SHOWN);
  const lines = newest.map((file) =>
    `- ${new Date(file.modifiedMs).toISOString().slice(0, 16).replace("T", " ")} UTC: ${
      oneLine(titleOf(file))
    } (${oneLine(file.path)}) <${uriOf(file)}>`
  );
  const state = unread === 0 ? "" : `\n\n${unread} of them have not been read yet.`;
  return `# Documents\n\n${countOf(files.length, "document")}. Changed last:\n\n${
    lines.join("\n")
  }${state}\n`;
}

/** A name may have line breaks, and would otherwise look like lines of the window. */
function oneLine(name: string): string {
  return name.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}
