/**
 * One HTTP request to the Server, without redirects, and with a bound to what is read. In the npm package, browsers get
 * `http_request_web.ts` in place of this module.
 */
import { Buffer } from "node:buffer";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import type { HttpProxy } from "../reach/proxies.ts";

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

/** The cause of a failure, and whether a retry would fail as well. */
export interface Reason {
  readonly text: string;
  readonly isPermanent: boolean;
}

/** The options of a connection that a platform may be unable to honour. */
export type PlatformOption = "headers" | "ca";

/** The options that this platform cannot honour, each with the reason and the remedy. */
export const UNSUPPORTED_OPTIONS: Readonly<Partial<Record<PlatformOption, string>>> = {};

async function findProxy(url: string): Promise<HttpProxy | undefined> {
  const { proxyFor } = await import("../reach/proxies.ts");
  return proxyFor(new URL(url));
}

/**
 * Opens a connection to the Server through the proxy on the way, if there is one.
 *
 * @throws {Error} of the proxy, or of TLS.
 */
export async function openTunnel(
  url: string,
  options: Pick<HttpRequest, "ca" | "signal">,
): Promise<Socket | undefined> {
  const proxy = await findProxy(url);
  if (proxy === undefined) return undefined;
  const tunnel = await import("../reach/tunnel.ts");
  return await tunnel.openTunnel(proxy, new URL(url), options);
}

/**
 * Sends a request, through the proxy on the way if there is one.
 *
 * @throws {RangeError} when an answer has more than `maxBytes`.
 * @throws {Error} of the network.
 */
export async function sendRequest(url: string, request: HttpRequest): Promise<HttpAnswer> {
  const { body, ca, signal } = request;
  const proxy = await findProxy(url);
  signal.throwIfAborted();
  const method = body === undefined ? "GET" : "POST";
  const headers = { accept: "*/*", ...request.headers, ...bodyHeaders(body) };
  if (proxy !== undefined) {
    const { sendThrough } = await import("../reach/tunnel.ts");
    const options = { method, headers, body, ca, signal };
    return await readAnswer(await sendThrough(proxy, new URL(url), options), request);
  }
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const options = { method, headers, agent: false } as const;
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

/** Reasons by Node's codes of errors; `true` for those that a retry would meet again. */
const CODES: Readonly<Record<string, readonly [text: string, isPermanent?: true]>> = {
  ENOTFOUND: ["host not found", true],
  EAI_AGAIN: ["host not found, the DNS server does not answer"],
  ECONNREFUSED: [
    "connection refused, no program listens there; the Server or hub at that address may not be running",
  ],
  EHOSTUNREACH: ["no route to the host (EHOSTUNREACH)"],
  ENETUNREACH: ["no route to the host (ENETUNREACH)"],
  ETIMEDOUT: ["no answer in time (timeout)"],
  CERT_HAS_EXPIRED: ["its TLS certificate has expired", true],
};

/** The reason for an error of the network, name service or TLS: by Node's codes, and by Deno's where they differ. */
export function networkReason(
  error: Error,
  { requested, hasCa }: { readonly requested: string; readonly hasCa: boolean },
): Reason {
  const { message } = error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const [text, isPermanent = false] = CODES[code] ?? [];
  if (code.startsWith("PROXY_")) return { text: message, isPermanent: code === "PROXY_REFUSED" };
  if (text !== undefined) return { text, isPermanent };
  if (code === "ECONNRESET") return passing(`connection closed before an answer; ${schemeHint(requested)}`);
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    return permanent(`its TLS certificate is for another host (${message})`);
  }
  if (/wrong version number|InvalidContentType/.test(message)) {
    return permanent(`the port does not speak TLS; ${schemeHint("https:")}`);
  }
  if (code.startsWith("HPE_")) return permanent(`the port does not speak HTTP; ${schemeHint("http:")}`);
  if (/certificate/i.test(message) || /CERT/.test(code)) {
    const remedy = hasCa
      // Deno reports an expired certificate in the same words.
      ? "the given certificate authorities (--ca-file, ca) do not have the one that signed it, or it has expired, or the clock of this machine " +
        "is wrong"
      : "--ca-file FILE (the option ca of the library), or NODE_EXTRA_CA_CERTS=FILE in the environment, adds a certificate " +
        "authority";
    return permanent(`its TLS certificate is not trusted (${message}); ${remedy}`);
  }
  if (/^ERR_(SSL|TLS)/.test(code) || code === "EPROTO") return permanent(`TLS failed (${message})`);
  return passing(message);
}

/** Suggests the other scheme: a port that does not speak the one of the URL often closes the connection. */
function schemeHint(requested: string): string {
  return requested.startsWith("https:")
    ? "if the Server speaks plain HTTP, use http://"
    : "if the Server speaks TLS, use https://";
}

function permanent(text: string): Reason {
  return { text, isPermanent: true };
}

function passing(text: string): Reason {
  return { text, isPermanent: false };
}
