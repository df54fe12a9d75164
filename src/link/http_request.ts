/**
 * One HTTP request to the Server, without redirects, and with a bound to what is read. In the npm package, browsers get
 * `http_request_web.ts` in place of this module.
 */
import { Buffer } from "node:buffer";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** A request: a POST when it has a body. */
export interface HttpRequest {
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The certificate authorities, as PEM; those of the runtime by default. */
  readonly ca: string | string[] | undefined;
  /** The longest answer with status 200. */
  readonly maxBytes: number;
  /** How much is read of an answer with any other status. */
  readonly maxRefusalBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  /** 0 where a browser hides it, as for a redirect. */
  readonly status: number;
  readonly text: string;
  /** Where a redirect points. */
  readonly location?: string | undefined;
  /** Whether it is a redirect whose status and target are hidden. */
  readonly isHiddenRedirect?: boolean | undefined;
}

/** The options of a connection that a platform may be unable to honour. */
export type PlatformOption = "headers" | "ca";

/** The options that this platform cannot honour, each with the reason and the remedy. */
export const UNSUPPORTED_OPTIONS: Readonly<Partial<Record<PlatformOption, string>>> = {};

/**
 * Sends a request.
 *
 * @throws {RangeError} when an answer has more than `maxBytes`.
 * @throws {Error} of the network.
 */
export async function sendRequest(url: string, request: HttpRequest): Promise<HttpAnswer> {
  const { body, ca, signal } = request;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { accept: "*/*", ...request.headers, ...bodyHeaders(body) };
  const options = { method: body === undefined ? "GET" : "POST", headers, agent: false } as const;
  const sent = url.startsWith("https:") ? requestHttps(url, { ...options, ca }) : requestHttp(url, options);
  const stop = () => sent.destroy();
  signal.addEventListener("abort", stop);
  sent.once("close", () => signal.removeEventListener("abort", stop));
  sent.once("response", resolve);
  sent.on("error", reject);
  sent.end(body);
  return await readAnswer(await promise, request);
}

function bodyHeaders(body: string | undefined): Record<string, string> {
  if (body === undefined) return {};
  return {
    "content-type": "text/plain;charset=UTF-8",
    "content-length": String(Buffer.byteLength(body)),
  };
}

function readAnswer(response: IncomingMessage, request: HttpRequest): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const { statusCode: status = 0, headers: { location } } = response;
  const isRefusal = status !== 200;
  const maxBytes = isRefusal ? request.maxRefusalBytes : request.maxBytes;
  const pieces: Uint8Array[] = [];
  let sizeBytes = 0;
  const settle = () => resolve({ status, text: Buffer.concat(pieces).toString("utf8"), location });
  response.on("data", (piece: Uint8Array) => {
    sizeBytes += piece.length;
    if (sizeBytes <= maxBytes) return void pieces.push(piece);
    response.removeAllListeners("end");
    response.destroy();
    if (isRefusal) settle();
    else reject(new RangeError(`Cannot read an answer of more than ${maxBytes} bytes`));
  });
  response.once("end", settle);
  response.on("error", reject);
  return promise;
}
