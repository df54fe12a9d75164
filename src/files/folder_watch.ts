/** Watches folders and those below them, by the events of the system and by looks at everything. Follows no links. */
import { join } from "@std/path";
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
/** Looking for folders again and again, or at everything, may take this part of the time at most. */
const MAX_LOAD = 1 / 20;
/** How long to wait before folders that cannot be watched are tried again, in milliseconds. */
const RETRY_MS = 10_000;
/** How long changes are collected before they are told, in milliseconds: an editor that saves causes several. */
const COLLECT_MS = 100;
/** From so many changed paths on, everything is to be looked at. */
const MAX_PATHS = 1_000;

export interface FolderWatchOptions {
  /**
   * The most folders that are watched, those near the top first. Each takes one of the watches that the system grants to a
   * user; when it has too few, fewer folders are watched.
   */
  readonly maxFolders: number;
  /** Whether a folder below the given ones is watched, by its absolute path; all are by default. */
  readonly admits?: ((path: string) => boolean) | undefined;
  /**
   * Called with the absolute paths of what changed, of files and of folders, or with `undefined` when everything is to be
   * looked at: when the watch begins, when changes may have been missed, and every `pollMs`. One call at a time; it must
   * not throw.
   */
  readonly onChange: (paths: ReadonlySet<string> | undefined) => Promise<void> | void;
  /**
   * How often everything is to be looked at, in milliseconds, and less often when a look takes long: network folders send
   * no events, and events can be lost. Never by default.
   */
  readonly pollMs?: number | undefined;
  /** Called when not all folders are watched, and why; a problem that stays is told once. */
  readonly onProblem: (problem: string) => void;
}

/** Watches folders and those below them. Folders that are missing are watched as soon as they exist. */
export class FolderWatch implements AsyncDisposable {
  readonly #roots: readonly string[];
  readonly #options: FolderWatchOptions;
  readonly #closing = new AbortController();
  readonly #following: Promise<void>;
  readonly #watchers: Deno.FsWatcher[] = [];
  readonly #readings: Promise<void>[] = [];
  /** The folders that are watched; `undefined` before the first ones are. */
  #folders: ReadonlySet<string> | undefined;
  /** Folders that came or went. */
  #moved = new Set<string>();
  /** Resolves when folders came or went; rejects when the system ends the watch. */
  #stale = Promise.withResolvers<void>();
  #lastProblem: string | undefined;
  readonly #changed = new Set<string>();
  #isAllDue = false;
  #collecting: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setTimeout> | undefined;
  #look: Promise<void> = Promise.resolve();

  constructor(roots: readonly string[], options: FolderWatchOptions) {
    this.#roots = roots;
    this.#options = options;
    this.#schedulePoll(0);
    this.#following = this.#follow();
  }

  /** Stops watching; waits for a call of `onChange` that is under way. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#stale.resolve();
    clearTimeout(this.#collecting);
    clearTimeout(this.#poll);
    await this.#following;
    await this.#look;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const startMs = performance.now();
      let waitMs = RETRY_MS;
      try {
        const missing = await this.#watchAnew();
        waitMs = Math.max(SETTLE_MS, (performance.now() - startMs) / MAX_LOAD);
        await Promise.race([this.#stale.promise, untilThere(missing, signal)]);
      } catch (error) {
        this.#tellProblem(describeError(error));
      }
      await delay(waitMs, signal).catch(() => {});
    }
    await this.#unwatch();
  }

  /**
   * Watches the folders that there are now.
   *
   * @returns which of the given folders are missing
   */
  async #watchAnew(): Promise<readonly string[]> {
    const { signal } = this.#closing;
    const before = this.#folders;
    const moved = this.#moved;
    this.#moved = new Set();
    const { roots, missing } = await findRoots(this.#roots);
    const folders = WATCHES_TREES ? roots : await foldersIn(roots, { ...this.#options, signal });
    // First: the runtime watches a path once for all watches, and would not watch a folder that was made again.
    await this.#unwatch();
    if (signal.aborted) return missing;
    this.#stale = Promise.withResolvers();
    this.#stale.promise.catch(() => {});
    const watched = this.#folders = new Set(this.#watch(folders));
    // What came after the folders were listed is not watched yet.
    if (this.#moved.size > 0) this.#stale.resolve();
    this.#tellLimit(watched.size, folders.length);
    if (before === undefined) this.#noteAll();
    // Their files may have come before they were watched.
    else this.#note([...moved, ...[...watched].filter((folder) => !before.has(folder))]);
    return missing;
  }

  /** Watches folders, the last ones not if the system refuses to watch so many; returns which it watches. */
  #watch(folders: readonly string[]): readonly string[] {
    for (let count = folders.length; count > 0; count = Math.floor(count / 2)) {
      const paths = folders.slice(0, count);
      try {
        const watcher = Deno.watchFs(paths, { recursive: WATCHES_TREES });
        this.#watchers.push(watcher);
        this.#readings.push(this.#read(watcher).catch((error) => this.#stale.reject(error)));
        return paths;
      } catch (error) {
        // A folder that has been removed meanwhile is no reason to watch fewer.
        const left = error instanceof Deno.errors.NotFound ? folders.filter(exists) : folders;
        if (left.length < folders.length) return this.#watch(left);
        if (count === 1) throw error;
      }
    }
    return [];
  }

  async #unwatch(): Promise<void> {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
    await Promise.all(this.#readings.splice(0));
  }

  async #read(watcher: Deno.FsWatcher): Promise<void> {
    for await (const { kind, paths, flag } of watcher) {
      if (kind === "access") continue;
      if (flag === "rescan") {
        this.#noteAll();
        this.#stale.resolve();
      }
      this.#note(paths);
      if (kind === "modify") continue;
      for (const path of paths) {
        const isFolder = this.#folders?.has(path) || !WATCHES_TREES && await isAdmitted(path, this.#options);
        if (!isFolder) continue;
        this.#moved.add(path);
        this.#stale.resolve();
      }
    }
  }

  #tellLimit(watched: number, found: number): void {
    if (watched < found) this.#tellProblem(`the system lets only ${watched} folders be watched`);
    else if (!WATCHES_TREES && found >= this.#options.maxFolders) {
      this.#tellProblem(`only ${found} folders are watched`);
    } else this.#tellProblem(undefined);
  }

  #tellProblem(problem: string | undefined): void {
    const isNew = problem !== this.#lastProblem && !this.#closing.signal.aborted;
    this.#lastProblem = problem;
    if (problem !== undefined && isNew) this.#options.onProblem(problem);
  }

  #note(paths: readonly string[]): void {
    for (const path of paths) this.#changed.add(path);
    if (paths.length > 0) this.#schedule();
  }

  #noteAll(): void {
    this.#isAllDue = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#closing.signal.aborted) return;
    this.#collecting ??= setTimeout(() => {
      this.#collecting = undefined;
      this.#look = this.#look.then(() => this.#lookNow());
    }, COLLECT_MS);
  }

  async #lookNow(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const isAll = this.#isAllDue || this.#changed.size > MAX_PATHS;
    const paths = new Set(this.#changed);
    this.#changed.clear();
    this.#isAllDue = false;
    const startMs = performance.now();
    await this.#options.onChange(isAll ? undefined : paths);
    if (isAll) this.#schedulePoll(performance.now() - startMs);
  }

  #schedulePoll(lastMs: number): void {
    const { pollMs } = this.#options;
    if (pollMs === undefined || this.#closing.signal.aborted) return;
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => this.#noteAll(), Math.max(pollMs, lastMs / MAX_LOAD));
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

/** Resolves when one of these paths exists, or the wait is ended; never for none. */
async function untilThere(paths: readonly string[], signal: AbortSignal): Promise<void> {
  if (paths.length === 0) return await new Promise<never>(() => {});
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

type FolderChoice = Pick<FolderWatchOptions, "maxFolders" | "admits">;

/** The folders and those below them, those near the top first, without links. */
async function foldersIn(
  roots: readonly string[],
  { maxFolders, admits = () => true, signal }: FolderChoice & { readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const found = new Set(roots.slice(0, maxFolders));
  for (const folder of found) {
    if (signal.aborted) break;
    try {
      for await (const { name, isDirectory } of Deno.readDir(folder)) {
        const path = join(folder, name);
        if (!isDirectory || !admits(path)) continue;
        if (found.size >= maxFolders) return [...found];
        found.add(path);
      }
    } catch (error) {
      if (roots.includes(folder) && !(error instanceof Deno.errors.NotFound)) throw error;
      // It is gone, or nobody may read it.
      found.delete(folder);
    }
  }
  return [...found];
}

async function isAdmitted(path: string, { admits = () => true }: FolderChoice): Promise<boolean> {
  return admits(path) && await Deno.lstat(path).then(({ isDirectory }) => isDirectory, () => false);
}
