/** Tells what changes in folders and in those below them, as the system says it. Follows no links. */
import { dirname, join } from "@std/path";
import { delay } from "../async/backoff.ts";
import { describeError } from "../text/text.ts";

/**
 * On these systems the system itself watches a whole tree, and follows no links. Elsewhere each folder is watched on its
 * own, and the runtime would look for the folders itself: without a limit, also behind links that lead out of the tree,
 * and without a pause, so that this process could answer nobody meanwhile.
 */
const WATCHES_TREES = Deno.build.os === "darwin" || Deno.build.os === "windows";
/** How long to wait after folders came or went before all are looked for again, in milliseconds. */
const SETTLE_MS = 200;
/** Looking for folders again and again may take this part of the time at most. */
const MAX_LOAD = 1 / 20;
/** How long to wait before folders that cannot be watched are tried again, in milliseconds. */
const RETRY_MS = 10_000;

/** What a {@linkcode FolderEvents} needs. */
export interface FolderEventsOptions {
  /**
   * The most folders that are watched, those near the top first. Each takes one of the watches that the system grants to a
   * user; when it has too few, fewer folders are watched.
   */
  readonly maxFolders: number;
  /** Whether a folder below the given ones is watched, by its absolute path; all are by default. */
  readonly admits?: ((path: string) => boolean) | undefined;
  /** Called with the absolute paths of what changed: of files, and of folders. */
  readonly onPaths: (paths: readonly string[]) => void;
  /** Called when changes may have been missed: when the watch begins, and when there were too many events. */
  readonly onUnknown: () => void;
  /** Called when not all folders are watched, and why; a problem that stays is told once. */
  readonly onProblem: (problem: string) => void;
}

/** Watches folders and those below them. Folders that are missing are watched as soon as they exist. */
export class FolderEvents {
  readonly #roots: readonly string[];
  readonly #options: FolderEventsOptions;
  readonly #closing = new AbortController();
  readonly #closed = Promise.withResolvers<void>();
  readonly #work: Promise<void>;
  #watched: WatchedFolders | undefined;
  #lastProblem: string | undefined;

  constructor(roots: readonly string[], options: FolderEventsOptions) {
    this.#roots = roots;
    this.#options = options;
    this.#work = this.#run();
  }

  /** Stops watching. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#closed.resolve();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const startMs = performance.now();
      let waitMs = RETRY_MS;
      try {
        const missing = await this.#renew();
        waitMs = Math.max(SETTLE_MS, (performance.now() - startMs) / MAX_LOAD);
        const isOver = [this.#closed.promise, untilThere(missing, signal)];
        await Promise.race([...isOver, this.#watched?.untilStale() ?? never]);
      } catch (error) {
        this.#tell(describeError(error));
      }
      await delay(waitMs, signal).catch(() => {});
    }
    await this.#watched?.close();
  }

  /**
   * Watches the folders that there are now; those of before are watched until then, so that nothing is missed.
   *
   * @returns which of the given folders are missing
   */
  async #renew(): Promise<readonly string[]> {
    const { signal } = this.#closing;
    const before = this.#watched;
    const changed = before?.takeChangedFolders() ?? [];
    const { roots, missing } = await findRoots(this.#roots);
    const folders = WATCHES_TREES ? new Set(roots) : await foldersIn(roots, { ...this.#options, signal });
    if (signal.aborted) return missing;
    const { inside: again, outside: others } = divide(folders, new Set(changed));
    const watched = this.#watched = new WatchedFolders(this.#options);
    watched.add(others);
    await before?.close();
    // The runtime watches a path once for all watches: a folder that was made again needs the end of the watch before.
    watched.add(again);
    // What came after the folders were listed is not watched yet.
    watched.noteChangedFolders(before?.takeChangedFolders() ?? []);
    this.#tellLimit(watched.size, folders.size);
    if (before === undefined) this.#options.onUnknown();
    else this.#options.onPaths([...new Set([...changed, ...again, ...watched.without(before)])]);
    return missing;
  }

  #tellLimit(watched: number, found: number): void {
    if (watched < found) this.#tell(`the system lets only ${watched} folders be watched`);
    else if (!WATCHES_TREES && found >= this.#options.maxFolders) {
      this.#tell(`only ${found} folders are watched`);
    } else this.#tell(undefined);
  }

  /** Tells a problem when it is another one than the last. */
  #tell(problem: string | undefined): void {
    const isNew = problem !== this.#lastProblem && !this.#closing.signal.aborted;
    this.#lastProblem = problem;
    if (problem !== undefined && isNew) this.#options.onProblem(problem);
  }
}

const never = new Promise<never>(() => {});

/** Folders that are watched. */
class WatchedFolders {
  readonly #options: FolderEventsOptions;
  readonly #folders = new Set<string>();
  readonly #watchers: Deno.FsWatcher[] = [];
  readonly #readings: Promise<void>[] = [];
  /** Folders that came or went. */
  readonly #changed = new Set<string>();
  readonly #stale = Promise.withResolvers<void>();

  constructor(options: FolderEventsOptions) {
    this.#options = options;
    this.#stale.promise.catch(() => {});
  }

  /** Watches more folders, the last ones not if the system refuses to watch so many. */
  add(folders: readonly string[]): void {
    for (let count = folders.length; count > 0; count = Math.floor(count / 2)) {
      const paths = folders.slice(0, count);
      try {
        const watcher = Deno.watchFs(paths, { recursive: WATCHES_TREES });
        this.#watchers.push(watcher);
        this.#readings.push(this.#read(watcher).catch(this.#stale.reject));
        for (const path of paths) this.#folders.add(path);
        return;
      } catch (error) {
        // A folder that has been removed meanwhile is no reason to watch fewer.
        const left = error instanceof Deno.errors.NotFound ? folders.filter(exists) : folders;
        if (left.length < folders.length) return this.add(left);
        if (count === 1) throw error;
      }
    }
  }

  /** How many there are. */
  get size(): number {
    return this.#folders.size;
  }

  /** The folders that others did not watch. */
  without(others: WatchedFolders): readonly string[] {
    return [...this.#folders].filter((folder) => !others.#folders.has(folder));
  }

  /** Resolves when folders came or went; rejects when the system ends the watch. */
  untilStale(): Promise<void> {
    return this.#stale.promise;
  }

  /** The folders that came or went since the last call. */
  takeChangedFolders(): readonly string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Takes over folders that came or went. */
  noteChangedFolders(paths: readonly string[]): void {
    for (const path of paths) this.#changed.add(path);
    if (paths.length > 0) this.#stale.resolve();
  }

  /** Ends the watch. Idempotent. */
  async close(): Promise<void> {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
    await Promise.all(this.#readings);
  }

  async #read(watcher: Deno.FsWatcher): Promise<void> {
    for await (const { kind, paths, flag } of watcher) {
      if (kind === "access") continue;
      if (flag === "rescan") {
        this.#options.onUnknown();
        this.noteChangedFolders([...this.#folders]);
      }
      this.#options.onPaths(paths);
      if (kind !== "modify") await this.#noteFoldersIn(paths);
    }
  }

  /** Notes those of the paths that are folders now, or were some that are watched. */
  async #noteFoldersIn(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      if (this.#folders.has(path)) this.noteChangedFolders([path]);
      else if (!WATCHES_TREES && await isAdmittedFolder(path, this.#options)) this.noteChangedFolders([path]);
    }
  }
}

/** The folders in their canonical form, and those that are missing. */
async function findRoots(
  paths: readonly string[],
): Promise<{ readonly roots: readonly string[]; readonly missing: readonly string[] }> {
  const [roots, missing]: [string[], string[]] = [[], []];
  for (const path of paths) {
    try {
      roots.push(await Deno.realPath(path));
    } catch (error) {
      // It is told of by whoever reads it.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      missing.push(path);
    }
  }
  return { roots, missing };
}

/** Resolves when one of these paths exists, or the wait is ended. */
async function untilThere(paths: readonly string[], signal: AbortSignal): Promise<void> {
  if (paths.length === 0) return await never;
  while (!signal.aborted && !paths.some(exists)) await delay(RETRY_MS, signal).catch(() => {});
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Folders at or below some others, and all other ones. */
function divide(
  folders: Iterable<string>,
  others: ReadonlySet<string>,
): { readonly inside: readonly string[]; readonly outside: readonly string[] } {
  const [inside, outside]: [string[], string[]] = [[], []];
  for (const folder of folders) (isAtOrBelow(folder, others) ? inside : outside).push(folder);
  return { inside, outside };
}

function isAtOrBelow(folder: string, others: ReadonlySet<string>): boolean {
  if (others.size === 0) return false;
  const above = dirname(folder);
  return others.has(folder) || (above !== folder && isAtOrBelow(above, others));
}

type FolderChoice = Pick<FolderEventsOptions, "maxFolders" | "admits">;

/** The folders and those below them, those near the top first, without links. */
async function foldersIn(
  roots: readonly string[],
  { maxFolders, admits = () => true, signal }: FolderChoice & { readonly signal: AbortSignal },
): Promise<ReadonlySet<string>> {
  const found = new Set(roots.slice(0, maxFolders));
  for (const folder of found) {
    if (signal.aborted) break;
    try {
      for await (const { name, isDirectory } of Deno.readDir(folder)) {
        const path = join(folder, name);
        if (!isDirectory || !admits(path)) continue;
        if (found.size >= maxFolders) return found;
        found.add(path);
      }
    } catch (error) {
      if (roots.includes(folder) && !(error instanceof Deno.errors.NotFound)) throw error;
      // It is gone, or nobody may read it.
      found.delete(folder);
    }
  }
  return found;
}

async function isAdmittedFolder(path: string, { admits = () => true }: FolderChoice): Promise<boolean> {
  return admits(path) && await Deno.lstat(path).then(({ isDirectory }) => isDirectory, () => false);
}
