/** Downloading the bytes behind a handle in chunks. The bounds hold whatever the Computer announces. */
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import type { GetBlobRet } from "../protocol/resources.ts";

/** Bytes that one chunk may have; what the reference Computer sends at most. */
export const BLOB_CHUNK_BYTES = 256 * 1024;
/** Bytes that are fetched for one answer unless the Agent was told otherwise. */
export const DEFAULT_MAX_BLOB_BYTES = 64 * 1024 * 1024;
/** How long the fetching for one answer may take unless the Agent was told otherwise, in milliseconds. */
export const DEFAULT_BLOB_TIMEOUT_MS = 300_000;
/** The most chunks that are requested for one answer, so that tiny chunks come to an end. */
export const MAX_BLOB_CHUNKS = 10_000;
/** How often a blob is read from its start when it changes meanwhile. */
const MAX_ATTEMPTS = 3;

/** Asks the Computer for the bytes of `handle` from `offset` on. */
export type FetchChunk = (handle: string, offset: number) => Promise<GetBlobRet>;

/** What reading needs. */
export interface BlobReaderOptions {
  readonly fetchChunk: FetchChunk;
  /** The most bytes of all items of one answer together. */
  readonly maxBytes: number;
}

/** Bytes and what they were announced as. */
interface Download {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}

/** Reads the blobs of one answer, within bounds that hold for all of them together. */
export class BlobReader {
  readonly #fetch: FetchChunk;
  readonly #maxBytes: number;
  #roomBytes: number;
  #chunks = 0;

  constructor({ fetchChunk, maxBytes }: BlobReaderOptions) {
    this.#fetch = fetchChunk;
    this.#maxBytes = maxBytes;
    this.#roomBytes = maxBytes;
  }

  /**
   * All bytes of a blob.
   *
   * @param sha256 what the answer said of it; what the chunks say by default.
   * @throws {SmcpError} 413 when it is too large, 4018 when it is not what it says.
   */
  async read(handle: string, sha256?: string): Promise<Uint8Array<ArrayBuffer>> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const download = await this.#download(handle);
      if (download === undefined) continue;
      const expected = sha256 ?? download.sha256;
      if (await sha256Of(download.bytes) !== expected.toLowerCase()) continue;
      this.#roomBytes -= download.bytes.byteLength;
      return download.bytes;
    }
    throw broken(handle, `its contents do not match their checksum after ${MAX_ATTEMPTS} attempts`);
  }

  /** All chunks of one reading; `undefined` when the blob changed meanwhile. Takes memory only for what arrived. */
  async #download(handle: string): Promise<Download | undefined> {
    const first = await this.#next(handle, 0);
    const { total_size: total, sha256 } = first;
    if (total > this.#roomBytes) throw this.#tooLarge(handle, total);
    const parts: Uint8Array[] = [];
    let offset = 0;
    for (let chunk = first;; chunk = await this.#next(handle, offset)) {
      if (chunk.total_size !== total || chunk.sha256 !== sha256) return undefined;
      const part = decodeBase64(handle, chunk.blob);
      if (chunk.chunk_offset !== offset) throw broken(handle, `chunk ${offset} starts elsewhere`);
      if (offset + part.byteLength > total) throw broken(handle, "it is longer than it said");
      parts.push(part);
      offset += part.byteLength;
      if (offset === total) return { bytes: joined(parts, total), sha256: sha256.toLowerCase() };
      if (chunk.eof || part.byteLength === 0) {
        throw broken(handle, `it ends after ${offset} of ${total} bytes`);
      }
    }
  }

  #next(handle: string, offset: number): Promise<GetBlobRet> {
    if (++this.#chunks > MAX_BLOB_CHUNKS) {
      throw broken(handle, `it comes in more than ${MAX_BLOB_CHUNKS} pieces`);
    }
    return this.#fetch(handle, offset);
  }

  #tooLarge(handle: string, size: number): SmcpError {
    const message = `Cannot fetch blob "${handle}": ${size} bytes, of ${this.#maxBytes} for an answer ` +
      `${this.#roomBytes} are left`;
    return new SmcpError(ErrorCode.PAYLOAD_TOO_LARGE, message, { details: { size, limit: this.#roomBytes } });
  }
}

/** What is wrong with a blob. */
export function broken(handle: string, why: string, cause?: unknown): SmcpError {
  return new SmcpError(ErrorCode.BLOB_NOT_ACCESSIBLE, `Cannot fetch blob "${handle}": ${why}`, { cause });
}

function joined(parts: readonly Uint8Array[], total: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(total);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.byteLength;
  }
  return bytes;
}

function decodeBase64(handle: string, text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text);
  } catch (cause) {
    throw broken(handle, "a chunk is not base64", cause);
  }
}

async function sha256Of(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}
