/** Watches a folder for changes. */
import type { Library, LibraryFile } from "./library.ts";

/** How long the folder must be unchanged before it is read, in milliseconds: editors write a file in several steps. */
const QUIET_MS = 50;

/** The changes of a folder since the last one. */
export interface FolderChange {
  readonly changed: readonly { readonly docRef: string; readonly how: "added" | "changed" | "removed" }[];
  /** Whether files were added or removed. */
  readonly isListChanged: boolean;
}

/** Watches the library's folder. Yields once for each series of changes, until the process ends. */
export async function watchFolder(library: Library): Promise<AsyncGenerator<FolderChange>> {
  const watcher = Deno.watchFs(library.folder, { recursive: false });
  return changes(watcher, { library, before: await snapshot(library) });
}

async function* changes(
  watcher: Deno.FsWatcher,
  { library, before }: { readonly library: Library; before: ReadonlyMap<string, LibraryFile> },
): AsyncGenerator<FolderChange> {
  const events = watcher[Symbol.asyncIterator]();
  let next = events.next();
  while (!(await next).done) {
    next = events.next();
    while (await isBusy(next)) next = events.next();
    const after = await snapshot(library);
    const change = compare(before, after);
    before = after;
    if (change.changed.length > 0) yield change;
  }
}

/** Whether another event arrives within the quiet time. */
async function isBusy(next: Promise<IteratorResult<Deno.FsEvent>>): Promise<boolean> {
  const { promise: quiet, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), QUIET_MS);
  try {
    return await Promise.race([quiet, next.then(({ done }) => done !== true)]);
  } finally {
    clearTimeout(timer);
  }
}

async function snapshot(library: Library): Promise<Map<string, LibraryFile>> {
  return new Map((await library.list()).map((file) => [file.docRef, file]));
}

function compare(
  before: ReadonlyMap<string, LibraryFile>,
  after: ReadonlyMap<string, LibraryFile>,
): FolderChange {
  const added = [...after.keys()].filter((docRef) => !before.has(docRef));
  const removed = [...before.keys()].filter((docRef) => !after.has(docRef));
  const changed = [...after.values()]
    .filter(({ docRef, modifiedAt }) => {
      const earlier = before.get(docRef);
      return earlier !== undefined && earlier.modifiedAt.getTime() !== modifiedAt.getTime();
    })
    .map(({ docRef }) => docRef);
  return {
    changed: [
      ...added.map((docRef) => ({ docRef, how: "added" as const })),
      ...removed.map((docRef) => ({ docRef, how: "removed" as const })),
      ...changed.map((docRef) => ({ docRef, how: "changed" as const })),
    ],
    isListChanged: added.length > 0 || removed.length > 0,
  };
}
