/** What the names of files tell, and how sizes are written. */

/** The last part of a path with `/`. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

/** The end of a file name after its last dot, in lower case; empty without one. */
export function extensionOf(fileName: string): string {
  const dot = fileName.lastIndexOf(".");
  return dot <= 0 ? "" : fileName.slice(dot + 1).toLowerCase();
}

/** Names that are never documents: what programs leave behind, and packages. */
const NEVER = new Set(["node_modules", "__pycache__", "__MACOSX", "Thumbs.db", "desktop.ini", "lost+found"]);

/** Whether a file or a folder is never a document; office programs keep a lock file beside each open one. */
export function isLeftBehind(name: string): boolean {
  return NEVER.has(name) || name.startsWith("~$") || name.startsWith(".~lock.");
}

export function describeSize(bytes: number): string {
  return bytes < 1024 * 1024
    ? `${Math.ceil(bytes / 1024)} KiB`
    : `${(bytes / (1024 * 1024)).toFixed(1).replace(/\.0$/, "")} MiB`;
}
