/** One HTTP request to the Server by `fetch()`: what browsers get in place of `http_request.ts`, with the same exports. */
import type { HttpAnswer, HttpRequest, PlatformOption, Reason } from "./http_request.ts";

/** The options that a browser cannot honour, each with the reason and the remedy. */
export const UNSUPPORTED_OPTIONS: Readonly<Partial<Record<PlatformOption, string>>> = {
  headers: "a web page cannot send headers with a WebSocket; send the credentials as token or auth",
  ca: "a web page trusts the certificate authorities of its browser; add the authority there",
};

/** A browser uses its proxy itself. */
export function openTunnel(): Promise<undefined> {
  return Promise.resolve(undefined);
}

/** Sends a request; see `http_request.ts`. The browser adds no cookies and no referrer. */
export async function sendRequest(url: string, request: HttpRequest): Promise<HttpAnswer> {
  const response = await send(url, request);
  const { status, type } = response;
  if (type === "opaqueredirect") return { status, text: "", isHiddenRedirect: true };
  const isRefusal = status !== 200;
  const maxBytes = isRefusal ? request.maxRefusalBytes : request.maxBytes;
  const { text, isWhole } = await readText(response, maxBytes);
  if (isWhole || isRefusal) return { status, text };
  throw new RangeError(`Cannot read an answer of more than ${maxBytes} bytes`);
}

async function send(url: string, { body, signal }: HttpRequest): Promise<Response> {
  try {
    return await fetch(url, {
      ...(body === undefined ? {} : {
        method: "POST",
        body,
        // With any other type, the browser would ask the Server first (a CORS preflight).
        headers: { "content-type": "text/plain;charset=UTF-8" },
      }),
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal,
    });
  } catch (cause) {
    signal.throwIfAborted();
    throw new TypeError(unreadable(cause), { cause });
  }
}

/** A browser does not tell a page why it cannot read an answer. */
function unreadable(cause: unknown): string {
  const said = cause instanceof Error ? cause.message : String(cause);
  const origin = String(Reflect.get(globalThis, "origin"));
  return `the browser gave no answer (${said}); either no Server answers there, or it does not allow pages ` +
    `of "${origin}" (--allow-origin)`;
}

/** The reason for an error of {@linkcode sendRequest}. */
export function networkReason({ message: text }: Error): Reason {
  return { text, isPermanent: false };
}

/** Reads a body, at most this many bytes. */
async function readText(
  { body }: Response,
  maxBytes: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  const reader = body?.getReader();
  while (reader !== undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    sizeBytes += value.byteLength;
    if (sizeBytes > maxBytes) {
      await reader.cancel();
      return { text, isWhole: false };
    }
    text += decoder.decode(value, { stream: true });
  }
  return { text: text + decoder.decode(), isWhole: true };
}
