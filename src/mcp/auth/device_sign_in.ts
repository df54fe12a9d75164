/** A sign-in on another device, where the person enters a code (RFC 8628). */
import * as oauth from "oauth4webapi";
import { delay } from "../../async/backoff.ts";
import { ServerNotRunningError, SignInError } from "../errors.ts";
import { authenticationOf, chooseClient } from "./client.ts";
import { newProofKey } from "./dpop.ts";
import { assertOneOrigin } from "./metadata_origins.ts";
import { OAuthRefusalError, requestOptions, toOAuthFailure } from "./oauth_requests.ts";
import type { ProtectedServer, SignInTarget } from "./protected_server.ts";
import type { DeviceSignIn } from "./sign_in.ts";
import { assertUserCode, readPage } from "./sign_in_page.ts";
import { requestDeviceTokens, toLibraryClient } from "./token_requests.ts";
import type { OAuthClient, OAuthTokens, ProofKey } from "./token_store.ts";

/** The time between two questions, in seconds, where the authorization server names none, and what `slow_down` adds. */
const INTERVAL_SECONDS = 5;
/** The bounds of what it may name, in seconds. */
const MIN_INTERVAL_SECONDS = 1;
const MAX_INTERVAL_SECONDS = 60;
const MAX_LIFETIME_SECONDS = 3_600;

/** Begins a sign-in: gets the code that the person enters, and waits in the background until that was done. */
export async function beginDeviceSignIn(
  server: ProtectedServer,
  target: SignInTarget,
  { signal }: { readonly signal: AbortSignal | undefined },
): Promise<DeviceSignIn> {
  const { as, audience } = target;
  const { config, fetch, context } = server;
  const { issuer } = as.metadata;
  assertOneOrigin(as.metadata, { config });
  if (as.metadata.device_authorization_endpoint === undefined) {
    throw new SignInError(
      `Cannot sign in: the authorization server ${issuer} offers no sign-in on another device`,
    );
  }
  const proofKey = await newProofKey(target);
  const client = await chooseClient({ as, config, fetch, signal }, {
    grantTypes: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  });
  server.learn(client.clientSecret);
  await server.bind(issuer, client);
  const [before] = (await server.signIns()).filter((each) => each.issuer === issuer);
  const scopes = server.scopesFor(target, before);
  const offer = await requestCode({ server, target, client, scopes, signal });
  server.learn(offer.device_code);
  const { verification_uri, verification_uri_complete } = offer;
  const pages = [
    verification_uri,
    ...verification_uri_complete === undefined ? [] : [verification_uri_complete],
  ];
  // One after the other: a page that is refused leaves no look-up of another one behind.
  const [url = "", completeUrl] = await Array.fromAsync(
    pages,
    async (text) => (await readPage(text, { issuer, server, signal })).href,
  );
  assertUserCode(offer.user_code, { issuer });
  for (const page of [url, completeUrl ?? url]) assertOneOrigin(as.metadata, { config, page });
  const over = new AbortController();
  const lifetimeMs = Math.min(offer.expires_in, MAX_LIFETIME_SECONDS) * 1_000;
  const ended = AbortSignal.any([over.signal, ...signal === undefined ? [] : [signal]]);
  const wait = { server, target, client, deviceCode: offer.device_code, proofKey, signal: ended };
  const expiresAtMs = context.now() + lifetimeMs;
  const finished = waitForTokens(wait, { intervalSeconds: offer.interval, expiresAtMs }).then((tokens) =>
    server.store(target, { client, tokens, scopes })
  );
  finished.catch(() => {});
  return {
    kind: "device",
    issuer,
    audience,
    url,
    completeUrl,
    userCode: offer.user_code,
    expiresAtMs,
    finished,
    cancel: () => over.abort(new SignInError("Cannot sign in: cancelled")),
  };
}

interface Waiting {
  readonly server: ProtectedServer;
  readonly target: SignInTarget;
  readonly client: OAuthClient;
  readonly signal: AbortSignal | undefined;
}

async function requestCode(
  { server: { config, fetch }, target: { as, audience }, client, scopes, signal }: Waiting & {
    readonly scopes: readonly string[];
  },
): Promise<oauth.DeviceAuthorizationResponse> {
  try {
    const response = await oauth.deviceAuthorizationRequest(
      as.metadata,
      toLibraryClient(client, { as }),
      await authenticationOf(client, { as, config }),
      {
        ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
        ...(audience === undefined ? {} : { resource: audience }),
      },
      requestOptions({ as, fetch, signal }),
    );
    return await oauth.processDeviceAuthorizationResponse(
      as.metadata,
      toLibraryClient(client, { as }),
      response,
    );
  } catch (error) {
    throw await toOAuthFailure(error, `Cannot sign in at ${as.metadata.issuer}`);
  }
}

/** The pause before a question for the tokens, within its bounds. */
export function pauseMsOf(seconds: number): number {
  return Math.max(MIN_INTERVAL_SECONDS, Math.min(seconds, MAX_INTERVAL_SECONDS)) * 1_000;
}

async function waitForTokens(
  waiting: Waiting & { readonly deviceCode: string; readonly proofKey: ProofKey | undefined },
  { intervalSeconds = INTERVAL_SECONDS, expiresAtMs }: {
    readonly intervalSeconds: number | undefined;
    readonly expiresAtMs: number;
  },
): Promise<OAuthTokens> {
  const { server, target: { as, audience }, client, deviceCode, proofKey, signal } = waiting;
  let seconds = intervalSeconds;
  while (server.context.now() < expiresAtMs) {
    await delay(pauseMsOf(seconds), signal);
    try {
      return await requestDeviceTokens({ server, as, client, audience, proofKey, signal }, deviceCode);
    } catch (error) {
      signal?.throwIfAborted();
      const code = error instanceof OAuthRefusalError ? error.oauthCode : undefined;
      const isTemporary = error instanceof ServerNotRunningError;
      if (code === "slow_down" || isTemporary) seconds += INTERVAL_SECONDS;
      else if (code !== "authorization_pending") throw error;
    }
  }
  throw new SignInError("Cannot sign in: the code was not entered in time");
}
