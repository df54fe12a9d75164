/** Reads the body of a request, up to a size and a time, before anything else looks at it. */
import { Deadline } from "../async/deadline.ts";
import { httpError } from "./http_error.ts";

/** How long a client may take to send a body, in milliseconds. */
const BODY_TIME_MS = 30_000;

/**
 * The same request with its whole body in memory; or the refusal of a body that is too large, too slow or cut off. So
 * looking into a body needs no second reading, and no code behind can read without a bound.
 */
export async function withBoundedBody(request: Request, maxBytes: number): Promise<Request | Response> {
  if (request.body === null) return request;
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > maxBytes) return tooLarge(maxBytes);
  using deadline = new Deadline(BODY_TIME_MS, {
    reason: () => new DOMException("The body came too slowly", "TimeoutError"),
    signal: request.signal,
  });
  const body = await readAll(request.body, { maxBytes, signal: deadline.signal });
  if (body === "too large") return tooLarge(maxBytes);
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
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Uint8Array<ArrayBuffer> | "too large" | "not sent"> {
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
