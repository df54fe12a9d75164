/** Connections and requests through an HTTP proxy: CONNECT for WebSocket and https, the whole URL for http. */
import { Buffer } from "node:buffer";
import { once } from "node:events";
import * as http from "node:http";
import { connect, isIP, type Socket } from "node:net";
import * as tls from "node:tls";
import { abortable } from "../async/abortable.ts";
import { withDeadline } from "../async/deadline.ts";
import { isSecureUrl, plainHost, portOf } from "./addresses.ts";
import { credentialsRefused, type HttpProxy, ProxyError } from "./proxies.ts";

/** How long the proxy may take to connect, and TLS behind it, in milliseconds. */
const TUNNEL_TIMEOUT_MS = 10_000;
/** The longest head of an answer to CONNECT, in bytes. */
const MAX_HEAD_BYTES = 16_384;
/** Statuses below 500 that are temporary: request timeout, too many requests. */
const PASSING_STATUSES: readonly number[] = [408, 429];

export interface TunnelOptions {
  /** The certificate authorities that may have signed the target's certificate, as PEM; those of the runtime by default. */
  readonly ca?: string | string[] | undefined;
  readonly signal: AbortSignal;
}

/**
 * Opens a connection to the host of a URL through a proxy, with TLS for https and wss.
 *
 * @throws {ProxyError} when the proxy cannot be reached, or does not connect.
 * @throws {Error} of TLS.
 */
export async function openTunnel(
  proxy: HttpProxy,
  url: URL,
  { ca, signal: caller }: TunnelOptions,
): Promise<Socket> {
  const reason = () => failed(`the proxy "${proxy.origin}" gave no connection in ${TUNNEL_TIMEOUT_MS} ms`);
  return await withDeadline(TUNNEL_TIMEOUT_MS, { reason, signal: caller }, async (signal) => {
    signal.throwIfAborted();
    const socket = connect(addressOf(proxy));
    try {
      const to = `${url.hostname}:${portOf(url)}`;
      await abortable(askFor(to, { socket, proxy }), signal);
      return isSecureUrl(url) ? await abortable(secure(socket, { url, ca }), signal) : socket;
    } catch (error) {
      // What fails afterwards is of no interest.
      socket.on("error", () => {}).destroy();
      throw error;
    }
  });
}

function addressOf({ origin, variable }: HttpProxy): { readonly host: string; readonly port: number } {
  const url = new URL(origin);
  if (url.protocol === "http:") return { host: plainHost(url), port: portOf(url) };
  throw new ProxyError(
    "PROXY_REFUSED",
    `Cannot use the proxy "${origin}" in ${variable}: only http:// proxies are supported; use one, or list the host in NO_PROXY`,
  );
}

function headersFor({ credentials }: HttpProxy): Record<string, string> {
  if (credentials === undefined) return {};
  const { username, password } = credentials;
  return { "Proxy-Authorization": `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

/** Sends CONNECT, and reads the answer. */
async function askFor(
  to: string,
  { socket, proxy }: { readonly socket: Socket; readonly proxy: HttpProxy },
): Promise<void> {
  const lines = Object.entries({ Host: to, ...headersFor(proxy) }).map(([name, value]) =>
    `${name}: ${value}`
  );
  socket.write([`CONNECT ${to} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
  const { head, hasMore } = await readHead(socket, proxy);
  const status = Number(/^HTTP\/1\.[01] (\d{3})\b/.exec(head)?.[1] ?? NaN);
  // The target sends nothing before we do: bytes behind the head come from the proxy.
  if (status >= 200 && status < 300 && !hasMore) return;
  const { origin } = proxy;
  if (status === 407) throw credentialsRefused(proxy);
  if (status >= 500 || PASSING_STATUSES.includes(status)) {
    throw failed(`the proxy "${origin}" cannot connect to "${to}" (HTTP ${status})`);
  }
  throw new ProxyError(
    "PROXY_REFUSED",
    status >= 300
      ? `the proxy "${origin}" refuses to connect to "${to}" (HTTP ${status}); ask its administrator, or list the host in NO_PROXY if it can be reached without`
      : `"${origin}" in ${proxy.variable} does not answer as an HTTP proxy`,
  );
}

/** Reads the head of the answer to CONNECT. The socket flows on, without data: whoever gets it speaks first. */
async function readHead(
  socket: Socket,
  { origin }: HttpProxy,
): Promise<{ readonly head: string; readonly hasMore: boolean }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ head: string; hasMore: boolean }>();
  let text = "";
  const onData = (piece: Uint8Array) => {
    text += Buffer.from(piece).toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end >= 0) resolve({ head: text.slice(0, end), hasMore: text.length > end + 4 });
    else if (text.length > MAX_HEAD_BYTES) {
      reject(new ProxyError("PROXY_REFUSED", `the proxy "${origin}" sends too long a head`));
    }
  };
  const onError = (cause: Error) => reject(unreachable(origin, cause));
  const onClose = () => reject(failed(`the proxy "${origin}" closed the connection without an answer`));
  socket.on("data", onData).on("error", onError).on("close", onClose);
  try {
    return await promise;
  } finally {
    socket.off("data", onData).off("error", onError).off("close", onClose);
  }
}

async function secure(
  socket: Socket,
  { url, ca }: { readonly url: URL; readonly ca: TunnelOptions["ca"] },
): Promise<Socket> {
  const host = plainHost(url);
  const secured = tls.connect({ socket, ca, host, servername: isIP(host) === 0 ? host : "" });
  await once(secured, "secureConnect");
  return secured;
}

function failed(message: string, options?: ErrorOptions): ProxyError {
  return new ProxyError("PROXY_FAILED", message, options);
}

function unreachable(origin: string, cause: unknown): ProxyError {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
  return failed(`cannot reach the proxy "${origin}" (${code})`, { cause });
}

/** A request: with a body, its length. */
export interface ProxiedRequest extends TunnelOptions {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

/**
 * Sends a request through a proxy, and waits for the head of the answer.
 *
 * @throws {ProxyError} when the proxy cannot be reached, or refuses.
 * @throws {Error} of the network.
 */
export async function sendThrough(
  proxy: HttpProxy,
  url: URL,
  { method, headers, body, ca, signal }: ProxiedRequest,
): Promise<http.IncomingMessage> {
  const isTunneled = isSecureUrl(url);
  const path = `${url.pathname}${url.search}`;
  const socket = isTunneled ? await openTunnel(proxy, url, { ca, signal }) : undefined;
  const way = socket === undefined
    ? { ...addressOf(proxy), path: `${url.origin}${path}`, agent: false }
    : { path, createConnection: () => socket };
  const own = { ...headers, host: url.host, ...(isTunneled ? {} : headersFor(proxy)) };
  const answer = await exchange({ ...way, method, headers: own, signal }, body).catch((cause) => {
    signal.throwIfAborted();
    throw isTunneled ? cause : unreachable(proxy.origin, cause);
  });
  if (answer.statusCode !== 407) return answer;
  answer.destroy();
  throw credentialsRefused(proxy);
}

/** Sends a request, and waits for the head of the answer. */
export async function exchange(
  options: http.RequestOptions,
  body: string | Uint8Array | undefined,
): Promise<http.IncomingMessage> {
  const request = http.request(options);
  // What fails after the answer has begun fails in its body.
  request.on("error", () => {}).end(body);
  const [answer] = await once(request, "response");
  return answer;
}
