/**
 * One upload and the checks of its chunks, in the order of the protocol (`docs/protocol/versions.md#uploads`). Whoever writes
 * the bytes tells it what was written.
 */
import type { PartFile } from "./part_file.ts";
import { isGiven } from "../../json/json.ts";
import { createHash, type Hash } from "node:crypto";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { type ErrorDetails, SmcpError } from "../../protocol/errors.ts";

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
const MAX_HINT_LENGTH = 64;
/** The bytes of an `upload_id`, enough to make it impossible to guess. */
const ID_BYTES = 16;

export class Upload {
  readonly id: string;
  readonly totalSize: number;
  readonly sha256: string;
  /** The name that the file gets at the end. */
  readonly fileName: string;
  /** The file that its bytes are written to. */
  part: PartFile | undefined;
  usedAtMs: number;
  /** Whether a chunk is being written. The next one has to wait for its answer. */
  isWriting = true;
  /** Whether nothing more of it may be written: it was taken from the open uploads, or got more than was declared. */
  isEnded = false;
  readonly #hash: Hash = createHash("sha256");
  #receivedBytes = 0;

  /**
   * The upload that a first chunk declares. Its chunk is not read yet.
   *
   * @throws {SmcpError} 4019 `invalid_declaration` or `too_large`.
   */
  constructor(
    request: UploadRequest,
    { maxBytes, nowMs }: { readonly maxBytes: number; readonly nowMs: number },
  ) {
    const { totalSize, sha256, nameHint } = readDeclaration(request);
    if (totalSize > maxBytes) {
      const state = `the file has ${totalSize} bytes, the limit is ${maxBytes}`;
      throw uploadFailure("too_large", state, { total_size: totalSize });
    }
    this.id = crypto.getRandomValues(new Uint8Array(ID_BYTES)).toHex();
    this.totalSize = totalSize;
    this.sha256 = sha256;
    this.fileName = fileNameOf(this.id, nameHint);
    this.usedAtMs = nowMs;
  }

  /**
   * Takes a further chunk: others have to wait until {@linkcode Upload.release}.
   *
   * @throws {SmcpError} 4019 `invalid_declaration` or `range`.
   */
  take(request: UploadRequest): void {
    const declared = DECLARATION.find((key) => isGiven(request[key]));
    if (declared !== undefined) {
      throw uploadFailure("invalid_declaration", `only the first chunk may have "${declared}"`);
    }
    if (this.isWriting) {
      throw uploadFailure("range", "a chunk of this upload is being written; send the next after its answer");
    }
    this.isWriting = true;
  }

  /** A chunk is answered: the next one may come. */
  release(nowMs: number): void {
    this.isWriting = false;
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

function readDeclaration(
  request: UploadRequest,
): { readonly totalSize: number; readonly sha256: string; readonly nameHint: string } {
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
