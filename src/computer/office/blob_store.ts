/** Keeps parts of large answers until the Agent has fetched them (`docs/protocol/calls-and-offices.md#blobs`). */
import { createHash } from "node:crypto";
import { BoundedSet } from "../../async/bounded_collections.ts";
import { A2C_BLOB_HANDLE, A2C_SHA256, A2C_TOTAL_SIZE } from "../../protocol/blobs.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import type { BlobLimits } from "../../config/limits.ts";
import type { GetBlobRet } from "../../protocol/resources.ts";

/** The most bytes of one chunk, as in the reference implementation. */
export const MAX_CHUNK_BYTES = 256 * 1024;
/** The random bytes of a handle, enough to make it impossible to guess. */
const HANDLE_BYTES = 24;
/** How many handles of removed blobs are remembered, to answer with the reason `gone`. */
const MAX_GONE = 1_000;

export type BlobMark = Readonly<
  Record<typeof A2C_BLOB_HANDLE | typeof A2C_SHA256, string> & Record<typeof A2C_TOTAL_SIZE, number>
>;

export interface ChunkRequest {
  readonly handle: string;
  readonly offset: number;
  readonly maxBytes: number;
}

/** A part of an answer to keep. The store owns its bytes. */
export interface BlobPart {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly mimeType: string;
}

interface Blob extends BlobPart {
  readonly mark: BlobMark;
  /** Whether a call gave it, which goes on while the owner has paused the Computer. */
  isOfCall: boolean;
  expiresAtMs: number;
  /** How many bytes were not sent yet. With none left, it may be removed to make room. Chunks come in any order. */
  unsentBytes: number;
  /** The handles of all parts of the last answer that it is a part of. */
  answer: readonly string[];
}

export class OfficeBlobs {
  readonly #limits: BlobLimits;
  readonly #now: () => number;
  readonly #blobs = new Map<string, Blob>();
  readonly #gone = new BoundedSet<string>(MAX_GONE);
  #keptBytes = 0;
  #isEnded = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(limits: BlobLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  get maxBytes(): number {
    return this.#limits.maxBlobBytes;
  }

  /**
   * Keeps all of these parts of one answer; gives `undefined` when they do not fit or the office was left. Equal
   * bytes are kept once.
   */
  keep(parts: readonly BlobPart[], { isOfCall }: Pick<Blob, "isOfCall">): BlobMark[] | undefined {
    const sums = parts.map(({ bytes }) => sha256Of(bytes));
    this.#expire();
    const known = parts.map(({ mimeType }, index) => this.#find(sums[index] ?? "", mimeType));
    for (const blob of known) if (blob !== undefined) blob.unsentBytes = blob.bytes.byteLength;
    const newBytes = parts.reduce((sum, { bytes }, index) => sum + (known[index] ? 0 : bytes.byteLength), 0);
    if (!this.#makeRoom(newBytes)) return undefined;
    const blobs = parts.map((part, index) => this.#add(part, sums[index] ?? ""));
    const marks = blobs.map(({ mark }) => mark);
    const answer = marks.map((mark) => mark[A2C_BLOB_HANDLE]);
    for (const blob of blobs) {
      blob.answer = answer;
      blob.isOfCall ||= isOfCall;
    }
    return marks;
  }

  /** Whether it was kept for reads alone. */
  isOfReads(handle: string): boolean {
    return this.#blobs.get(handle)?.isOfCall === false;
  }

  /**
   * Reads a part of a blob.
   *
   * @throws {SmcpError} 4018 with `details.reason`: `invalid_handle`, `gone` or `range`.
   */
  read({ handle, offset, maxBytes }: ChunkRequest): Omit<GetBlobRet, "req_id"> {
    this.#expire();
    const blob = this.#blobs.get(handle);
    if (blob === undefined) throw notAccessible(this.#gone.has(handle) ? "gone" : "invalid_handle");
    const { bytes, mimeType, mark } = blob;
    if (offset < 0 || offset > bytes.byteLength) throw notAccessible("range");
    const chunk = bytes.subarray(offset, offset + Math.min(maxBytes, MAX_CHUNK_BYTES));
    const eof = offset + chunk.byteLength === bytes.byteLength;
    this.#touch(blob);
    blob.unsentBytes -= chunk.byteLength;
    // An Agent fetches the parts of an answer one after another.
    const waiting = blob.unsentBytes > 0 ? blob.answer : [];
    for (const part of waiting) this.#touch(this.#blobs.get(part));
    return {
      blob_handle: handle,
      mime_type: mimeType,
      total_size: bytes.byteLength,
      sha256: mark[A2C_SHA256],
      chunk_offset: offset,
      eof,
      blob: chunk.toBase64(),
    };
  }

  /** Removes all blobs and refuses new ones. Idempotent. */
  end(): void {
    this.#isEnded = true;
    this.#keptBytes = 0;
    clearTimeout(this.#timer);
    this.#blobs.clear();
    this.#gone.clear();
  }

  #find(sha256: string, mimeType: string): Blob | undefined {
    return this.#blobs.values().find((blob) =>
      blob.mark[A2C_SHA256] === sha256 && blob.mimeType === mimeType
    );
  }

  #add(part: BlobPart, sha256: string): Blob {
    const blob = this.#find(sha256, part.mimeType) ?? this.#addNew(part, sha256);
    this.#touch(blob);
    return blob;
  }

  #addNew({ bytes, mimeType }: BlobPart, sha256: string): Blob {
    const handle = newHandle();
    const mark = { [A2C_BLOB_HANDLE]: handle, [A2C_TOTAL_SIZE]: bytes.byteLength, [A2C_SHA256]: sha256 };
    const unsentBytes = bytes.byteLength;
    const blob = { bytes, mimeType, mark, isOfCall: false, expiresAtMs: 0, unsentBytes, answer: [handle] };
    this.#blobs.set(handle, blob);
    this.#keptBytes += bytes.byteLength;
    return blob;
  }

  /** Returns whether the bytes fit; removes blobs that were sent whole, if needed. */
  #makeRoom(sizeBytes: number): boolean {
    const { maxBlobBytes } = this.#limits;
    if (this.#isEnded || sizeBytes > maxBlobBytes) return false;
    for (const [handle, { unsentBytes }] of this.#blobs) {
      if (this.#keptBytes + sizeBytes <= maxBlobBytes) return true;
      if (unsentBytes <= 0) this.#remove(handle);
    }
    return this.#keptBytes + sizeBytes <= maxBlobBytes;
  }

  #touch(blob: Blob | undefined): void {
    if (blob === undefined) return;
    blob.expiresAtMs = this.#now() + this.#limits.blobLifetimeMs;
    this.#timer ??= setTimeout(this.#onTimer, this.#limits.blobLifetimeMs);
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined;
    this.#expire();
    if (this.#blobs.size === 0) return;
    const nextMs = Math.min(...this.#blobs.values().map(({ expiresAtMs }) => expiresAtMs));
    this.#timer = setTimeout(this.#onTimer, Math.max(1, nextMs - this.#now()));
  };

  #expire(): void {
    const nowMs = this.#now();
    for (const [handle, { expiresAtMs }] of this.#blobs) if (expiresAtMs <= nowMs) this.#remove(handle);
  }

  #remove(handle: string): void {
    const blob = this.#blobs.get(handle);
    if (blob === undefined) return;
    this.#blobs.delete(handle);
    this.#keptBytes -= blob.bytes.byteLength;
    this.#gone.add(handle);
    if (this.#blobs.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

export class BlobStore {
  readonly #limits: BlobLimits;
  /** The blobs of the office of now. */
  office: OfficeBlobs;

  constructor(limits: BlobLimits) {
    this.#limits = limits;
    this.office = new OfficeBlobs(limits);
  }

  /** The office was left, or another Agent sits in the seat: all handles become invalid. */
  forgetAgent(): void {
    this.office.end();
    this.office = new OfficeBlobs(this.#limits);
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function newHandle(): string {
  return crypto.getRandomValues(new Uint8Array(HANDLE_BYTES)).toBase64({ alphabet: "base64url" });
}

const REASONS = {
  invalid_handle: "unknown handle",
  gone: "it was removed after its lifetime or after it was fetched",
  range: "the offset is outside of the blob",
} as const;

function notAccessible(reason: keyof typeof REASONS): SmcpError {
  return new SmcpError(ErrorCode.BLOB_NOT_ACCESSIBLE, `Cannot read the blob: ${REASONS[reason]}`, {
    details: { reason },
  });
}
