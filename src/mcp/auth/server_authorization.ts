/** The authorization of one MCP server while it runs: its token, renewed in time, and what a refusal means. */
import { abortable, settledWithin } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { describeError } from "../../text/text.ts";
import {
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
  SignInError,
  SignInRequiredError,
} from "../errors.ts";
import { type Challenge, scopesIn, scopesToAskFor } from "./challenge.ts";
import type { AuthorizationServer } from "./discovery.ts";
import { newProofKey } from "./dpop.ts";
import { assertOneOrigin, mayGetTokens } from "./metadata_origins.ts";
import { OAuthRefusalError } from "./oauth_requests.ts";
import type { ProtectedServer, SignInTarget } from "./protected_server.ts";
import { refreshTokens, requestClientTokens } from "./token_requests.ts";
import type { OAuthClient, OAuthTokens, ProofKey, StoredSignIn } from "./token_store.ts";

/** How long a request waits for a renewal while its token is still good, in milliseconds. */
const RENEWAL_WAIT_MS = 5_000;
/** How long a refused request waits for metadata that nobody has announced, in milliseconds. */
const LOOK_TIMEOUT_MS = 5_000;
/** The most missing scopes that a service asks for until its MCP server is started again. */
const MAX_ASKED_SCOPES = 1_000;

export interface Refusal {
  readonly status: 401 | 403;
  readonly challenge: Challenge | undefined;
  readonly token: string | undefined;
}

export class ServerAuthorization {
  readonly #server: ProtectedServer;
  /** The sign-in in use; `undefined` before it is read, and again after a change of the store. */
  #signIn: Promise<StoredSignIn | undefined> | undefined;
  /** The renewal under way: all requests wait for the same. */
  #renewing: Promise<string | undefined> | undefined;
  #as: { readonly issuer: string; readonly server: AuthorizationServer } | undefined;
  #isOffered: Promise<boolean> | undefined;
  #required: SignInRequiredError | undefined;
  /** The token with which a sign-in became required. */
  #refusedToken: string | undefined;
  /** Scopes that a service has asked for because they were missing: asking again would bring nothing new. */
  readonly #askedScopes = new Set<string>();

  /** @param signal The end of its use. */
  constructor(server: ProtectedServer, signal: AbortSignal) {
    this.#server = server;
    server.context.store.watch(() => this.#signIn = undefined, signal);
  }

  /** Set when the MCP server can only be used after a sign-in. */
  get required(): SignInRequiredError | undefined {
    return this.#required;
  }

  /**
   * The access token for a request; `undefined` before a sign-in: the MCP server then says what it wants.
   *
   * @throws {ServerNotRunningError} when the token has ended and the authorization server does not answer.
   * @throws {SignInRequiredError} when the token has ended and cannot be renewed.
   */
  async token(signal: AbortSignal | undefined): Promise<string | undefined> {
    const tokens = (await this.#current())?.tokens;
    // The MCP server then says which authorization server it wants tokens of.
    if (tokens === undefined) return undefined;
    if (!this.#isEnding(tokens)) return tokens.accessToken;
    if (tokens.refreshToken === undefined && !this.#server.isService) return tokens.accessToken;
    const { accessToken, expiresAtMs = Infinity } = tokens;
    const renewing = this.#renew(accessToken, signal).then((token) => ({ token }));
    const isStillGood = () => expiresAtMs > this.#server.context.now();
    try {
      if (!isStillGood()) return (await renewing).token;
      const renewed = await settledWithin(renewing, RENEWAL_WAIT_MS);
      return renewed === undefined ? accessToken : renewed.token;
    } catch (error) {
      if (error instanceof ServerNotRunningError && isStillGood()) return accessToken;
      throw error;
    }
  }

  /**
   * The key that a token is bound to, if it is. A token that was replaced meanwhile has none: it is refused, and the
   * request is sent again with the new one.
   */
  async proofKeyOf(token: string): Promise<ProofKey | undefined> {
    const tokens = (await this.#current())?.tokens;
    return tokens?.accessToken === token ? tokens.proofKey : undefined;
  }

  /**
   * Decides what follows on a refusal: a token to try again with, or `undefined` when none would help.
   *
   * @throws {SignInRequiredError} when a sign-in would help.
   * @throws {ServerNotRunningError} when the authorization server does not answer.
   */
  async onRefused(refusal: Refusal, signal: AbortSignal | undefined): Promise<string | undefined> {
    const { status, token, challenge } = refusal;
    const current = await this.#current();
    const accessToken = current?.tokens?.accessToken;
    // Meanwhile another request has renewed it, or somebody has signed in.
    if (accessToken !== undefined && accessToken !== token) return accessToken;
    if (status === 403) return await this.#onMissingScope(refusal, signal);
    if (current?.tokens?.refreshToken !== undefined || this.#server.isService) {
      return await this.#renew(accessToken, signal, challenge);
    }
    if (!await this.#isOfferedBy(challenge, signal)) return undefined;
    await this.#rememberScope(challenge);
    throw this.#require(token === undefined ? undefined : "its sign-in has ended", token);
  }

  /** Takes a token that was refused although it was new; returns the error to throw. */
  onRefusedAgain(token: string): ServerAuthorizationError {
    if (!this.#server.isService) return this.#require("it refuses the tokens of its sign-in", token);
    const advice = 'check the client and the scopes in "oauth"';
    return new ServerAuthorizationError(
      401,
      `Cannot use the MCP server: it refuses the tokens of its client; ${advice}`,
    );
  }

  /** Resolves when somebody has signed in. Rejects with the signal's reason. */
  async untilSignedIn(signal: AbortSignal): Promise<void> {
    await this.#until((token) => token !== undefined && token !== this.#refusedToken, signal);
    this.#required = undefined;
  }

  /** Resolves when tokens that were there are gone. Rejects with the signal's reason. */
  async untilSignedOut(signal: AbortSignal): Promise<void> {
    await this.#until((token) => token !== undefined, signal);
    await this.#until((token) => token === undefined, signal);
    this.#required ??= new SignInRequiredError(this.#server.name, { why: "it was signed out" });
  }

  /** Resolves when the stored token is a wanted one. A store that cannot be read says nothing. */
  async #until(isWanted: (token: string | undefined) => boolean, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    let changed = Promise.withResolvers<void>();
    this.#server.context.store.watch(() => changed.resolve(), AbortSignal.any([over.signal, signal]));
    try {
      while (true) {
        changed = Promise.withResolvers();
        const isFound = await this.#current().then(
          (found) => isWanted(found?.tokens?.accessToken),
          () => false,
        );
        if (isFound) return;
        await abortable(changed.promise, signal);
      }
    } finally {
      over.abort();
    }
  }

  #isEnding({ renewAtMs = Infinity }: OAuthTokens): boolean {
    return renewAtMs <= this.#server.context.now();
  }

  #current(): Promise<StoredSignIn | undefined> {
    const reading = this.#signIn ??= this.#read();
    // A failure is not remembered.
    reading.catch(() => {
      if (this.#signIn === reading) this.#signIn = undefined;
    });
    return reading;
  }

  async #read(): Promise<StoredSignIn | undefined> {
    try {
      return (await this.#server.signIns()).find(({ tokens }) => tokens !== undefined);
    } catch (cause) {
      throw new ServerNotRunningError({
        reason: "its sign-in cannot be read",
        detail: describeError(cause),
        cause,
      });
    }
  }

  /** @param token The token that was refused; another one means that somebody has signed in. */
  #require(why: string | undefined, token: string | undefined): SignInRequiredError {
    this.#refusedToken = token;
    return this.#required = new SignInRequiredError(this.#server.name, { why });
  }

  /** Renews the token once, however many requests wait for it. */
  #renew(
    token: string | undefined,
    signal: AbortSignal | undefined,
    challenge?: Challenge,
  ): Promise<string | undefined> {
    const renewing = this.#renewing ??= this.#renewOnce(token, challenge)
      .finally(() => this.#renewing = undefined);
    return abortable(renewing, signal);
  }

  async #renewOnce(token: string | undefined, challenge: Challenge | undefined): Promise<string | undefined> {
    const current = await this.#current();
    const newer = current?.tokens?.accessToken;
    if (newer !== undefined && newer !== token) return newer;
    const signIn = this.#server.isService
      ? await this.#obtain(current, challenge)
      : current === undefined
      ? undefined
      : await this.#refresh(current);
    this.#signIn = signIn === undefined ? undefined : Promise.resolve(signIn);
    return signIn?.tokens?.accessToken;
  }

  async #refresh(current: StoredSignIn): Promise<StoredSignIn | undefined> {
    const { context } = this.#server;
    const as = await this.#authorizationServerOf(current);
    if (!mayGetTokens(as.metadata.token_endpoint, current, this.#server)) {
      throw this.#require(
        "its authorization server has moved to another address",
        current.tokens?.accessToken,
      );
    }
    let renewed: StoredSignIn | undefined;
    let refusal: OAuthRefusalError | undefined;
    try {
      await this.#server.update(current.issuer, async (before) => {
        // Another process has renewed it; the refresh token of ours may be void.
        const isOther = before?.tokens !== undefined &&
          before.tokens.accessToken !== current.tokens?.accessToken;
        if (before?.tokens === undefined || isOther) return renewed = before;
        try {
          const { client, audience, tokens: { proofKey } } = before;
          const request = { server: this.#server, as, client, audience, proofKey };
          const tokens = await refreshTokens(request, before.tokens);
          return renewed = { ...before, tokens };
        } catch (error) {
          if (!(error instanceof OAuthRefusalError)) throw error;
          refusal = error;
          return withoutTokens(before, error);
        }
      });
    } catch (error) {
      // The new tokens are good even if they cannot be stored.
      if (renewed?.tokens === undefined) throw toTemporary(error);
      context.log.warn("renewed tokens cannot be stored", { error: describeError(error) });
    }
    if (renewed?.tokens !== undefined) return renewed;
    if (refusal !== undefined) context.log.warn("sign-in ended", { error: refusal.message });
    this.#signIn = undefined;
    const isConfigured = refusal?.isOfClient === true && current.client.source === "configured";
    const why = isConfigured ? 'its "clientId" or credentials are refused' : "its sign-in has ended";
    throw this.#require(why, current.tokens?.accessToken);
  }

  /** Obtains tokens for the Computer itself (`client_credentials`, `jwt_bearer`). */
  async #obtain(
    current: StoredSignIn | undefined,
    challenge: Challenge | undefined,
  ): Promise<StoredSignIn | undefined> {
    const server = this.#server;
    try {
      const target = current === undefined || challenge !== undefined
        ? await server.discover(challenge, undefined)
        : await this.#targetOf(current);
      const { as, audience } = target;
      const { issuer } = as.metadata;
      assertOneOrigin(as.metadata, server);
      const proofKey = current?.tokens?.proofKey ?? await newProofKey(target);
      const client: OAuthClient = { clientId: server.config.clientId ?? "", source: "configured" };
      await server.bind(issuer, client);
      return await server.update(issuer, async (before) => {
        const usual = server.scopesFor(target, before).join(" ");
        const scopes = scopesToAskFor(challenge?.scope, usual, current?.tokens?.scope);
        const request = { server, as, client, audience, proofKey };
        const assertion = await server.assertionFor({ issuer, resource: audience, scopes });
        const tokens = await requestClientTokens(request, { scopes, assertion });
        const granted = { ...tokens, scope: tokens.scope ?? scopes.join(" ") };
        const signedInAtMs = server.context.now();
        return { ...server.keyOf(issuer), client, audience, tokens: granted, signedInAtMs };
      });
    } catch (error) {
      if (!(error instanceof SignInError)) throw error;
      throw new ServerAuthorizationError(401, error.message);
    }
  }

  /** Where tokens came from before; nothing has been refused since. */
  async #targetOf(current: StoredSignIn): Promise<SignInTarget> {
    const as = await this.#authorizationServerOf(current);
    return { resource: undefined, as, audience: current.audience, challenge: undefined };
  }

  /** A service asks for more scopes itself, once; a person has to sign in again. */
  async #onMissingScope(
    { challenge, token }: Refusal,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    if (challenge?.error !== "insufficient_scope" || challenge.scope === undefined) return undefined;
    let current = await this.#current();
    // It may ask for the scopes that another request lacks.
    while (this.#renewing !== undefined) {
      await abortable(this.#renewing.catch(() => undefined), signal);
      current = await this.#current();
    }
    const accessToken = current?.tokens?.accessToken;
    const granted = new Set(scopesIn(current?.tokens?.scope));
    const missing = scopesIn(challenge.scope).filter((scope) => !granted.has(scope));
    if (missing.length === 0) return accessToken === token ? undefined : accessToken;
    if (this.#server.isService) {
      if (missing.every((scope) => this.#askedScopes.has(scope))) return undefined;
      if (this.#askedScopes.size >= MAX_ASKED_SCOPES) return undefined;
      for (const scope of missing) this.#askedScopes.add(scope);
      return await this.#renew(accessToken, signal, challenge);
    }
    if (!await this.#isOfferedBy(challenge, signal)) return undefined;
    await this.#rememberScope(challenge);
    const why = `it needs a sign-in with more permissions (${missing.join(", ")})`;
    throw new SignInRequiredError(this.#server.name, { why, missingScope: missing.join(" ") });
  }

  /** The next sign-in asks for the scopes that were granted and for those that are missing. */
  async #rememberScope(challenge: Challenge | undefined): Promise<void> {
    const current = await this.#current();
    if (current === undefined || challenge?.scope === undefined) return;
    await this.#server.update(current.issuer, (before) => {
      if (before === undefined) return Promise.resolve(undefined);
      const wanted = scopesToAskFor(challenge.scope, before.tokens?.scope, before.wantedScope).join(" ");
      return Promise.resolve({ ...before, wantedScope: wanted });
    });
  }

  /** Whether a sign-in may help: it is configured, or the MCP server says where its authorization server is. */
  #isOfferedBy(challenge: Challenge | undefined, signal: AbortSignal | undefined): Promise<boolean> {
    if (this.#server.isConfigured || challenge?.resourceMetadata !== undefined) return Promise.resolve(true);
    const looking = this.#isOffered ??= this.#look();
    return abortable(looking, signal);
  }

  /** Looks for metadata at the origin of the MCP server alone. */
  async #look(): Promise<boolean> {
    using deadline = new Deadline(LOOK_TIMEOUT_MS, {
      reason: () => new ServerTimeoutError(`No metadata in ${LOOK_TIMEOUT_MS} ms`),
    });
    return await this.#server.offersSignIn(deadline.signal).catch(() => false);
  }

  async #authorizationServerOf(signIn: StoredSignIn): Promise<AuthorizationServer> {
    const { issuer } = signIn;
    if (this.#as?.issuer !== issuer) {
      try {
        this.#as = { issuer, server: await this.#server.authorizationServerOf(signIn) };
      } catch (error) {
        // Nothing was refused yet: the metadata may come back.
        throw toTemporary(error);
      }
    }
    return this.#as.server;
  }
}

/** Whatever is not an error of OAuth may pass: a proxy that answers in place of the authorization server, for example. */
function toTemporary(error: unknown): unknown {
  if (!(error instanceof SignInError)) return error;
  const reason = "its authorization server is not available";
  return new ServerNotRunningError({ reason, detail: error.message, cause: error });
}

/**
 * A refused refresh token is forgotten, and so is a registration that the authorization server does not know any more.
 * A refused configured client is a mistake in the configuration: the tokens are good again when it is mended.
 */
function withoutTokens(signIn: StoredSignIn, refusal: OAuthRefusalError): StoredSignIn | undefined {
  if (refusal.isOfClient && signIn.client.source === "registered") return undefined;
  if (refusal.isOfClient && signIn.client.source === "configured") return signIn;
  const { tokens, ...rest } = signIn;
  return { ...rest, wantedScope: scopesToAskFor(tokens?.scope, rest.wantedScope).join(" ") || undefined };
}
