/** Tells which folders to look at again. */
import { dirname } from "@std/path";
import { FolderEvents, type Logger } from "@a2c-smcp/sdk/base";
import { describeError } from "../basics.ts";

/**
 * The most folders whose events are heard, those near the top first: fewer than the 8,192 watches that many Linux systems
 * grant to a user. Changes in the others are found by the look at everything.
 */
const MAX_WATCHED = 5_000;
/** How long events are collected before they are told, in milliseconds: an editor that saves causes several. */
const COLLECT_MS = 100;
/** From so many folders on, everything is looked at. */
const MAX_FOLDERS = 1_000;
/** A look at everything may take this part of the time at most. */
const MAX_LOAD = 1 / 20;

export interface FolderWatchOptions {
  readonly onFolders: (paths: ReadonlySet<string>) => Promise<void>;
  /** Looks at everything again. */
  readonly onAll: () => Promise<void>;
  /**
   * How often everything is looked at, in milliseconds: network folders send no events, and events can be lost. Less
   * often when a look takes long.
   */
  readonly pollMs: number;
  /** Whether a folder may have documents, by its absolute path. */
  readonly admits: (path: string) => boolean;
  /** Nothing is told before this promise is settled. */
  readonly after: Promise<void>;
  readonly logger: Logger;
}

/** Watches folders by the events of the system, and by looking at everything now and then. One look at a time. */
export class FolderWatch implements AsyncDisposable {
  readonly #options: FolderWatchOptions;
  readonly #folders = new Set<string>();
  readonly #events: FolderEvents;
  #isAllDue = false;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #poll: ReturnType<typeof setTimeout> | undefined;
  #look: Promise<void>;

  /** @param roots the folders in their canonical form */
  constructor(roots: readonly string[], options: FolderWatchOptions) {
    const { admits, after, logger } = options;
    this.#options = options;
    this.#look = after.catch(() => {});
    this.#events = new FolderEvents(roots, {
      maxFolders: MAX_WATCHED,
      admits,
      onPaths: (paths) => this.#note(paths),
      onUnknown: () => {
        this.#isAllDue = true;
        this.#schedule();
      },
      onProblem: (error) =>
        logger.warn("not all folders are watched; other changes are found by looking at them now and then", {
          error,
        }),
    });
    this.#schedulePoll(0);
  }

  /** Ends the watch; waits for a look that is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#poll);
    await this.#events.close();
    await this.#look;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #note(paths: readonly string[]): void {
    for (const path of paths) this.#folders.add(dirname(path)).add(path);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look = this.#look.then(() => this.#lookNow());
    }, COLLECT_MS);
  }

  async #lookNow(): Promise<void> {
    if (this.#isClosed) return;
    const folders = new Set(this.#folders);
    const isAll = this.#isAllDue || folders.size > MAX_FOLDERS;
    this.#folders.clear();
    this.#isAllDue = false;
    const startMs = performance.now();
    try {
      if (!isAll) return await this.#options.onFolders(folders);
      await this.#options.onAll();
      this.#schedulePoll(performance.now() - startMs);
    } catch (error) {
      this.#options.logger.error("the folders cannot be looked at", { error: describeError(error) });
    }
  }

  #schedulePoll(lastMs: number): void {
    if (this.#isClosed) return;
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => {
      this.#isAllDue = true;
      this.#schedule();
    }, Math.max(this.#options.pollMs, lastMs / MAX_LOAD));
  }
}
