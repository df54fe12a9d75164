/** Takes the files that an Agent uploads (`client:put_blob`, `docs/protocol/versions.md#uploads`). */
import { isDeepStrictEqual } from "node:util";
import { resolve } from "@std/path";
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import { type Logger, withModule } from "../../log.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { PutBlobRet } from "../../protocol/uploads.ts";
import { describeError, shorten } from "../../text/text.ts";
import type { FolderLimits, LandingFolder } from "./landing_folder.ts";
import type { PartFile } from "./part_file.ts";
import { type SessionLimits, Upload, type UploadChunk, uploadFailure, type UploadRequest } from "./upload.ts";

/** Limits of uploads; each has a default. */
export interface UploadLimits extends SessionLimits, FolderLimits {}

/** Where uploads go, and limits that differ from the defaults. */
export interface UploadOptions extends Partial<UploadLimits> {
  /** The folder for the files; created, for its owner alone, when it does not exist. */
  readonly folder: string;
}

const DEFAULT_UPLOAD_LIMITS: UploadLimits = {
  maxBytes: 100 * 1024 * 1024,
  maxTotalBytes: 1024 * 1024 * 1024,
  maxFiles: 1_000,
  expireMs: 24 * 60 * 60 * 1000,
  maxConcurrent: 4,
  idleMs: 120_000,
};

/** The most characters of an `upload_id` that is repeated in an error. */
const MAX_TOLD_ID_LENGTH = 64;
/** How often expired files are looked for at least, in milliseconds. */
const SWEEP_MS = 60 * 60 * 1000;

export interface UploadsContext {
  /** The folder, or the folder with limits, of the Computer's options; by default that of its configuration. */
  readonly options?: string | UploadOptions | undefined;
  /** Whether the protocol version of the Computer has uploads. */
  readonly rules: { readonly takesUploads: boolean };
  readonly log: Logger;
  /** A clock in milliseconds; that of the process by default. */
  readonly now?: (() => number) | undefined;
  /** A clock in milliseconds since 1970, as the times of files are. */
  readonly date?: (() => number) | undefined;
}

interface Landing {
  readonly folder: Promise<LandingFolder>;
  readonly path: string;
  readonly limits: UploadLimits;
}

/** Takes uploads while a folder is set. */
export class Uploads {
  readonly #options: UploadOptions | undefined;
  readonly #hasUploads: boolean;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #date: () => number;
  #landing: Landing | undefined;
  readonly #open = new Map<string, Upload>();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #sweepTimer: ReturnType<typeof setTimeout> | undefined;
  /** What still touches files. */
  readonly #work = new Set<Promise<unknown>>();

  /**
   * @throws {TypeError} when the options name a folder, and the protocol version has no uploads.
   * @throws {RangeError} when a limit is not above 0.
   */
  constructor({ options, rules, log, now = () => performance.now(), date = Date.now }: UploadsContext) {
    if (options !== undefined && !rules.takesUploads) {
      throw new TypeError(
        'Cannot take uploads: the protocol has them since 0.4; set protocolVersion to "0.4", or leave out uploads',
      );
    }
    this.#options = typeof options === "string" ? { folder: options } : options;
    this.#hasUploads = rules.takesUploads;
    this.#log = withModule(log, "computer");
    this.#now = now;
    this.#date = date;
    this.#configure(this.#options);
  }

  /** Follows the folder of a configuration; `undefined` turns uploads off. Open uploads to another folder end. */
  follow(folder: string | undefined): void {
    if (this.#options !== undefined) return;
    if (this.#hasUploads) return this.#configure(folder === undefined ? undefined : { folder });
    if (folder === undefined) return;
    const remedy = 'write "protocol_version": "0.4" beside it, or start with --protocol 0.4';
    this.#log.warn(`"uploads" of the config has no effect below protocol 0.4; ${remedy}`, { folder });
  }

  /**
   * Takes a chunk; the result has no `req_id`.
   *
   * @throws {SmcpError} 4019 with `details.reason`.
   */
  put(request: UploadRequest): Promise<PutBlobRet> {
    return this.#track(this.#put(request));
  }

  /** Ends the open uploads: the office or its Agent has changed. Files that are whole stay. */
  endAgent(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    for (const upload of this.#open.values()) this.#end(upload);
  }

  /** Ends the open uploads and takes no more; resolves when no file is touched any more. Idempotent. */
  async close(): Promise<void> {
    this.#configure(undefined);
    await this.quiet();
  }

  /** Resolves when no file is touched any more. */
  async quiet(): Promise<void> {
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  #configure(options: UploadOptions | undefined): void {
    const path = options === undefined ? undefined : resolve(options.folder);
    const limits = toLimits(options);
    const before = this.#landing;
    if (path === before?.path && (before === undefined || isDeepStrictEqual(before.limits, limits))) return;
    this.endAgent();
    clearTimeout(this.#sweepTimer);
    this.#landing = undefined;
    if (path === undefined) return;
    const bounds = { limits, now: this.#date };
    const folder = import("./landing_folder.ts").then(({ LandingFolder }) => new LandingFolder(path, bounds));
    this.#landing = { folder, path, limits };
    this.#sweep(this.#landing);
  }

  async #put(request: UploadRequest): Promise<PutBlobRet> {
    const landing = this.#landing;
    if (landing === undefined) {
      const how = "its owner turns them on with --uploads DIR, or with uploads in the configuration";
      throw uploadFailure("forbidden", `this Computer takes no uploads; ${how}`);
    }
    this.#endIdle(landing);
    const isFirst = (request["upload_id"] ?? undefined) === undefined;
    const upload = isFirst ? this.#declare(request, landing) : this.#find(request);
    let chunk: UploadChunk | undefined;
    try {
      if (isFirst) upload.part = await this.#create(landing, upload);
      if (upload.part === undefined || upload.isEnded) throw ended();
      chunk = upload.read(request);
      return await this.#write(upload.part, upload, chunk);
    } catch (error) {
      // After a chunk that was refused, the right one may follow. Nobody knows the id of a first one.
      if (isFirst || chunk !== undefined) upload.isEnded = true;
      throw error;
    } finally {
      upload.release(this.#now());
      if (upload.isEnded) this.#end(upload);
      else this.#watchIdle(landing);
    }
  }

  /** Opens the upload that a first chunk declares. */
  #declare(request: UploadRequest, { limits: { maxBytes, maxConcurrent } }: Landing): Upload {
    const upload = new Upload(request, { maxBytes, nowMs: this.#now() });
    if (this.#open.size >= maxConcurrent) {
      throw uploadFailure("busy", `${this.#open.size} uploads are open; wait and start again`);
    }
    this.#open.set(upload.id, upload);
    return upload;
  }

  /** Finds the upload that a further chunk continues. */
  #find(request: UploadRequest): Upload {
    const id = request["upload_id"];
    const upload = typeof id === "string" ? this.#open.get(id) : undefined;
    if (upload === undefined) {
      const told = typeof id === "string" ? { upload_id: shorten(id, MAX_TOLD_ID_LENGTH) } : {};
      const state = "unknown or expired upload; start again with the first chunk";
      throw uploadFailure("invalid_upload", state, told);
    }
    upload.take(request);
    return upload;
  }

  async #create(landing: Landing, upload: Upload): Promise<PartFile> {
    try {
      return await (await landing.folder).create(upload, [...this.#open.values()]);
    } catch (error) {
      if (error instanceof SmcpError) throw error;
      this.#log.warn("cannot write in the folder for uploads", { error: describeError(error) });
      const state = "the folder for uploads cannot be written to; the log of the Computer says why";
      throw uploadFailure("forbidden", state, { cause: error });
    }
  }

  async #write(part: PartFile, upload: Upload, chunk: UploadChunk): Promise<PutBlobRet> {
    const answer = { upload_id: upload.id, chunk_offset: chunk.offset };
    await this.#onDisk(part.write(chunk.bytes));
    if (upload.isEnded) throw ended();
    upload.add(chunk);
    if (!chunk.isLast) return answer;
    upload.assertWhole();
    const landing_path = await this.#onDisk(part.land());
    // Ended meanwhile: the file is removed again.
    if (upload.isEnded) throw ended();
    upload.part = undefined;
    upload.isEnded = true;
    this.#log.info("an upload is complete", { path: landing_path, size: upload.totalSize });
    return { ...answer, landing_path, total_size: upload.totalSize, sha256: upload.sha256 };
  }

  async #onDisk<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (cause) {
      this.#log.warn("cannot write an upload", { error: describeError(cause) });
      const state = "the file cannot be written; the log of the Computer says why";
      throw uploadFailure("io_error", state, { cause });
    }
  }

  #end(upload: Upload): void {
    upload.isEnded = true;
    this.#open.delete(upload.id);
    // A chunk that is being written ends by itself, and removes the file after that.
    const part = upload.isWriting ? undefined : upload.part;
    if (part === undefined) return;
    upload.part = undefined;
    this.#track(part.discard()).catch((error) =>
      this.#log.warn("cannot remove an upload", { error: describeError(error) })
    );
  }

  /** Ends the uploads that had no chunk for too long. */
  #endIdle({ limits: { idleMs } }: Landing): void {
    const latestMs = this.#now() - idleMs;
    for (const upload of this.#open.values()) {
      if (!upload.isWriting && upload.usedAtMs < latestMs) this.#end(upload);
    }
  }

  /** Removes the parts of uploads that nobody continues, although no request comes. */
  #watchIdle(landing: Landing): void {
    if (this.#landing !== landing || this.#idleTimer !== undefined) return;
    const { idleMs } = landing.limits;
    this.#idleTimer = setTimeout(() => {
      this.#idleTimer = undefined;
      this.#endIdle(landing);
      if (this.#open.size > 0) this.#watchIdle(landing);
    }, Math.min(idleMs + 1, MAX_TIMER_MS));
  }

  /** Removes expired files now and from time to time. */
  #sweep(landing: Landing): void {
    this.#track(landing.folder.then((folder) => folder.open())).catch((error) => {
      // A Computer without the folder runs, so its owner has only this line to learn why uploads are refused.
      const isFile = error instanceof Deno.errors.AlreadyExists;
      this.#log.warn("cannot use the folder for uploads; uploads are refused", {
        folder: landing.path,
        error: isFile ? "it is a file; give a folder" : describeError(error),
      });
    });
    const timer = setTimeout(() => this.#sweep(landing), Math.min(landing.limits.expireMs, SWEEP_MS));
    // Old files are no reason for a program to go on.
    Deno.unrefTimer(timer);
    this.#sweepTimer = timer;
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const done = work.then(() => {}, () => {});
    this.#work.add(done);
    void done.then(() => this.#work.delete(done));
    return work;
  }
}

function ended(): SmcpError {
  return uploadFailure("invalid_upload", "the upload was ended by the Computer");
}

function toLimits({ folder: _, ...given }: Partial<UploadOptions> = {}): UploadLimits {
  const limits = { ...DEFAULT_UPLOAD_LIMITS, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (value > 0) continue;
    throw new RangeError(`Cannot use the limit "${name}" of uploads: ${value} is not above 0`);
  }
  return limits;
}
