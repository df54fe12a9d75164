/** Filling in the large binary items that newer Computers leave out of a tool result. */
import { isRecord, SmcpError } from "../protocol/errors.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import type { GetBlobRet } from "../protocol/resources.ts";
import type { CallToolResult, ContentItem } from "../protocol/tools.ts";

/** Bytes that one chunk may have; what the reference Computer sends at most. */
export const BLOB_CHUNK_BYTES = 256 * 1024;
/** Bytes that are fetched for one tool result unless the Agent was told otherwise. */
export const DEFAULT_MAX_BLOB_BYTES = 64 * 1024 * 1024;
/** How often an item that changes under the reader is read from its start. */
const MAX_ATTEMPTS = 3;

const HANDLE_KEY = "a2c_blob_handle";
const SIZE_KEY = "a2c_total_size";
const SHA256_KEY = "a2c_sha256";

/** Asks the Computer for the bytes of `handle` from `offset` on. */
export type FetchChunk = (handle: string, offset: number) => Promise<GetBlobRet>;

/** What filling in needs. */
export interface FillOptions {
  readonly fetchChunk: FetchChunk;
  /** The most bytes of all items together. */
  readonly maxBytes: number;
  /** Hears why an item could not be filled in; one that throws ends the filling. */
  readonly onFailure: (handle: string, error: unknown) => void;
}

/** Whether any item of the result is a handle. */
export function hasBlobHandles(result: CallToolResult): boolean {
  return result.content.some((item) => handleOf(item) !== undefined);
}

/** The result with its handles filled in. An item whose bytes cannot be had keeps its handle. */
export async function fillBlobs(result: CallToolResult, options: FillOptions): Promise<CallToolResult> {
  let budgetBytes = options.maxBytes;
  const content: ContentItem[] = [];
  for (const item of result.content) {
    const handle = handleOf(item);
    if (handle === undefined) {
      content.push(item);
      continue;
    }
    try {
      const bytes = await readBlob(handle, { ...options, item, maxBytes: budgetBytes });
      budgetBytes -= bytes.byteLength;
      content.push(withBytes(item, bytes));
    } catch (error) {
      options.onFailure(handle, error);
      content.push(item);
    }
  }
  return { ...result, content };
}

function handleOf(item: ContentItem): string | undefined {
  const handle = item._meta?.[HANDLE_KEY];
  return typeof handle === "string" && handle !== "" ? handle : undefined;
}

/** Bytes and what they were announced as. */
interface Download {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
}

async function readBlob(
  handle: string,
  options: FillOptions & { readonly item: ContentItem },
): Promise<Uint8Array<ArrayBuffer>> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const download = await downloadOnce(handle, options);
    if (download === undefined) continue;
    const expected = options.item._meta?.[SHA256_KEY] ?? download.sha256;
    const actual = await sha256Of(download.bytes);
    if (actual === String(expected).toLowerCase()) return download.bytes;
  }
  throw broken(handle, `its contents do not match their checksum after ${MAX_ATTEMPTS} attempts`);
}

/** All chunks of one reading; `undefined` when the item changed meanwhile. */
async function downloadOnce(handle: string, options: FillOptions): Promise<Download | undefined> {
  const first = await options.fetchChunk(handle, 0);
  const { total_size: total, sha256 } = first;
  if (total > options.maxBytes) {
    const limits = { details: { size: total, limit: options.maxBytes } };
    throw new SmcpError(ErrorCode.PAYLOAD_TOO_LARGE, `Cannot fetch blob "${handle}": ${total} bytes`, limits);
  }
  const bytes = new Uint8Array(total);
  let offset = 0;
  for (let chunk = first;; chunk = await options.fetchChunk(handle, offset)) {
    if (chunk.total_size !== total || chunk.sha256 !== sha256) return undefined;
    const part = decodeBase64(handle, chunk.blob);
    if (chunk.chunk_offset !== offset) throw broken(handle, `chunk ${offset} starts elsewhere`);
    if (offset + part.byteLength > total) throw broken(handle, "it is longer than it said");
    bytes.set(part, offset);
    offset += part.byteLength;
    if (offset === total) return { bytes, sha256: sha256.toLowerCase() };
    if (chunk.eof || part.byteLength === 0) throw broken(handle, `it ends after ${offset} of ${total} bytes`);
  }
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

function withBytes(item: ContentItem, bytes: Uint8Array): ContentItem {
  const { _meta, ...rest } = item;
  const base64 = bytes.toBase64();
  const filled = item.data === undefined && isRecord(item.resource)
    ? { ...rest, resource: { ...item.resource, blob: base64 } }
    : { ...rest, data: base64 };
  const { [HANDLE_KEY]: _handle, [SIZE_KEY]: _size, [SHA256_KEY]: _sha256, ...others } = _meta ?? {};
  return Object.keys(others).length === 0 ? filled : { ...filled, _meta: others };
}

function broken(handle: string, why: string, cause?: unknown): SmcpError {
  return new SmcpError(ErrorCode.BLOB_NOT_ACCESSIBLE, `Cannot fetch blob "${handle}": ${why}`, { cause });
}
