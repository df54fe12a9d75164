/** A sign-in in a browser: authorization code with PKCE. The browser may be on another machine. */
import { onAbort } from "../../async/abortable.ts";
import * as oauth from "oauth4webapi";
import { describeError } from "../../text/text.ts";
import { ServerNotRunningError, SignInError } from "../errors.ts";
import { isSamePlace } from "../../reach/addresses.ts";
import { chooseClient } from "./client.ts";
import { newProofKey } from "./dpop.ts";
import { adviceOf, whyAnswerNamesIssuer } from "./metadata_origins.ts";
import { toOAuthFailure, toShortLine } from "./oauth_requests.ts";
import type { ProtectedServer, SignInTarget } from "./protected_server.ts";
import type { BrowserSignIn } from "./sign_in.ts";
import { readPage } from "./sign_in_page.ts";
import { exchangeCode, toLibraryClient } from "./token_requests.ts";
import type { OAuthClient, ProofKey } from "./token_store.ts";

/** The port of the redirect when nothing listens and none is configured. */
export const DEFAULT_REDIRECT_PORT = 33_418;
/** The bytes of a digest that stand for an issuer in its redirect. */
const ISSUER_SEGMENT_BYTES = 8;
/** The longest address that is read, in characters. */
const MAX_REDIRECT_LENGTH = 16_384;

/** Begins a sign-in: registers a client where none is configured, and builds the address of the page. */
export async function beginBrowserSignIn(
  server: ProtectedServer,
  target: SignInTarget,
  { redirectUri: fixedUri, signal }: {
    readonly redirectUri: string;
    readonly signal: AbortSignal | undefined;
  },
): Promise<BrowserSignIn> {
  const { as } = target;
  assertPkce(as.metadata, server);
  const proofKey = await newProofKey(target);
  const { config, fetch } = server;
  // Always a new registration: the authorization server may have forgotten the last one, and its page would say so
  // to the person instead of us.
  const ownUri = await redirectOf(as.metadata.issuer, fixedUri);
  const client = await chooseClient({ as, config, fetch, signal }, {
    redirectUri: ownUri,
    grantTypes: ["authorization_code", "refresh_token"],
  });
  const redirectUri = client.source === "registered" ? ownUri : fixedUri;
  server.learn(client.clientSecret);
  const [before] = (await server.signIns()).filter(({ issuer }) => issuer === as.metadata.issuer);
  const scopes = server.scopesFor(target, before);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  server.learn(verifier);
  const request = { server, target, client, scopes, redirectUri, verifier, state, signal };
  const url = await authorizationUrl(request);
  return new CodeSignIn({ ...request, proofKey, url }).shown;
}

/**
 * The redirect of an issuer, which no other one has (RFC 9700, section 4.4): an answer at another redirect belongs to
 * another sign-in. A client whose redirects were registered elsewhere has to keep to those.
 */
async function redirectOf(issuer: string, redirectUri: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(issuer));
  const url = new URL(redirectUri);
  const segment = new Uint8Array(digest).subarray(0, ISSUER_SEGMENT_BYTES).toHex();
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${segment}`;
  return url.href;
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
  readonly signal: AbortSignal | undefined;
}

async function authorizationUrl(request: CodeRequest): Promise<string> {
  const { server, target: { as, audience }, client, scopes, redirectUri, verifier, state, signal } = request;
  const { authorization_endpoint: endpoint = "", issuer } = as.metadata;
  const url = await readPage(endpoint, { issuer, server, signal });
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

  constructor(request: BegunRequest) {
    this.#request = request;
    // Not everybody who cancels a sign-in waits for it.
    this.#finished.promise.catch(() => {});
    const { signal } = request;
    onAbort(signal, () => this.#end(signal?.reason));
  }

  get shown(): BrowserSignIn {
    const { url, redirectUri, target: { as, audience } } = this.#request;
    return {
      kind: "browser",
      issuer: as.metadata.issuer,
      audience,
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
    const { server, target: { as: { metadata }, as }, client, state } = this.#request;
    const parameters = this.#read(text);
    if (parameters.get("state") !== state) throw notOurs();
    // A refusal gives nothing away.
    const why = parameters.has("code") ? whyAnswerNamesIssuer(metadata, server) : undefined;
    try {
      const named = parameters.get("iss");
      if (named === null ? why !== undefined : named !== metadata.issuer) {
        const words = named === null
          ? `the answer does not say who it is from ("iss"), and must, because ${why}; ${
            adviceOf(metadata.issuer)
          }`
          : `the answer is from another authorization server ("iss"), ${toShortLine(named)}`;
        throw new SignInError(`Cannot sign in at ${metadata.issuer}: ${words}`);
      }
      const asked = { ...metadata, authorization_response_iss_parameter_supported: why !== undefined };
      return oauth.validateAuthResponse(asked, toLibraryClient(client, { as }), parameters, state);
    } catch (error) {
      const failure = error instanceof SignInError ? error : this.#refusal(error);
      this.#end(failure);
      throw failure;
    }
  }

  #refusal(error: unknown): SignInError {
    const isRefusal = error instanceof oauth.AuthorizationResponseError;
    const words = isRefusal ? [error.error, error.error_description] : [describeError(error)];
    const why = toShortLine(words.filter((each) => each !== undefined).join(": "));
    const { issuer } = this.#request.target.as.metadata;
    return new SignInError(`Cannot sign in at ${issuer}: ${why}`, { cause: error });
  }

  /** Reads the address that the browser was sent to: a code alone does not say who has issued it. */
  #read(text: string): URLSearchParams {
    const given = text.trim();
    if (given.length > MAX_REDIRECT_LENGTH) throw tooLong();
    const address = /^https?:/i.test(given) ? URL.parse(given) : null;
    if (address === null) {
      const message = "Cannot finish the sign-in: paste the whole address that the browser shows after it";
      throw new SignInError(message, { isOver: false });
    }
    if (!isSamePlace(address, new URL(this.#request.redirectUri))) throw notOurs();
    return address.searchParams;
  }

  async #exchange(parameters: URLSearchParams): Promise<void> {
    const { server, target, client, redirectUri, verifier, scopes, proofKey } = this.#request;
    const { as, audience } = target;
    const { issuer } = as.metadata;
    server.learn(parameters.get("code") ?? undefined);
    try {
      await server.bind(issuer, client);
      const request = { server, as, client, audience, proofKey };
      const tokens = await exchangeCode(request, { parameters, redirectUri, verifier });
      // It may have been cancelled meanwhile.
      if (!this.#isOver) {
        await server.store(target, { client, tokens, scopes });
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

function notOurs(): SignInError {
  return new SignInError("Cannot finish the sign-in: the address belongs to another one", { isOver: false });
}

function tooLong(): SignInError {
  return new SignInError(`Cannot finish the sign-in: more than ${MAX_REDIRECT_LENGTH} characters`, {
    isOver: false,
  });
}
