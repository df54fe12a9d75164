/** Reports changes of one file, whichever way an editor saves it. */
import { dirname, resolve } from "@std/path";
import { delay } from "../../async/backoff.ts";
import type { Logger } from "../../log.ts";
import { describeError } from "../../text/text.ts";

/** An editor may save in several steps; steps that follow within this time, in milliseconds, are one change. */
const SETTLE_MS = 100;
/** How often the file is checked, in milliseconds, since some file systems report no changes. */
const POLL_MS = 5_000;

export interface WatchOptions {
  /** Called after each change, one call at a time. An error that it throws is logged. */
  readonly onChange: () => void | Promise<void>;
  readonly log: Logger;
  /** The stamp of the version that is known already, see {@linkcode stampOf}; the present version by default. */
  readonly since?: string | undefined;
}

/** Watches one file from the constructor on, by its folder, because editors replace a file when they save it. */
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
    this.#work = Promise.all([this.#listen(), this.#poll()]);
  }

  async close(): Promise<void> {
    if (!this.#closing.signal.aborted) this.#watcher?.close();
    this.#closing.abort();
    await this.#work;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): Deno.FsWatcher | undefined {
    try {
      return Deno.watchFs(dirname(this.#file), { recursive: false });
    } catch (error) {
      this.#options.log.info(`cannot watch the folder; checking the file every ${POLL_MS} ms`, {
        file: this.#file,
        error: describeError(error),
      });
      return undefined;
    }
  }

  async #listen(): Promise<void> {
    // A change behind a symbolic link is reported with the name of its target, so each event is worth a look.
    for await (const _ of this.#watcher ?? []) await this.#check();
  }

  async #poll(): Promise<void> {
    const { signal } = this.#closing;
    do await this.#check(); while (await delay(POLL_MS, signal).then(() => true, () => false));
  }

  /** Reports a change when the file has stopped changing. */
  async #check(): Promise<void> {
    const { signal } = this.#closing;
    if (stampOf(this.#file) === this.#stamp) return;
    const stamp = await this.#settle();
    if (signal.aborted || stamp === this.#stamp) return;
    this.#stamp = stamp;
    try {
      await this.#options.onChange();
    } catch (error) {
      this.#options.log.error("cannot apply a change of a file", {
        file: this.#file,
        error: describeError(error),
      });
    }
  }

  /** Waits until the stamp stays the same for a moment. */
  async #settle(): Promise<string> {
    const stamp = stampOf(this.#file);
    await delay(SETTLE_MS, this.#closing.signal).catch(() => {});
    return this.#closing.signal.aborted || stamp === stampOf(this.#file) ? stamp : await this.#settle();
  }
}

/** A text that differs between versions of a file, also after a change of owner or mode; empty without a file. */
export function stampOf(file: string): string {
  try {
    const { mtime, size, ino, dev, mode, uid } = Deno.statSync(file);
    return [mtime?.getTime(), size, ino, dev, mode, uid].join(" ");
  } catch {
    return "";
  }
}
