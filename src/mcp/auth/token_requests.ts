/** Requests for tokens. */
import * as oauth from "oauth4webapi";
import { SignInError } from "../errors.ts";
import { scopesToAskFor } from "./challenge.ts";
import { authenticationOf } from "./client.ts";
import type { AuthorizationServer } from "./discovery.ts";
import { proverOf, withNonce } from "./dpop.ts";
import { type OAuthRequestOptions, requestOptions, toOAuthFailure } from "./oauth_requests.ts";
import type { ProtectedServer } from "./protected_server.ts";
import type { OAuthClient, OAuthTokens, ProofKey } from "./token_store.ts";

/** A token is renewed this long before its end, in milliseconds, or in the last tenth of its life if that is shorter. */
const RENEWAL_MS = 60_000;
const RENEWAL_PART = 0.1;
/** How far clocks may differ beyond the difference that is known, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 300;
/** The longest life of a token that counts, in milliseconds: of a longer one, no date could be told or stored. */
const MAX_LIFETIME_MS = 100 * 365 * 24 * 60 * 60 * 1_000;
/** The characters of an access token (RFC 6749, appendix A.12), without white space at its ends. */
const TOKEN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** The grant by an assertion (RFC 7523). */
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

export interface TokenRequest {
  readonly server: ProtectedServer;
  readonly as: AuthorizationServer;
  readonly client: OAuthClient;
  readonly audience: string | undefined;
  /** The key to bind the tokens to, where bound tokens are wanted. */
  readonly proofKey: ProofKey | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function exchangeCode(
  request: TokenRequest,
  grant: { readonly parameters: URLSearchParams; readonly redirectUri: string; readonly verifier: string },
): Promise<OAuthTokens> {
  return await requestTokens(request, async (as, client, authentication, options) => {
    const { parameters, redirectUri, verifier } = grant;
    const response = await oauth.authorizationCodeGrantRequest(
      as,
      client,
      authentication,
      parameters,
      redirectUri,
      verifier,
      options,
    );
    return await oauth.processAuthorizationCodeResponse(as, client, response);
  });
}

/** Renews tokens. The answer keeps the refresh token and the scope where it names no new ones. */
export async function refreshTokens(request: TokenRequest, tokens: OAuthTokens): Promise<OAuthTokens> {
  const { refreshToken = "", scope } = tokens;
  const renewed = await requestTokens(request, async (as, client, authentication, options) => {
    const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, options);
    return await oauth.processRefreshTokenResponse(as, client, response);
  });
  return { refreshToken, scope, ...renewed };
}

/** Obtains tokens for the client itself, by its credentials or by an assertion of who it is. */
export async function requestClientTokens(
  request: TokenRequest,
  { scopes, assertion }: { readonly scopes: readonly string[]; readonly assertion: string | undefined },
): Promise<OAuthTokens> {
  return await requestTokens(request, async (as, client, authentication, options) => {
    const parameters = new URLSearchParams(options.additionalParameters);
    if (scopes.length > 0) parameters.set("scope", scopes.join(" "));
    if (assertion !== undefined) parameters.set("assertion", assertion);
    const response = await oauth.genericTokenEndpointRequest(
      as,
      client,
      authentication,
      assertion === undefined ? "client_credentials" : JWT_BEARER,
      parameters,
      options,
    );
    return await oauth.processClientCredentialsResponse(as, client, response);
  });
}

/** Asks for the tokens of a person who enters a code on another device. */
export async function requestDeviceTokens(request: TokenRequest, deviceCode: string): Promise<OAuthTokens> {
  return await requestTokens(request, async (as, client, authentication, options) => {
    const response = await oauth.deviceCodeGrantRequest(as, client, authentication, deviceCode, options);
    return await oauth.processDeviceCodeResponse(as, client, response);
  });
}

/** The client as the library wants it. */
export function toLibraryClient({ clientId }: OAuthClient, { as }: Pick<TokenRequest, "as">): oauth.Client {
  return {
    client_id: clientId,
    [oauth.clockSkew]: as.clockSkewSeconds,
    [oauth.clockTolerance]: CLOCK_TOLERANCE_SECONDS,
  };
}

async function requestTokens(
  request: TokenRequest,
  send: (
    as: oauth.AuthorizationServer,
    client: oauth.Client,
    authentication: oauth.ClientAuth,
    options: OAuthRequestOptions & oauth.DPoPRequestOptions & {
      readonly additionalParameters: Record<string, string>;
    },
  ) => Promise<oauth.TokenEndpointResponse>,
): Promise<OAuthTokens> {
  const { server: { config, fetch, context }, as, audience, proofKey, signal } = request;
  const { issuer } = as.metadata;
  const nowMs = context.now();
  try {
    const authentication = await authenticationOf(request.client, { as, config });
    const client = toLibraryClient(request.client, request);
    const additionalParameters: Record<string, string> = audience === undefined ? {} : { resource: audience };
    const proof = proofKey === undefined ? {} : { DPoP: await proverOf(proofKey, as) };
    const options = { ...requestOptions({ as, fetch, signal }), ...proof, additionalParameters };
    const answer = await withNonce(() => send(as.metadata, client, authentication, options));
    return toTokens(answer, { proofKey, nowMs });
  } catch (error) {
    throw await toOAuthFailure(error, `Cannot get tokens from the authorization server ${issuer}`);
  }
}

function toTokens(
  answer: oauth.TokenEndpointResponse,
  { proofKey, nowMs }: Pick<TokenRequest, "proofKey"> & { readonly nowMs: number },
): OAuthTokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: lifetime, scope } = answer;
  const isBound = answer.token_type === "dpop" && proofKey !== undefined;
  if (!isBound && answer.token_type !== "bearer") {
    throw new SignInError(`Cannot use tokens of type "${answer.token_type}": not Bearer`);
  }
  if (!TOKEN.test(accessToken)) {
    throw new SignInError("Cannot use the access token: it has characters that no HTTP header may have");
  }
  return {
    accessToken,
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(lifetime === undefined ? {} : endsOf(Math.min(lifetime * 1_000, MAX_LIFETIME_MS), nowMs)),
    ...(scope === undefined ? {} : { scope: scopesToAskFor(scope).join(" ") }),
    ...(isBound ? { proofKey } : {}),
  };
}

/** By our clock, from the moment of the request: the clock of the authorization server does not matter. */
function endsOf(lifetimeMs: number, nowMs: number): Pick<OAuthTokens, "expiresAtMs" | "renewAtMs"> {
  const expiresAtMs = nowMs + lifetimeMs;
  return { expiresAtMs, renewAtMs: expiresAtMs - Math.min(RENEWAL_MS, lifetimeMs * RENEWAL_PART) };
}
