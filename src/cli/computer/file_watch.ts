/** Watching one file, however an editor saves it. */
import { basename, dirname, resolve } from "@std/path";
import { delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text.ts";

/** An editor writes in several steps; they count as one when they are no further apart, in milliseconds. */
const SETTLE_MS = 100;
/** How often a file is looked at where the file system tells nothing, in milliseconds. */
const POLL_MS = 5_000;

/** How to watch. */
export interface WatchOptions {
  /** Called after each change, never twice at a time; what it throws is logged. */
  readonly onChange: () => void | Promise<void>;
  readonly log: Logger;
  /** What {@linkcode stampOf} said before the file was read; now by default. */
  readonly since?: string | undefined;
}

/**
 * Watches a file by its folder, since editors replace a file when they save it, and by its time and size, since some
 * file systems tell of nothing. Begins before it returns.
 */
export class FileWatch implements AsyncDisposable {
  readonly #file: string;
  readonly #options: WatchOptions;
  readonly #closing = new AbortController();
  readonly #watcher: Deno.FsWatcher | undefined;
  readonly #work: Promise<unknown>;
  #stamp: string;

  constructor(file: string, options: WatchOptions) {
    this.#file = resolve(file);
    this.#options = options;
    this.#stamp = options.since ?? stampOf(this.#file);
    this.#watcher = this.#open();
    this.#work = Promise.all([this.#look(), this.#listen(), this.#poll()]);
  }

  /** Watches no longer; waits for a change that is being heard. Idempotent. */
  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) {
      this.#closing.abort();
      this.#watcher?.close();
    }
    await this.#work;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): Deno.FsWatcher | undefined {
    try {
      return Deno.watchFs(dirname(this.#file), { recursive: false });
    } catch (error) {
      this.#options.log.info(`the folder cannot be watched, so the file is looked at every ${POLL_MS} ms`, {
        file: this.#file,
        error: describeError(error),
      });
      return undefined;
    }
  }

  async #listen(): Promise<void> {
    const name = basename(this.#file);
    for await (const { paths } of this.#watcher ?? []) {
      // What is linked into the folder shows under its own name only.
      if (!paths.some((path) => basename(path) === name) && stampOf(this.#file) === this.#stamp) continue;
      await this.#look();
    }
  }

  async #poll(): Promise<void> {
    const { signal } = this.#closing;
    while (await delay(POLL_MS, signal).then(() => true, () => false)) await this.#look();
  }

  /** Hears the change once the file rests; while one look waits, the others have nothing to find. */
  async #look(): Promise<void> {
    const { signal } = this.#closing;
    if (stampOf(this.#file) === this.#stamp) return;
    const stamp = await this.#rest();
    if (signal.aborted || stamp === this.#stamp) return;
    this.#stamp = stamp;
    try {
      await this.#options.onChange();
    } catch (error) {
      this.#options.log.error("a change of a file was not heard", {
        file: this.#file,
        error: describeError(error),
      });
    }
  }

  /** The file's stamp once it stays the same for a moment. */
  async #rest(): Promise<string> {
    const stamp = stampOf(this.#file);
    await delay(SETTLE_MS, this.#closing.signal).catch(() => {});
    return this.#closing.signal.aborted || stamp === stampOf(this.#file) ? stamp : await this.#rest();
  }
}

/** What differs between two versions of a file, who may read it included; empty while there is none. */
export function stampOf(file: string): string {
  try {
    const { mtime, size, ino, dev, mode, uid } = Deno.statSync(file);
    return [mtime?.getTime(), size, ino, dev, mode, uid].join(" ");
  } catch {
    return "";
  }
}
