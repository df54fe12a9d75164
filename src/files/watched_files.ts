/**
 * Files that are watched: configurations, tokens, keys, certificates. They are looked at again and again, since the system
 * does not tell of each change: not of one behind a symbolic link, as Kubernetes makes it, and on some volumes of none.
 */
import { readFile, stat } from "node:fs/promises";
import { clearTimeout, setTimeout } from "node:timers";
import { Limiter } from "../async/limiter.ts";
import type { LogFields, Logger } from "../log.ts";
import { describeError } from "../text/text.ts";
import { decodeText, replacePrivateFile, trustProblem } from "./files.ts";

/** A file cannot be read, or its content cannot be used; the message says why, without any of its content. */
export class FileContentError extends Error {
  /** The name of the class. */
  override readonly name = "FileContentError";
  /** The code of this kind of error. */
  readonly code: "FILE_CONTENT" = "FILE_CONTENT";
}

/** The error of a part of a message; whoever knows the file completes it. */
export function contentProblem(reason: string, options?: ErrorOptions): FileContentError {
  return new FileContentError(reason, options);
}

const CHECK_INTERVAL_MS = 1_000;
/** A file that is written in place, or in several steps, has changed when it stays the same for this time, in milliseconds. */
const SETTLE_MS = 100;

export interface FileWatchOptions {
  /** The version that is known already, from {@linkcode versionOf}. */
  readonly since: string;
  /** Called after each change with the new version, one call at a time. It must not throw. */
  readonly onChange: (version: string) => Promise<void>;
  /** The time between two looks, in milliseconds; 1,000 by default. */
  readonly intervalMs?: number | undefined;
}

/** Tells when files have changed, whichever way they were saved. It does not keep the process running. */
export class FileWatch implements AsyncDisposable {
  readonly #files: readonly string[];
  readonly #options: FileWatchOptions;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #look: Promise<void> = Promise.resolve();
  #seen: string;
  #told: string;

  constructor(files: readonly string[], options: FileWatchOptions) {
    this.#files = files;
    this.#options = options;
    this.#seen = this.#told = options.since;
    this.#schedule();
  }

  /** Waits for a call of `onChange` that is under way. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#look;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #schedule(): void {
    if (this.#isClosed || this.#files.length === 0) return;
    const { intervalMs = CHECK_INTERVAL_MS } = this.#options;
    this.#timer = setTimeout(() => {
      this.#look = this.#lookNow().finally(() => this.#schedule());
    }, this.#seen === this.#told ? intervalMs : SETTLE_MS);
    this.#timer.unref();
  }

  async #lookNow(): Promise<void> {
    const version = await versionOf(this.#files);
    const isSettled = version === this.#seen;
    this.#seen = version;
    if (!isSettled || version === this.#told || this.#isClosed) return;
    this.#told = version;
    await this.#options.onChange(version);
  }
}

export interface WatchedFilesOptions {
  /** What the files are, for messages, such as `token file`. */
  readonly kind: string;
  /** One file, or several that belong together, such as a certificate and its key; none if the texts are given. */
  readonly files: readonly string[];
  readonly given?: readonly string[] | undefined;
  readonly maxBytes: number;
  /**
   * The text of a file of this program while there is none. `edit` changes such a file, and no other user may; one that cannot
   * be used at the start is told of as a later one is.
   */
  readonly ownText?: string | undefined;
  /**
   * Uses the texts of the files, in their order: at the start, and after each change. It may return fields for the line
   * in the log.
   *
   * @throws {FileContentError} from {@linkcode contentProblem} when they cannot be used. At the start, that ends the
   * opening; later, the former texts stay in use.
   */
  readonly use: (texts: readonly string[]) => LogFields | void;
  readonly logger: Logger;
  /** The time between two checks, in milliseconds; 1,000 by default. */
  readonly intervalMs?: number | undefined;
}

export class WatchedFiles implements AsyncDisposable {
  static readonly #open = new Set<WatchedFiles>();
  readonly #options: WatchedFilesOptions;
  #watch: FileWatch | undefined;
  #problem: string | undefined;
  /** What this program has written last: to read that again is no news. */
  #written: string | undefined;
  /** Reads and writes run one after another. */
  readonly #oneByOne = new Limiter(1);

  private constructor(options: WatchedFilesOptions) {
    this.#options = options;
  }

  /** Reads the files, and again after each change until `close()`. The check does not keep the process running. */
  static async open(options: WatchedFilesOptions): Promise<WatchedFiles> {
    const { files, intervalMs, ownText } = options;
    const watched = new WatchedFiles(options);
    const since = await versionOf(files);
    await (ownText === undefined ? watched.#load() : watched.#reload());
    const onChange = (version: string) => watched.#oneByOne.run(() => watched.#reload(version));
    watched.#watch = new FileWatch(files, { since, onChange, intervalMs });
    WatchedFiles.#open.add(watched);
    return watched;
  }

  /** Why the newest versions of files are not in use, of all that this process watches. */
  static get problems(): readonly string[] {
    return [...WatchedFiles.#open].flatMap(({ problem }) => problem ?? []);
  }

  /** Why the newest version of the files is not in use; `undefined` while it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /**
   * Changes the only file, by what `change` returns when the newest version is in use.
   *
   * @throws {FileContentError} when that version cannot be used: then it stays as it is.
   */
  async edit(change: () => string): Promise<void> {
    await this.#oneByOne.run(async () => {
      await this.#load();
      const text = change();
      for (const file of this.#options.files) await replacePrivateFile(file, text);
      this.#written = text;
      this.#options.use([text]);
    });
  }

  async close(): Promise<void> {
    WatchedFiles.#open.delete(this);
    await this.#watch?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @param version The changed one; at the start there is none. */
  async #reload(version?: string): Promise<void> {
    const { kind, files, logger } = this.#options;
    const fields = { files: files.join(", ") };
    const before = this.#problem;
    try {
      const loaded = await this.#load(version);
      if (loaded === undefined || version === undefined || (loaded.isOwn && before === undefined)) return;
      logger.info(`read the changed ${kind}`, { ...fields, ...loaded.fields });
    } catch (error) {
      const problem = describeError(error);
      // One line for each problem.
      if (problem === before) return;
      this.#problem = problem;
      const which = version === undefined ? kind : `changed ${kind}; keeping the previous one`;
      logger.error(`cannot use the ${which}`, { ...fields, error: problem });
    }
  }

  /** Reads the files and uses them; not when they are no longer of this version. */
  async #load(
    version?: string,
  ): Promise<{ readonly fields: LogFields | void; readonly isOwn: boolean } | undefined> {
    const { kind, files, given, use } = this.#options;
    try {
      const texts = given ?? await Promise.all(files.map((file) => readText(file, this.#options)));
      const isChanged = version !== undefined && version !== await versionOf(files);
      if (isChanged) return undefined;
      const fields = use(texts);
      this.#problem = undefined;
      return { fields, isOwn: texts[0] === this.#written };
    } catch (cause) {
      const named = files.map((file) => `"${file}"`).join(" and ");
      const reason = describeError(cause).replace(/^E[A-Z]+: /, "");
      throw new FileContentError(`${["Cannot read", kind, named].join(" ").trim()}: ${reason}`, { cause });
    }
  }
}

/** A text that changes with the files, also with their owners and permissions. */
export async function versionOf(files: readonly string[]): Promise<string> {
  const versions = await Promise.all(files.map(async (file) => {
    try {
      const { dev, ino, size, mtimeNs, ctimeNs, mode, uid } = await stat(file, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs, mode, uid].join(" ");
    } catch (error) {
      return describeError(error);
    }
  }));
  return versions.join("\n");
}

async function readText(file: string, { maxBytes, ownText }: WatchedFilesOptions): Promise<string> {
  const problem = ownText === undefined ? undefined : await trustProblem(file);
  if (problem !== undefined) throw contentProblem(problem);
  const found = await stat(file).catch((error) => {
    if (ownText === undefined || error.code !== "ENOENT") throw error;
  });
  if (found === undefined) return ownText ?? "";
  // Reading a pipe would wait for its other end.
  if (!found.isFile()) throw contentProblem(`"${file}" is not a regular file`);
  if (found.size > maxBytes) throw contentProblem(`"${file}" has more than ${maxBytes} bytes`);
  return decodeText(await readFile(file)).replace(/^\uFEFF/, "");
}
