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
import { sha256Of } from "./blobs.ts";
import type { Requests } from "./requests.ts";

/** A file, such as a `Blob` or a `File`. */
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
/** The most bytes of an upload: its checksum is sent before its bytes, so all of it is in memory. */
const MAX_UPLOAD_BYTES = 1024 ** 3;
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
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly sha256: string;
  readonly name: string | undefined;
}

async function readContent(
  source: UploadSource,
  { name, signal }: { readonly name: string | undefined; readonly signal: AbortSignal },
): Promise<Content> {
  const file = source instanceof Uint8Array || source instanceof ReadableStream ? undefined : source;
  if (file !== undefined && file.size > MAX_UPLOAD_BYTES) throw tooLarge();
  const bytes = source instanceof Uint8Array
    ? new Uint8Array(source)
    : await readAll(source instanceof ReadableStream ? source : source.stream(), signal);
  if (bytes.length === 0) throw new TypeError("Cannot upload: the file is empty; a Computer refuses that");
  if (file !== undefined && bytes.length !== file.size) {
    throw new TypeError(
      `Cannot upload: the file has ${bytes.length} bytes, not ${file.size}; it changed while it was read`,
    );
  }
  const given = name ?? file?.name;
  return { bytes, sha256: await sha256Of(bytes), name: given?.slice(0, MAX_FILE_NAME_LENGTH) };
}

async function sendContent(
  requests: Requests,
  { bytes, sha256, name }: Content,
  signal: AbortSignal,
): Promise<UploadedBlob> {
  const size = bytes.length;
  const declaration = { total_size: size, sha256, ...(name ? { name_hint: name } : {}) };
  const chunkBytes = chunkBytesOf(requests);
  let uploadId: string | undefined;
  for (let offset = 0;; offset += chunkBytes) {
    const eof = offset + chunkBytes >= size;
    const body = {
      ...(uploadId === undefined ? declaration : { upload_id: uploadId }),
      chunk_offset: offset,
      eof,
      blob: bytes.subarray(offset, offset + chunkBytes).toBase64(),
    };
    const answer = await requests.ask(PUT_BLOB_EVENT, body, {
      signal,
      parse: parsePutBlobRet,
      isFailureLogged: true,
    });
    if (eof) return toUploaded(answer, { size, sha256 });
    uploadId = answer.upload_id;
  }
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

async function readAll(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const reader = stream.getReader();
  // A stream may give nothing for ever: this ends a read that waits. It may also never have stopped, so nobody waits.
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener("abort", stop);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  try {
    signal.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return new Uint8Array(await new Blob(pieces).arrayBuffer());
      size += value.byteLength;
      if (size > MAX_UPLOAD_BYTES) throw tooLarge();
      pieces.push(new Uint8Array(value));
    }
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

function tooLarge(): RangeError {
  return new RangeError(`Cannot upload: more than ${MAX_UPLOAD_BYTES} bytes`);
}

/** As large as the connection takes: base64 has four bytes for three. */
function chunkBytesOf({ maxBytes = Infinity }: Requests): number {
  const freeBytes = Math.floor((maxBytes - ENVELOPE_BYTES) / 4) * 3;
  return Math.max(1, Math.min(MAX_CHUNK_BYTES, freeBytes));
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
