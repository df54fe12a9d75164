/** Uploads a file to a Computer, chunk by chunk (`client:put_blob`, `docs/protocol/versions.md#uploads`). */
import { Backoff, delay, MAX_TIMER_MS } from "../async/backoff.ts";
import { withDeadline } from "../async/deadline.ts";
import { parsePutBlobRet } from "../protocol/answers.ts";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError, UnsupportedRequestError } from "../protocol/errors.ts";
import { PUT_BLOB_EVENT } from "../protocol/events.ts";
import { RequestTimeoutError } from "../link/errors.ts";
import type { PutBlobRet } from "../protocol/uploads.ts";
import { isFrom } from "../protocol/version.ts";
import type { Requests } from "./requests.ts";
import { startSha256 } from "./sha256.ts";

/** A file that can be read more than once, such as a `Blob` or a `File`. */
export interface UploadFile {
  /** Its size in bytes. */
  readonly size: number;
  /** Its name, if it has one. */
  readonly name?: string;
  /** Begins to read it from its start. */
  stream(): ReadableStream<Uint8Array>;
}

/** What can be uploaded. */
export type UploadSource = Uint8Array | ReadableStream<Uint8Array> | UploadFile;

/** Options of an upload. */
export interface PutBlobOptions {
  /**
   * What the name of the file on the Computer ends with; the `name` of the source by default. The Computer replaces
   * characters other than letters, digits, `.`, `_` and `-`.
   */
  readonly name?: string | undefined;
  /** Stops the upload: the promise rejects with the signal's reason, and the Computer removes what it has. */
  readonly signal?: AbortSignal | undefined;
  /** The time for the whole upload, in milliseconds; 300,000 by default. */
  readonly timeoutMs?: number | undefined;
}

/** A file that was uploaded. */
export interface UploadedBlob {
  /** Its absolute path on the Computer, for the arguments of a tool. */
  readonly landingPath: string;
  /** Its size in bytes. */
  readonly totalSize: number;
  /** Its SHA-256 in hexadecimal, as the Computer has computed it. */
  readonly sha256: string;
}

const DEFAULT_UPLOAD_TIMEOUT_MS = 300_000;
/** The most bytes of a chunk, as in the official SDKs. */
const MAX_CHUNK_BYTES = 256 * 1024;
const ENVELOPE_BYTES = 4_096;
/** The most bytes of a stream: its checksum is sent before its bytes, so all of it is in memory. */
const MAX_STREAM_BYTES = 100 * 1024 * 1024;
const MAX_FILE_NAME_LENGTH = 255;
/** How long to wait before the next try while the Computer has no place for another upload. */
const BUSY_WAITS = { firstMs: 500, maxMs: 5_000 };

export async function putBlob(
  requests: Requests,
  source: UploadSource,
  options: PutBlobOptions,
): Promise<UploadedBlob> {
  const { computer } = requests;
  const { timeoutMs = DEFAULT_UPLOAD_TIMEOUT_MS } = options;
  if (!(timeoutMs > 0 && timeoutMs <= MAX_TIMER_MS)) {
    throw new RangeError(
      `Cannot use timeoutMs "${timeoutMs}": must be above 0 and at most ${MAX_TIMER_MS}`,
    );
  }
  options.signal?.throwIfAborted();
  assertUploads(requests);
  let busy: SmcpError | undefined;
  const reason = () => {
    const why = busy === undefined ? "" : "; it had no place for another upload";
    const message =
      `Cannot upload to Computer "${computer}": not complete in ${timeoutMs} ms (timeoutMs)${why}`;
    return new RequestTimeoutError(message, { cause: busy });
  };
  return await withDeadline(timeoutMs, { reason, signal: options.signal }, async (signal) => {
    const content = await readContent(source, { name: options.name, signal });
    const waits = new Backoff(BUSY_WAITS);
    for (;;) {
      try {
        return await sendContent(requests, content, signal);
      } catch (error) {
        if (error instanceof UnsupportedRequestError) throw unsupported(requests, error);
        if (!isBusy(error)) throw error;
        busy = error;
      }
      await delay(waits.next(), signal);
    }
  });
}

interface Content {
  readonly size: number;
  readonly sha256: string;
  readonly name: string | undefined;
  readonly stream: () => ReadableStream<Uint8Array>;
}

async function readContent(
  source: UploadSource,
  { name, signal }: { readonly name: string | undefined; readonly signal: AbortSignal },
): Promise<Content> {
  const file: UploadFile = source instanceof Uint8Array
    ? new Blob([new Uint8Array(source)])
    : source instanceof ReadableStream
    ? await readAll(source, signal)
    : source;
  if (file.size === 0) throw new TypeError("Cannot upload: the file is empty; a Computer refuses that");
  const hash = startSha256();
  let size = 0;
  for await (const piece of piecesOf(file.stream(), signal)) {
    hash.update(piece);
    size += piece.byteLength;
  }
  if (size !== file.size) throw changed(size, file.size);
  return {
    size,
    sha256: hash.toHex(),
    name: (name ?? file.name)?.slice(0, MAX_FILE_NAME_LENGTH),
    stream: () => file.stream(),
  };
}

async function sendContent(
  requests: Requests,
  { size, sha256, name, stream }: Content,
  signal: AbortSignal,
): Promise<UploadedBlob> {
  const declaration = { total_size: size, sha256, ...(name ? { name_hint: name } : {}) };
  let uploadId: string | undefined;
  let offset = 0;
  for await (const bytes of chunksOf(stream(), { size: chunkBytesOf(requests), signal })) {
    const end = offset + bytes.byteLength;
    if (end > size) throw changed(end, size);
    const eof = end === size;
    const body = {
      ...(uploadId === undefined ? declaration : { upload_id: uploadId }),
      chunk_offset: offset,
      eof,
      blob: bytes.toBase64(),
    };
    const answer = await requests.ask(PUT_BLOB_EVENT, body, {
      signal,
      parse: parsePutBlobRet,
      isFailureLogged: true,
    });
    if (eof) return toUploaded(answer, { size, sha256 });
    uploadId = answer.upload_id;
    offset = end;
  }
  throw changed(offset, size);
}

function toUploaded(
  { landing_path: landingPath, sha256, total_size: totalSize = 0 }: PutBlobRet,
  sent: { readonly size: number; readonly sha256: string },
): UploadedBlob {
  if (landingPath === undefined) {
    throw new SmcpError(
      ErrorCode.INTERNAL_ERROR,
      "Cannot upload: the Computer did not tell the path of the file",
    );
  }
  if (sha256 !== sent.sha256 || totalSize !== sent.size) {
    throw new SmcpError(
      ErrorCode.BLOB_WRITE_FAILED,
      `Cannot upload: the Computer has other bytes than were sent, in "${landingPath}"; send the file again`,
      { details: { reason: "integrity" } },
    );
  }
  return { landingPath, totalSize, sha256 };
}

async function readAll(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<UploadFile> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const piece of piecesOf(stream, signal)) {
    size += piece.byteLength;
    if (size > MAX_STREAM_BYTES) {
      throw new RangeError(`Cannot upload: the stream has more than ${MAX_STREAM_BYTES} bytes; pass a file`);
    }
    pieces.push(new Uint8Array(piece));
  }
  return new Blob(pieces);
}

/** The pieces of a stream, until the signal is aborted. Not every browser can iterate over a stream itself. */
async function* piecesOf(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  // A stream may give nothing for ever: this ends a read that waits. It may also never have stopped, so nobody waits.
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener("abort", stop);
  try {
    signal.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Cuts a stream into pieces of exactly `size` bytes; the last one may be shorter. */
async function* chunksOf(
  stream: ReadableStream<Uint8Array>,
  { size, signal }: { readonly size: number; readonly signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  let chunk = new Uint8Array(size);
  let filled = 0;
  for await (const piece of piecesOf(stream, signal)) {
    for (let rest = piece; rest.byteLength > 0;) {
      const part = rest.subarray(0, size - filled);
      chunk.set(part, filled);
      filled += part.byteLength;
      rest = rest.subarray(part.byteLength);
      if (filled < size) continue;
      yield chunk;
      chunk = new Uint8Array(size);
      filled = 0;
    }
  }
  if (filled > 0) yield chunk.subarray(0, filled);
}

/** As large as the connection takes: base64 has four bytes for three. */
function chunkBytesOf({ maxBytes = Infinity }: Requests): number {
  const freeBytes = Math.floor((maxBytes - ENVELOPE_BYTES) / 4) * 3;
  return Math.max(1, Math.min(MAX_CHUNK_BYTES, freeBytes));
}

function changed(found: number, size: number): TypeError {
  return new TypeError(
    `Cannot upload: the file has ${found} bytes, not ${size}; it changed while it was read`,
  );
}

function isBusy(error: unknown): error is SmcpError {
  return error instanceof SmcpError && error.code === ErrorCode.BLOB_WRITE_FAILED &&
    error.details?.["reason"] === "busy";
}

function assertUploads({ computer, protocolVersion }: Requests): void {
  if (isFrom(protocolVersion, "0.4")) return;
  const why =
    `uploads need protocol 0.4, and this office speaks ${protocolVersion}; start its Computers with ` +
    "--protocol 0.4";
  throw new UnsupportedRequestError(PUT_BLOB_EVENT, { computer, why });
}

function unsupported({ computer }: Requests, cause: unknown): UnsupportedRequestError {
  const why = `Computer "${computer}", or the Server, does not know uploads; both need protocol 0.4`;
  return new UnsupportedRequestError(PUT_BLOB_EVENT, { computer, why, cause });
}
