/**
 * The uploads that are open, and the checks of their chunks in the order of the protocol (`docs/protocol/versions.md#uploads`).
 * Without files: whoever writes the bytes tells it what was written.
 */
import { isGiven } from "../../json/json.ts";
import { createHash, type Hash } from "node:crypto";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";
import { shorten } from "../../text/text.ts";

/** Limits of open uploads. */
export interface SessionLimits {
  /** The most bytes of one upload; 100 MiB by default. */
  readonly maxBytes: number;
  /** The most uploads that are open at the same time; 4 by default. */
  readonly maxConcurrent: number;
  /** How long an upload stays open without a further chunk, in milliseconds; 120,000 by default. */
  readonly idleMs: number;
}

/** Why an upload failed: `details.reason` of 4019. */
export type UploadReason =
  | "forbidden"
  | "invalid_declaration"
  | "too_large"
  | "busy"
  | "invalid_upload"
  | "range"
  | "io_error"
  | "integrity";

/** A 4019. `state` follows "Cannot upload: " in the message. */
export function uploadFailure(
  reason: UploadReason,
  state: string,
  { cause, ...details }: ErrorDetails & { readonly cause?: unknown } = {},
): SmcpError {
  return new SmcpError(ErrorCode.BLOB_WRITE_FAILED, `Cannot upload: ${state}`, {
    details: { reason, ...details },
    cause,
  });
}

/** The members of a `client:put_blob`, not read yet. Peers in Python may write `null` for absent members. */
export type UploadRequest = Readonly<Record<string, unknown>>;

export interface UploadChunk {
  readonly offset: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** The members that only a first chunk has. */
const DECLARATION = ["total_size", "sha256", "name_hint"];
/** The most characters of an `upload_id` that is repeated in an error. */
const MAX_TOLD_ID_LENGTH = 64;
const MAX_HINT_LENGTH = 64;
/** The bytes of an `upload_id`, enough to make it impossible to guess. */
const ID_BYTES = 16;

export class Upload {
  readonly id: string;
  readonly totalSize: number;
  readonly sha256: string;
  /** The name that the file gets at the end. */
  readonly fileName: string;
  usedAtMs: number;
  /** Whether a chunk is being written. The next one has to wait for its answer. */
  isWriting = true;
  /** Whether nothing more of it may be written: it was taken from the open uploads, or got more than was declared. */
  isEnded = false;
  readonly #hash: Hash = createHash("sha256");
  #receivedBytes = 0;

  constructor(declaration: Declaration, nowMs: number) {
    this.id = newId();
    this.totalSize = declaration.totalSize;
    this.sha256 = declaration.sha256;
    this.fileName = fileNameOf(this.id, declaration.nameHint);
    this.usedAtMs = nowMs;
  }

  /** Counts and hashes a chunk that was written. */
  add({ bytes }: UploadChunk): void {
    this.#hash.update(bytes);
    this.#receivedBytes += bytes.byteLength;
  }

  /**
   * Checks the checksum after the last chunk. Call it once.
   *
   * @throws {SmcpError} 4019 `integrity`.
   */
  assertWhole(): void {
    if (this.#hash.digest("hex") === this.sha256) return;
    throw uploadFailure("integrity", "the bytes do not match the declared sha256; send the file again");
  }

  /**
   * Reads a chunk.
   *
   * @throws {SmcpError} 4019 `range` or `invalid_declaration`. Unless {@linkcode Upload.isEnded}, the right chunk may follow.
   */
  read(request: UploadRequest): UploadChunk {
    const { chunk_offset: offset, eof = false } = request;
    if (offset !== this.#receivedBytes) {
      throw uploadFailure("range", `the next chunk begins at byte ${this.#receivedBytes}`);
    }
    const bytes = decode(request["blob"]);
    if (typeof eof !== "boolean") throw uploadFailure("invalid_declaration", '"eof" must be true or false');
    const end = this.#receivedBytes + bytes.byteLength;
    if (end > this.totalSize) {
      this.isEnded = true;
      const state = `${end} bytes were sent and ${this.totalSize} declared; send the file again`;
      throw uploadFailure("range", state);
    }
    if (eof && end !== this.totalSize) {
      throw uploadFailure("range", `the last chunk ends at byte ${end} of ${this.totalSize}`);
    }
    return { offset, bytes, isLast: eof };
  }
}

/** The uploads that are open, within their limits. */
export class UploadSessions {
  readonly #limits: SessionLimits;
  readonly #now: () => number;
  readonly #uploads = new Map<string, Upload>();

  constructor(limits: SessionLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get open(): readonly Upload[] {
    return [...this.#uploads.values()];
  }

  /** Ends the uploads that had no chunk for too long, and returns them. */
  expire(): Upload[] {
    const latestMs = this.#now() - this.#limits.idleMs;
    const idle = this.open.filter(({ isWriting, usedAtMs }) => !isWriting && usedAtMs < latestMs);
    for (const upload of idle) this.end(upload);
    return idle;
  }

  /**
   * Opens the upload that a first chunk declares. Its chunk is not read yet.
   *
   * @throws {SmcpError} 4019 `invalid_declaration`, `too_large` or `busy`.
   */
  declare(request: UploadRequest): Upload {
    const declaration = readDeclaration(request);
    const { totalSize: total_size } = declaration;
    const { maxBytes, maxConcurrent } = this.#limits;
    if (total_size > maxBytes) {
      throw uploadFailure("too_large", `the file has ${total_size} bytes, the limit is ${maxBytes}`, {
        total_size,
      });
    }
    if (this.#uploads.size >= maxConcurrent) {
      throw uploadFailure("busy", `${this.#uploads.size} uploads are open; wait and start again`);
    }
    const upload = new Upload(declaration, this.#now());
    this.#uploads.set(upload.id, upload);
    return upload;
  }

  /**
   * Finds the upload that a further chunk continues, and keeps other chunks out until {@linkcode release}.
   *
   * @throws {SmcpError} 4019 `invalid_upload`, `invalid_declaration` or `range`.
   */
  find(request: UploadRequest): Upload {
    const id = request["upload_id"];
    const upload = typeof id === "string" ? this.#uploads.get(id) : undefined;
    if (upload === undefined) {
      const told = typeof id === "string" ? { upload_id: shorten(id, MAX_TOLD_ID_LENGTH) } : {};
      throw uploadFailure(
        "invalid_upload",
        "unknown or expired upload; start again with the first chunk",
        told,
      );
    }
    const declared = DECLARATION.find((key) => isGiven(request[key]));
    if (declared !== undefined) {
      throw uploadFailure("invalid_declaration", `only the first chunk may have "${declared}"`);
    }
    if (upload.isWriting) {
      throw uploadFailure("range", "a chunk of this upload is being written; send the next after its answer");
    }
    upload.isWriting = true;
    return upload;
  }

  /** A chunk is answered: the next one may come. */
  release(upload: Upload): void {
    upload.isWriting = false;
    upload.usedAtMs = this.#now();
  }

  end(upload: Upload): void {
    upload.isEnded = true;
    this.#uploads.delete(upload.id);
  }
}

interface Declaration {
  readonly totalSize: number;
  readonly sha256: string;
  readonly nameHint: string;
}

function readDeclaration(request: UploadRequest): Declaration {
  const { total_size: totalSize, sha256 } = request;
  const nameHint = request["name_hint"] ?? "";
  if (typeof totalSize !== "number" || !Number.isSafeInteger(totalSize) || totalSize < 1) {
    throw uploadFailure("invalid_declaration", '"total_size" must be an integer of at least 1');
  }
  if (typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) {
    throw uploadFailure("invalid_declaration", '"sha256" must be 64 lower-case hexadecimal digits');
  }
  if (typeof nameHint !== "string") throw uploadFailure("invalid_declaration", '"name_hint" must be text');
  return { totalSize, sha256, nameHint };
}

/** Only base64 with its padding: what a peer cannot mean is not guessed. */
function decode(blob: unknown): Uint8Array<ArrayBuffer> {
  try {
    if (typeof blob !== "string" || /\s/.test(blob)) throw new TypeError("Not base64");
    return Uint8Array.fromBase64(blob, { lastChunkHandling: "strict" });
  } catch (cause) {
    throw uploadFailure("invalid_declaration", '"blob" must be base64', { cause });
  }
}

function newId(): string {
  return crypto.getRandomValues(new Uint8Array(ID_BYTES)).toHex();
}

/** The `upload_id`, and what is allowed of the hint. */
function fileNameOf(id: string, hint: string): string {
  const readable = hint.trim().replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, MAX_HINT_LENGTH)
    .replace(/^[._-]+|[._-]+$/g, "");
  return readable === "" ? id : `${id}_${readable}`;
}

/** Whether a file name is one that {@linkcode Upload} gives. */
export function isUploadName(name: string): boolean {
  return /^[0-9a-f]{32}(?:_[A-Za-z0-9._-]{1,64})?$/.test(name);
}
