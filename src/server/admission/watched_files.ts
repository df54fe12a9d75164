/**
 * Files that are read again when they change: tokens, keys, certificates. They are checked at intervals and not by
 * notifications of the system, which miss a change behind a symbolic link, as Kubernetes makes it, and on some volumes.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { clearTimeout, setTimeout } from "node:timers";
import type { LogFields, Logger } from "../../log.ts";
import { describeError } from "../../text.ts";

/** A file cannot be read, or its content cannot be used; the message says why, without any of its content. */
export class FileContentError extends Error {
  /** The name of the class. */
  override readonly name = "FileContentError";
  /** The code of this kind of error. */
  readonly code = "FILE_CONTENT";
}

/** The error of a part of a message; whoever knows the file completes it. */
export function contentProblem(reason: string, options?: ErrorOptions): FileContentError {
  return new FileContentError(reason, options);
}

const FILE_CHECK_INTERVAL_MS = 1_000;
/** A file that is written in place is read when it has not changed for this time, in milliseconds. */
const SETTLE_MS = 100;

export interface WatchedFilesOptions {
  /** What the files are, for messages, such as `token file`. */
  readonly kind: string;
  /** One file, or several that belong together, such as a certificate and its key. */
  readonly files: readonly string[];
  readonly maxBytes: number;
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
  readonly #options: WatchedFilesOptions;
  #isClosed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #check: Promise<void> = Promise.resolve();
  /** The version that was seen last. */
  #seen = "";
  /** The version that was read last, whether it could be used or not. */
  #read = "";
  #digest = "";
  #problem: string | undefined;

  private constructor(options: WatchedFilesOptions) {
    this.#options = options;
  }

  /** Reads the files, and again after each change until `close()`. The check does not keep the process running. */
  static async open(options: WatchedFilesOptions): Promise<WatchedFiles> {
    const watched = new WatchedFiles(options);
    const { stamp, texts } = await readAll(options);
    watched.#seen = watched.#read = stamp;
    watched.#use(texts);
    watched.#schedule();
    return watched;
  }

  /** Why the newest version of the files is not in use; `undefined` while it is. */
  get problem(): string | undefined {
    return this.#problem;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#check;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #schedule(): void {
    if (this.#isClosed) return;
    const { intervalMs = FILE_CHECK_INTERVAL_MS } = this.#options;
    this.#timer = setTimeout(() => {
      this.#check = this.#checkNow().finally(() => this.#schedule());
    }, this.#seen === this.#read ? intervalMs : SETTLE_MS);
    this.#timer.unref();
  }

  async #checkNow(): Promise<void> {
    const { kind, files, logger } = this.#options;
    const fields = { files: files.join(", ") };
    try {
      const stamp = await stampsOf(files);
      const isSettled = stamp === this.#seen;
      this.#seen = stamp;
      if (!isSettled || stamp === this.#read) return;
      this.#read = stamp;
      const read = await readAll(this.#options);
      this.#seen = read.stamp;
      // Otherwise they have changed while they were read.
      if (read.stamp !== stamp || this.#isClosed) return;
      // The same text again, after a broken one in between or not, is in use already.
      if (digestOf(read.texts) === this.#digest && this.#problem === undefined) return;
      const told = this.#use(read.texts);
      this.#problem = undefined;
      logger.info(`read the changed ${kind}`, { ...fields, ...told });
    } catch (error) {
      const problem = describeError(error);
      // One line for each problem.
      if (problem !== this.#problem) {
        logger.error(`cannot use the changed ${kind}; keeping the previous one`, {
          ...fields,
          error: problem,
        });
      }
      this.#problem = problem;
    }
  }

  #use(texts: readonly string[]): LogFields | void {
    const { kind, files, use } = this.#options;
    try {
      const told = use(texts);
      this.#digest = digestOf(texts);
      return told;
    } catch (cause) {
      const named = files.map((file) => `"${file}"`).join(" and ");
      throw new FileContentError(`Cannot read ${kind} ${named}: ${describeError(cause)}`, { cause });
    }
  }
}

async function readAll({ kind, files, maxBytes }: WatchedFilesOptions) {
  const reads = await Promise.all(files.map((file) =>
    withFile(file, async (handle) => {
      const text = await readText(handle, maxBytes);
      return { stamp: await stampOf(handle), text };
    }).catch((cause) => {
      throw new FileContentError(`Cannot read ${kind} "${file}": ${describeFileError(cause)}`, { cause });
    })
  ));
  return { stamp: reads.map(({ stamp }) => stamp).join("\n"), texts: reads.map(({ text }) => text) };
}

async function stampsOf(files: readonly string[]): Promise<string> {
  const stamps = await Promise.all(files.map((file) => withFile(file, stampOf).catch(describeFileError)));
  return stamps.join("\n");
}

/** Without waiting for the other end of a pipe. */
async function withFile<T>(file: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

async function stampOf(handle: FileHandle): Promise<string> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

async function readText(handle: FileHandle, maxBytes: number): Promise<string> {
  const stat = await handle.stat();
  if (stat.isDirectory()) throw contentProblem("it is a folder; give the path of a file");
  if (!stat.isFile()) throw contentProblem("it is not a regular file; write its content to a file first");
  // The file may grow meanwhile.
  const bytes = new Uint8Array(Math.min(stat.size, maxBytes) + 1);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > maxBytes) throw contentProblem(`it has more than ${maxBytes} bytes`);
  return new TextDecoder().decode(bytes.subarray(0, length));
}

function digestOf(texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("base64");
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder; give the path of a file",
};

function describeFileError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "NotCapable") return "reading it needs --allow-read";
  const code = "code" in error ? String(error.code) : "";
  return REASONS[code] ?? error.message;
}
