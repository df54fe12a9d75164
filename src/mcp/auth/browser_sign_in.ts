/** A sign-in in a browser: authorization code with PKCE. The browser may be on another machine. */
import * as oauth from "oauth4webapi";
import { ServerNotRunningError, SignInError } from "../errors.ts";
import { chooseClient } from "./client.ts";
import { newProofKey } from "./dpop.ts";
import { toOAuthFailure, toShortLine } from "./oauth_requests.ts";
import type { ProtectedServer, SignInTarget } from "./protected_server.ts";
import type { BrowserSignIn } from "./sign_in.ts";
import { readPage } from "./sign_in_page.ts";
import { exchangeCode, toLibraryClient } from "./token_requests.ts";
import type { OAuthClient, ProofKey } from "./token_store.ts";

/** The port of the redirect when nothing listens and none is configured. */
export const DEFAULT_REDIRECT_PORT = 33_418;
/** The longest address that is read, in characters. */
const MAX_REDIRECT_LENGTH = 16_384;

/** Begins a sign-in: registers a client where none is configured, and builds the address of the page. */
export async function beginBrowserSignIn(
  server: ProtectedServer,
  target: SignInTarget,
  { redirectUri, signal }: { readonly redirectUri: string; readonly signal: AbortSignal | undefined },
): Promise<BrowserSignIn> {
  const { as } = target;
  assertPkce(as.metadata, server);
  const proofKey = await newProofKey(target);
  const { config, fetch } = server;
  // Always a new registration: the authorization server may have forgotten the last one, and its page would say so
  // to the person instead of us.
  const client = await chooseClient({ as, config, fetch, signal }, {
    redirectUri,
    grantTypes: ["authorization_code", "refresh_token"],
  });
  server.learn(client.clientSecret);
  const [before] = (await server.signIns()).filter(({ issuer }) => issuer === as.metadata.issuer);
  const scopes = server.scopesFor(target, before);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  server.learn(verifier);
  const url = await authorizationUrl({ server, target, client, scopes, redirectUri, verifier, state });
  return new CodeSignIn({
    server,
    target,
    client,
    scopes,
    redirectUri,
    verifier,
    state,
    proofKey,
    signal,
    url,
  })
    .shown;
}

/** A code that a stranger gets hold of must be of no use to him. */
function assertPkce(metadata: oauth.AuthorizationServer, { config }: ProtectedServer): void {
  const methods = metadata.code_challenge_methods_supported;
  // Some big providers support it and do not say so: whoever configures the issuer vouches for it.
  if (methods === undefined ? Boolean(config.issuer) : methods.includes("S256")) return;
  const advice = methods === undefined
    ? '; if you know that it supports PKCE, set it as "issuer" in the "oauth" of the server'
    : "";
  throw new SignInError(
    `Cannot sign in: the authorization server ${metadata.issuer} does not offer PKCE with S256${advice}`,
  );
}

interface CodeRequest {
  readonly server: ProtectedServer;
  readonly target: SignInTarget;
  readonly client: OAuthClient;
  readonly scopes: readonly string[];
  readonly redirectUri: string;
  readonly verifier: string;
  readonly state: string;
}

async function authorizationUrl(request: CodeRequest): Promise<string> {
  const { server, target: { as, audience }, client, scopes, redirectUri, verifier, state } = request;
  const { authorization_endpoint: endpoint = "", issuer } = as.metadata;
  const url = readPage(endpoint, { issuer, server });
  const parameters = {
    response_type: "code",
    client_id: client.clientId,
    redirect_uri: redirectUri,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    ...(audience === undefined ? {} : { resource: audience }),
    // OpenID Connect issues a refresh token only after an explicit consent.
    ...(scopes.includes("offline_access") ? { prompt: "consent" } : {}),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

interface BegunRequest extends CodeRequest {
  readonly proofKey: ProofKey | undefined;
  readonly url: string;
}

class CodeSignIn {
  readonly #request: BegunRequest;
  readonly #finished = Promise.withResolvers<void>();
  #isOver = false;
  /** The exchange under way: a code is of use once. */
  #exchanging: Promise<void> | undefined;

  constructor(
    request: BegunRequest & { readonly signal: AbortSignal | undefined },
  ) {
    this.#request = request;
    // Not everybody who cancels a sign-in waits for it.
    this.#finished.promise.catch(() => {});
    const { signal } = request;
    const onAbort = () => this.#end(signal?.reason);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  }

  get shown(): BrowserSignIn {
    const { url, redirectUri } = this.#request;
    return {
      kind: "browser",
      url,
      redirectUri,
      finished: this.#finished.promise,
      finish: (text) => this.#finish(text),
      cancel: () => this.#end(new SignInError("Cannot sign in: cancelled")),
    };
  }

  #end(error: unknown): void {
    this.#isOver = true;
    this.#finished.reject(error);
  }

  async #finish(text: string): Promise<void> {
    if (this.#exchanging !== undefined) return await this.#exchanging;
    if (this.#isOver) return await this.#finished.promise;
    const parameters = this.#check(text);
    this.#exchanging = this.#exchange(parameters).finally(() => this.#exchanging = undefined);
    return await this.#exchanging;
  }

  /** Checks that an answer belongs to this sign-in, and comes from the authorization server that was asked. */
  #check(text: string): URLSearchParams {
    const { target: { as }, client, state } = this.#request;
    const parameters = this.#read(text);
    if (parameters.get("state") !== state) {
      throw new SignInError("Cannot finish the sign-in: the address belongs to another one", {
        isOver: false,
      });
    }
    try {
      return oauth.validateAuthResponse(as.metadata, toLibraryClient(client, { as }), parameters, state);
    } catch (error) {
      const failure = this.#refusal(error);
      this.#end(failure);
      throw failure;
    }
  }

  #refusal(error: unknown): SignInError {
    const { issuer } = this.#request.target.as.metadata;
    if (!(error instanceof oauth.AuthorizationResponseError)) {
      const why = error instanceof Error ? error.message : "invalid answer";
      return new SignInError(`Cannot sign in at ${issuer}: ${toShortLine(why)}`, {
        cause: error,
      });
    }
    const words = error.error_description === undefined
      ? error.error
      : `${error.error}: ${error.error_description}`;
    return new SignInError(`Cannot sign in at ${issuer}: ${toShortLine(words)}`, {
      cause: error,
    });
  }

  /** The address that the browser was sent to, its query, or the code alone. */
  #read(text: string): URLSearchParams {
    const { state, target: { as } } = this.#request;
    const given = text.trim();
    if (given.length > MAX_REDIRECT_LENGTH) throw tooLong();
    if (URL.canParse(given) && /^https?:/i.test(given)) return new URL(given).searchParams;
    if (/(?:^|[?&])(?:code|error)=/.test(given)) {
      return new URLSearchParams(given.slice(given.indexOf("?") + 1));
    }
    if (given === "" || /\s/.test(given)) {
      throw new SignInError(
        "Cannot finish the sign-in: paste the address that the browser shows after it, or the code",
        { isOver: false },
      );
    }
    // Whoever pastes a code has seen where it comes from; PKCE ties it to this sign-in.
    const { issuer, authorization_response_iss_parameter_supported: hasIssuer } = as.metadata;
    return new URLSearchParams({ code: given, state, ...(hasIssuer === true ? { iss: issuer } : {}) });
  }

  async #exchange(parameters: URLSearchParams): Promise<void> {
    const { server, target, client, redirectUri, verifier, scopes, proofKey } = this.#request;
    const { as, audience } = target;
    const { config, fetch } = server;
    server.learn(parameters.get("code") ?? undefined);
    const nowMs = server.context.now();
    const { issuer } = as.metadata;
    try {
      await server.bind(issuer, client);
      const request = { as, config, fetch, signal: undefined, client, resource: audience, proofKey, nowMs };
      const tokens = await exchangeCode(request, { parameters, redirectUri, verifier });
      // It may have been cancelled meanwhile.
      if (!this.#isOver) {
        await server.store(issuer, { client, audience, tokens, scopes });
        this.#isOver = true;
        this.#finished.resolve();
      }
    } catch (error) {
      const failure = await toOAuthFailure(error, `Cannot sign in at ${issuer}`);
      if (failure instanceof ServerNotRunningError) {
        const message = `Cannot sign in at ${issuer}: it does not answer; give the address again`;
        throw new SignInError(message, { isOver: false, cause: failure });
      }
      this.#end(failure);
      throw failure;
    }
    await this.#finished.promise;
  }
}

function tooLong(): SignInError {
  return new SignInError(`Cannot finish the sign-in: more than ${MAX_REDIRECT_LENGTH} characters`, {
    isOver: false,
  });
}
