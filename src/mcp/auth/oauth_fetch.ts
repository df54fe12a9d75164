/**
 * `fetch` for everything but the MCP server itself: metadata, registration, tokens, revocation. An MCP server names the
 * addresses, so each request is bounded in time, size and redirects, and does not reach into networks that the MCP
 * server is not in itself.
 */
import { lookup } from "node:dns/promises";
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { describeError } from "../../text.ts";
import { ServerNotRunningError, ServerTimeoutError } from "../errors.ts";
import { type AddressKind, kindOfHost } from "./addresses.ts";

/** How long one request may take, in milliseconds, its answer and redirects included. */
const REQUEST_TIMEOUT_MS = 20_000;
/** The largest answer, in bytes. */
const MAX_ANSWER_BYTES = 256 * 1024;
/** The redirects that are followed for one document of metadata. */
const MAX_REDIRECTS = 3;

/** An address that may not be used. */
export class ForbiddenAddressError extends Error {
  override readonly name = "ForbiddenAddressError";
}

/** The hosts that the configuration itself names. */
export interface OAuthFetchOptions {
  /** The URL of the MCP server. */
  readonly resource: URL;
  /** The issuer, if one is configured. */
  readonly issuer: string | undefined;
}

/** `fetch`, as `oauth4webapi` calls it. */
export type OAuthFetch = (url: string, init: RequestInit) => Promise<Response>;

/** Creates the `fetch` for the authorization of one MCP server. */
export function createOAuthFetch({ resource, issuer }: OAuthFetchOptions): OAuthFetch {
  const named = [resource, ...issuer !== undefined && URL.canParse(issuer) ? [new URL(issuer)] : []];
  const hosts = new Set(named.map(({ hostname }) => hostname));
  const isPlainAllowed = (url: URL) => kindOfHost(url.hostname) === "loopback";

  /**
   * A request to a private address is allowed where the configuration names that host, or the MCP server is in the same
   * network itself. Names are resolved for this check. A name that resolves to another address a moment later passes.
   */
  async function assertAllowed(url: URL, signal: AbortSignal): Promise<void> {
    const { protocol, hostname, origin } = url;
    if (protocol !== "https:" && !(protocol === "http:" && isPlainAllowed(url))) {
      throw new ForbiddenAddressError(`Cannot use ${origin} for a sign-in: it is not an https URL`);
    }
    if (hosts.has(hostname)) return;
    const own = await kindOf(resource.hostname, signal);
    const kind = await kindOf(hostname, signal);
    if (kind === "public" || kind === own || (own === "loopback" && kind === "private")) return;
    throw new ForbiddenAddressError(
      `Cannot use ${origin} for a sign-in: the MCP server named it, and it is an address of a private network; ` +
        'if you trust it, set it as "issuer" in the "oauth" of the server',
    );
  }

  async function send(
    url: URL,
    init: RequestInit & { readonly signal: AbortSignal },
    redirects: number,
  ): Promise<Response> {
    await assertAllowed(url, init.signal);
    const response = await fetch(url, { ...init, redirect: "manual" });
    const location = response.headers.get("location");
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    if (!isRedirect || (init.method ?? "GET") !== "GET") return response;
    await response.body?.cancel();
    if (redirects >= MAX_REDIRECTS || !URL.canParse(location, url)) {
      throw new ForbiddenAddressError(`Cannot use ${url.origin} for a sign-in: too many redirects`);
    }
    return await send(new URL(location, url), init, redirects + 1);
  }

  return async (url, init) => {
    using deadline = new Deadline(REQUEST_TIMEOUT_MS, {
      reason: () => new ServerTimeoutError(`No answer in ${REQUEST_TIMEOUT_MS} ms`),
      signal: init.signal,
    });
    const { signal } = deadline;
    const target = new URL(url);
    try {
      const response = await abortable(send(target, { ...init, signal }, 0), signal);
      return await readBounded(response, signal);
    } catch (error) {
      if (init.signal?.aborted || error instanceof ForbiddenAddressError) throw error;
      throw notReachable(target, error);
    }
  };
}

/** A failure that may pass: the server is started again later. */
function notReachable({ origin }: URL, cause: unknown): ServerNotRunningError {
  const reason = "its authorization server is not reachable";
  return new ServerNotRunningError({ reason, detail: `${origin}: ${describeError(cause)}`, cause });
}

/** The address that reaches deepest into the own networks, of all that a name has. */
async function kindOf(hostname: string, signal: AbortSignal): Promise<AddressKind> {
  const kind = kindOfHost(hostname);
  if (kind !== "public") return kind;
  // Where names are resolved by a proxy, they are unknown here.
  const addresses = await abortable(lookup(hostname, { all: true }).catch(() => []), signal);
  const kinds = addresses.map(({ address }) => kindOfHost(address));
  return (["loopback", "private"] as const).find((each) => kinds.includes(each)) ?? "public";
}

/** The same response with its body in memory; without it for a stream, which may never end. */
async function readBounded(response: Response, signal: AbortSignal): Promise<Response> {
  const { status, statusText, headers } = response;
  const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
  if (isStream) await response.body?.cancel();
  const body = isStream ? null : response.body;
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const reader = body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await abortable(reader.read(), signal);
      if (done) break;
      size += value.length;
      if (size > MAX_ANSWER_BYTES) {
        throw new RangeError(`Answer too large: more than ${MAX_ANSWER_BYTES} bytes`);
      }
      chunks.push(value);
    }
  } finally {
    await reader?.cancel().catch(() => {});
  }
  const isBodiless = status === 204 || status === 205 || status === 304 || status < 200;
  return new Response(isBodiless ? null : new Blob(chunks), {
    status,
    statusText,
    headers: plainHeaders(headers),
  });
}

/** A body in memory is neither compressed nor of a known type other than the header says. */
function plainHeaders(headers: Headers): Headers {
  const plain = new Headers(headers);
  plain.delete("content-encoding");
  plain.delete("content-length");
  return plain;
}
