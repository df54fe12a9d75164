/**
 * `fetch` for everything but the MCP server itself: metadata, registration, tokens, revocation. An MCP server names the
 * addresses, so each request is bounded in time, size and redirects, and does not reach into networks that the MCP
 * server is not in itself.
 */
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { readBoundedText } from "../../text/bounded_text.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import { networkReason, ServerNotRunningError, ServerTimeoutError } from "../errors.ts";
import { isLoopbackUrl } from "../../reach/addresses.ts";
import { assertInReach, fetchAt, ForbiddenAddressError, type ReachOptions } from "../../reach/reach.ts";

/** How long one request may take, in milliseconds, its answer and redirects included. */
const REQUEST_TIMEOUT_MS = 20_000;
const MAX_ANSWER_BYTES = 256 * 1024;
const MAX_REDIRECTS = 3;

export interface OAuthRequestInit extends RequestInit {
  /** The issuer of the metadata that names the address, if the MCP server has not named it itself. */
  readonly namedBy?: string;
}

/** `fetch`, as `oauth4webapi` calls it. */
export type OAuthFetch = (url: string, init: OAuthRequestInit) => Promise<Response>;

/** Creates the `fetch` for the authorization of one MCP server. Names are resolved once, for the check and the connection. */
export function createOAuthFetch(options: ReachOptions): OAuthFetch {
  async function send(
    url: URL,
    init: RequestInit & { readonly signal: AbortSignal },
    namers: readonly URL[],
  ): Promise<Response> {
    const { protocol, origin, username, password } = url;
    const isSafe = protocol === "https:" || protocol === "http:" && isLoopbackUrl(url);
    if (!isSafe || username !== "" || password !== "") {
      throw new ForbiddenAddressError(
        `Cannot use ${origin} for a sign-in: it is not an https URL, or has a user name`,
      );
    }
    const { signal } = init;
    const addresses = await assertInReach(url, options, { namers, signal });
    const response = await fetchAt(url, init, addresses);
    const location = response.headers.get("location");
    const isRedirect = response.status >= 300 && response.status < 400 && location !== null;
    if (!isRedirect || (init.method ?? "GET") !== "GET") return await readBounded(response, signal);
    await response.body?.cancel();
    if (namers.length > MAX_REDIRECTS || !URL.canParse(location, url)) {
      throw new ForbiddenAddressError(`Cannot use ${origin} for a sign-in: too many redirects`);
    }
    return await send(new URL(location, url), init, [...namers, url]);
  }

  return async (url, { namedBy, ...init }) => {
    using deadline = new Deadline(REQUEST_TIMEOUT_MS, {
      reason: () => new ServerTimeoutError(`No answer in ${REQUEST_TIMEOUT_MS} ms`),
      signal: init.signal,
    });
    const { signal } = deadline;
    const target = new URL(url);
    try {
      const issuer = namedBy === undefined ? [] : [new URL(namedBy)];
      // The owner who configures the issuer has named it in the place of the MCP server.
      const namers = issuer.length > 0 && options.issuer ? issuer : [options.resource, ...issuer];
      return await abortable(send(target, { ...init, signal }, namers), signal);
    } catch (error) {
      if (init.signal?.aborted || error instanceof ForbiddenAddressError) throw error;
      throw notReachable(target, error);
    }
  };
}

/** A failure that may pass: the server is started again later. */
function notReachable({ origin }: URL, cause: unknown): ServerNotRunningError {
  const reason = "its authorization server is not reachable";
  return new ServerNotRunningError({ reason, detail: `${origin}: ${networkReason(cause)}`, cause });
}

/** The same response with its body in memory; without it for a stream, which may never end. */
async function readBounded(response: Response, signal: AbortSignal): Promise<Response> {
  const { body, statusText, headers } = response;
  const isStream = headers.get("content-type")?.includes("text/event-stream") === true;
  if (isStream) await body?.cancel();
  const maxBytes = MAX_ANSWER_BYTES;
  const read = isStream || body === null ? "" : await readBoundedText(body, { maxBytes, signal });
  if (read === undefined) throw new RangeError(`Answer too large: more than ${maxBytes} bytes`);
  const { text, status } = toAnswer(read, response);
  return new Response(body === null ? null : text, { status, statusText, headers: plainHeaders(headers) });
}

/**
 * An answer in the words of the standards, whoever gives it: `null` is a missing member, tokens of no type are bearer
 * tokens, and an error is no success, whatever its status is (GitHub and Slack answer 200).
 */
function toAnswer(
  text: string,
  { ok, status }: Response,
): { readonly text: string; readonly status: number } {
  const body = parseJson(text);
  if (!isRecord(body)) return { text, status };
  const isError = ok && typeof body["error"] === "string" && body["error"] !== "";
  const isOfNoType = typeof body["access_token"] === "string" && (body["token_type"] ?? "") === "";
  const whole = isOfNoType ? { ...body, token_type: "Bearer" } : body;
  return {
    text: JSON.stringify(whole, (_name, value: unknown) => value === null ? undefined : value),
    status: isError ? 400 : status,
  };
}

/** A body in memory is neither compressed nor of a known type other than the header says. */
function plainHeaders(headers: Headers): Headers {
  const plain = new Headers(headers);
  plain.delete("content-encoding");
  plain.delete("content-length");
  return plain;
}
