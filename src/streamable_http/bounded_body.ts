/** Reads the body of a request, up to a size and a time, before anything else looks at it. */
import { Deadline } from "../async/deadline.ts";
import { httpError } from "./http_error.ts";

/** How long a client may take to send a body, in milliseconds. */
const BODY_TIME_MS = 30_000;

/** The most bytes of the bodies of all requests together, besides small ones and one that fits alone. */
const MAX_TOGETHER_BYTES = 256 * 1024 * 1024;
const SMALL_BYTES = 64 * 1024;

/** Counts the bytes of the bodies that are in memory at the same time. */
export class BodyMemory {
  #taken = 0;

  /** The part of one request, which ends with its block. */
  open(): BodyShare {
    let own = 0;
    return {
      take: (bytes) => {
        own += bytes;
        this.#taken += bytes;
        return this.#taken <= MAX_TOGETHER_BYTES || own === this.#taken || own <= SMALL_BYTES;
      },
      [Symbol.dispose]: () => {
        this.#taken -= own;
        own = 0;
      },
    };
  }
}

/** What one request takes of a {@linkcode BodyMemory}. */
export interface BodyShare extends Disposable {
  /** Takes so many bytes; `false` when all requests together have too many. */
  take(bytes: number): boolean;
}

/**
 * The same request with its whole body in memory; or the refusal of a body that is too large, too slow or cut off, or
 * that does not fit beside others. So looking into a body needs no second reading, and no code behind can read without a
 * bound.
 */
export async function withBoundedBody(
  request: Request,
  { maxBytes, share }: { readonly maxBytes: number; readonly share: BodyShare },
): Promise<Request | Response> {
  if (request.body === null) return request;
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > maxBytes) return tooLarge(maxBytes);
  using deadline = new Deadline(BODY_TIME_MS, {
    reason: () => new DOMException("The body came too slowly", "TimeoutError"),
    signal: request.signal,
  });
  const body = await readAll(request.body, { maxBytes, share, signal: deadline.signal });
  if (body === "too large") return tooLarge(maxBytes);
  if (body === "no room") {
    const what = "the bodies of other requests fill the memory for them. Try again later";
    return httpError(503, `Cannot serve this request: ${what}`, { "retry-after": "5" });
  }
  if (body === "not sent") {
    return httpError(408, "Cannot serve this request: its body did not arrive in time");
  }
  const { method, headers, signal, url } = request;
  return new Request(url, { method, headers, signal, body });
}

function tooLarge(maxBytes: number): Response {
  return httpError(413, `Cannot serve this request: its body has more than ${maxBytes} bytes`);
}

async function readAll(
  stream: ReadableStream<Uint8Array>,
  { maxBytes, share, signal }: {
    readonly maxBytes: number;
    readonly share: BodyShare;
    readonly signal: AbortSignal;
  },
): Promise<Uint8Array<ArrayBuffer> | "too large" | "no room" | "not sent"> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = stream.getReader();
  const stop = () => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      size += piece.value.length;
      if (size > maxBytes) {
        stop();
        return "too large";
      }
      if (!share.take(piece.value.length)) {
        stop();
        return "no room";
      }
      pieces.push(piece.value);
    }
  } catch {
    return "not sent";
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return signal.aborted ? "not sent" : concat(pieces, size);
}

function concat(pieces: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
