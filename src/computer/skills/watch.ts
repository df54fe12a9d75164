/** Watches a folder of skills, and tells that something in it has changed. */
import { join } from "@std/path";
import { delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text.ts";
import { mayRead } from "./folder.ts";

/**
 * On these systems the system itself watches a whole tree, and follows no links. Elsewhere each folder is watched on its
 * own, and the runtime would look for the folders itself: without a limit, also behind links that lead out of the folder
 * of skills, and without a pause, so that the Computer could answer nobody meanwhile.
 */
const WATCHES_TREES = Deno.build.os === "darwin" || Deno.build.os === "windows";
/** The most folders that are watched, those near the top first. */
const MAX_FOLDERS = 1_000;
/** How long to wait after folders came or went before all are looked for again, in milliseconds. */
const SETTLE_MS = 200;
/** How long to wait before a folder that cannot be watched is tried again, in milliseconds. */
const RETRY_MS = 10_000;

/** What a {@linkcode SkillFolderWatch} needs. */
export interface SkillWatchOptions {
  /** Called for each change, and when the watch begins, because changes before that are not seen. */
  readonly onChange: () => void;
  readonly log: Logger;
}

/** Watches a folder of skills where that is possible; every list looks at the files anyway. */
export class SkillFolderWatch {
  readonly #path: string;
  readonly #options: SkillWatchOptions;
  readonly #closing = new AbortController();
  readonly #work: Promise<void>;
  #watcher: Deno.FsWatcher | undefined;
  #lastProblem: string | undefined;

  constructor(path: string, options: SkillWatchOptions) {
    this.#path = path;
    this.#options = options;
    this.#work = this.#run();
  }

  /** Stops watching. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#end();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    // Without the permission, a terminal would be asked for it.
    if (!mayRead(this.#path)) return;
    while (!signal.aborted) {
      const waitMs = await this.#watch().then(() => SETTLE_MS, (error) => {
        // A folder that is missing is warned of by the look at its skills.
        if (!(error instanceof Deno.errors.NotFound)) this.#tell(describeError(error));
        return RETRY_MS;
      });
      this.#end();
      await delay(waitMs, signal).catch(() => {});
    }
  }

  /** Resolves when folders came or went. */
  async #watch(): Promise<void> {
    const root = await Deno.realPath(this.#path);
    const folders = WATCHES_TREES ? new Set([root]) : await foldersIn(root);
    if (this.#closing.signal.aborted) return;
    try {
      this.#watcher = Deno.watchFs([...folders], { recursive: WATCHES_TREES });
    } catch (error) {
      // One of them was removed in this moment.
      if (error instanceof Deno.errors.NotFound) return;
      throw error;
    }
    this.#tell(folders.size < MAX_FOLDERS ? undefined : `only ${MAX_FOLDERS} folders in it are watched`);
    this.#options.onChange();
    for await (const { kind, paths } of this.#watcher) {
      if (kind === "access") continue;
      this.#options.onChange();
      if (kind !== "modify" && await haveFoldersChanged(paths, folders)) return;
    }
  }

  #end(): void {
    try {
      this.#watcher?.close();
    } catch (error) {
      // It was closed before.
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
    this.#watcher = undefined;
  }

  /** Logs a problem when it is another one than the last. */
  #tell(problem: string | undefined): void {
    if (problem !== undefined && problem !== this.#lastProblem && !this.#closing.signal.aborted) {
      this.#options.log.info("cannot watch all of a folder of skills; it is read again at each request", {
        folder: this.#path,
        error: problem,
      });
    }
    this.#lastProblem = problem;
  }
}

/** The folder and those below it, those near the top first, without links. */
async function foldersIn(root: string): Promise<ReadonlySet<string>> {
  const found = new Set([root]);
  for (const folder of found) {
    try {
      for await (const { name, isDirectory } of Deno.readDir(folder)) {
        if (!isDirectory) continue;
        if (found.size === MAX_FOLDERS) return found;
        found.add(join(folder, name));
      }
    } catch (error) {
      if (folder === root) throw error;
      // It is gone, or nobody may read it.
      found.delete(folder);
    }
  }
  return found;
}

/** Whether one of these paths is a folder now, or was one that is watched. */
async function haveFoldersChanged(
  paths: readonly string[],
  watched: ReadonlySet<string>,
): Promise<boolean> {
  for (const path of paths) {
    if (watched.has(path)) return true;
    if (WATCHES_TREES) continue;
    if (await Deno.lstat(path).then(({ isDirectory }) => isDirectory, () => false)) return true;
  }
  return false;
}
