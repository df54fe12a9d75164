/** Requests to an authorization server by the library, and what their failures mean. */
import * as oauth from "oauth4webapi";
import { isRecord } from "../../json/json.ts";
import { describeError, shorten } from "../../text/text.ts";
import { isFailure, ServerNotRunningError, SignInError } from "../errors.ts";
import type { OAuthFetch } from "./oauth_fetch.ts";
import { ForbiddenAddressError } from "../../reach/reach.ts";

/** The length to which texts of an authorization server are cut, in characters. */
const MAX_TEXT_LENGTH = 300;
/** Errors that may pass by themselves. */
const TEMPORARY: ReadonlySet<string> = new Set(["temporarily_unavailable", "server_error"]);

/** The authorization server answered with an error of OAuth. */
export class OAuthRefusalError extends SignInError {
  /** Such as `invalid_grant`. */
  readonly oauthCode: string;

  constructor(message: string, oauthCode: string, cause: unknown) {
    super(message, { cause });
    this.oauthCode = oauthCode;
  }

  /** Whether the authorization server does not know the client, or not by these credentials. */
  get isOfClient(): boolean {
    return this.oauthCode === "invalid_client" || this.oauthCode === "unauthorized_client";
  }
}

export interface OAuthRequestOptions {
  readonly [oauth.customFetch]: OAuthFetch;
  readonly [oauth.allowInsecureRequests]: true;
  readonly signal?: AbortSignal;
}

/** The options of each request. Our `fetch` decides which addresses may be used, also without TLS. */
export function requestOptions(
  { as: { metadata: { issuer } }, fetch, signal }: {
    readonly as: { readonly metadata: oauth.AuthorizationServer };
    readonly fetch: OAuthFetch;
    readonly signal: AbortSignal | undefined;
  },
): OAuthRequestOptions {
  return {
    [oauth.customFetch]: (url, init) => fetch(url, { ...init, namedBy: issuer }),
    [oauth.allowInsecureRequests]: true,
    ...(signal === undefined ? {} : { signal }),
  };
}

/**
 * Turns a failure into one of ours: {@linkcode ServerNotRunningError} when another attempt may succeed,
 * {@linkcode OAuthRefusalError} for an error of OAuth, otherwise {@linkcode SignInError}.
 *
 * @param what Such as "Cannot register at the authorization server".
 */
export async function toOAuthFailure(error: unknown, what: string): Promise<unknown> {
  if (isFailure(error) || error instanceof OAuthRefusalError) return error;
  if (error instanceof Error && error.name === "AbortError") return error;
  const response = responseOf(error);
  const body = response === undefined ? undefined : await bodyOf(response);
  const code = error instanceof oauth.ResponseBodyError ? error.error : textOf(body?.["error"]);
  const status = response?.status ?? 0;
  if (status >= 500 || status === 429 || (code !== undefined && TEMPORARY.has(code))) {
    const reason = "its authorization server is not available";
    return new ServerNotRunningError({ reason, detail: `${what}: HTTP ${status}`, cause: error });
  }
  if (code !== undefined) {
    // The library has read the body of an error that it recognises.
    const known = error instanceof oauth.ResponseBodyError ? error.error_description : undefined;
    const description = known ?? textOf(body?.["error_description"]);
    const words = description === undefined ? code : `${code}: ${description}`;
    return new OAuthRefusalError(`${what}: ${toShortLine(words)}`, code, error);
  }
  if (error instanceof ForbiddenAddressError) return new SignInError(error.message, { cause: error });
  const why = status === 0 ? describeError(error) : `HTTP ${status}`;
  return new SignInError(`${what}: ${toShortLine(why)}`, { cause: error });
}

/** The words of a server on one line: a further line could pass for one of this program. */
export function toShortLine(text: string): string {
  return shorten(text, MAX_TEXT_LENGTH).replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
}

function responseOf(error: unknown): Response | undefined {
  if (error instanceof oauth.ResponseBodyError || error instanceof oauth.WWWAuthenticateChallengeError) {
    return error.response;
  }
  return error instanceof Error && error.cause instanceof Response ? error.cause : undefined;
}

async function bodyOf(response: Response): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (response.bodyUsed) return undefined;
  try {
    const body: unknown = await response.clone().json();
    return isRecord(body) ? body : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
