/** An MCP server whose access needs tokens, with what a sign-in at it needs: shared by sign-ins and by sessions. */
import { readRegularFile } from "../../files/files.ts";
import type { Logger } from "../../log.ts";
import { isServiceGrant, type OAuthSettings, type ResolvedServerConfig } from "../../protocol/config.ts";
import { ConfigurationError, SignInError } from "../errors.ts";
import { type Challenge, scopesIn, scopesToAskFor } from "./challenge.ts";
import { assertOwnIssuer, isUsable } from "./client.ts";
import {
  type AuthorizationServer,
  discoverAuthorizationServer,
  discoverResource,
  hasServerMetadata,
  isSameIssuer,
  type ProtectedResource,
} from "./discovery.ts";
import { type AssertionTarget, exchangeIdToken } from "./identity_provider.ts";
import { createOAuthFetch, type OAuthFetch } from "./oauth_fetch.ts";
import type { ReachOptions } from "../../reach/reach.ts";
import type { OAuthClient, OAuthTokens, SignInKey, StoredSignIn, TokenStore } from "./token_store.ts";

/** The largest file with an assertion or an ID token, in bytes. */
const MAX_TOKEN_FILE_BYTES = 64 * 1024;

/** The configuration of a server over HTTP, with its inputs filled in. */
export type HttpConfig = Exclude<ResolvedServerConfig, { type: "stdio" }>;

/** What all sign-ins of a Computer share. */
export interface AuthorizationContext {
  readonly store: TokenStore;
  /** Told of each token and secret, so that logs and answers do not show them. */
  readonly learn: (server: string, secrets: readonly string[]) => void;
  readonly log: Logger;
  readonly now: () => number;
  /** Resolves a name to all of its addresses; by default, the resolver of the system. */
  readonly resolveHost?: ReachOptions["resolve"];
}

/** Where a sign-in goes: the resource and its authorization server. */
export interface SignInTarget {
  /** `undefined` for a server of 2025-03-26. */
  readonly resource: ProtectedResource | undefined;
  readonly as: AuthorizationServer;
  readonly audience: string | undefined;
  readonly challenge: Challenge | undefined;
}

/** One MCP server over HTTP, with its configuration for OAuth. */
export class ProtectedServer {
  readonly name: string;
  readonly url: URL;
  /** The URL without user information, query and fragment. */
  readonly resource: string;
  readonly config: OAuthSettings;
  /** Whether `oauth` is configured; otherwise the MCP server must offer it. */
  readonly isConfigured: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** What bounds the addresses of its sign-ins. */
  readonly reach: ReachOptions;
  readonly fetch: OAuthFetch;
  readonly context: AuthorizationContext;

  private constructor(http: HttpConfig, oauth: OAuthSettings | undefined, context: AuthorizationContext) {
    const { url, headers } = http.server_parameters;
    this.name = http.name;
    this.url = new URL(url);
    const { origin, pathname } = this.url;
    this.resource = `${origin}${pathname}`;
    this.config = oauth ?? {};
    this.isConfigured = oauth !== undefined;
    this.headers = Object.fromEntries(
      Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    this.reach = {
      resource: this.url,
      issuer: this.config.issuer ?? undefined,
      resolve: context.resolveHost,
    };
    this.fetch = createOAuthFetch(this.reach);
    this.context = context;
    const { clientSecret, privateKey, assertion, identityProvider } = this.config;
    this.learn(clientSecret ?? undefined, privateKey ?? undefined, assertion ?? undefined);
    this.learn(identityProvider?.clientSecret ?? undefined, identityProvider?.idToken ?? undefined);
  }

  /**
   * Returns `undefined` for a server that never signs in: `oauth` is `false`, or an `Authorization` header is configured
   * and `oauth` is not.
   *
   * @throws {ConfigurationError} when the configuration can never work.
   */
  static of(http: HttpConfig, context: AuthorizationContext): ProtectedServer | undefined {
    const { oauth, server_parameters: { url, headers } } = http;
    if (oauth === false || !URL.canParse(url)) return undefined;
    const hasHeader = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === "authorization");
    if (hasHeader && (oauth === undefined || oauth === null)) return undefined;
    if (hasHeader) {
      throw new ConfigurationError('Cannot use both "oauth" and an "Authorization" header; remove one');
    }
    const config = oauth === true ? {} : oauth ?? undefined;
    const missing = config && missingFor(config);
    if (missing !== undefined) {
      throw new ConfigurationError(`Cannot use "oauth": the grant "${config?.grant}" needs ${missing}`);
    }
    return new ProtectedServer(http, config, context);
  }

  /** Whether tokens are obtained without a person. */
  get isService(): boolean {
    return isServiceGrant(this.config);
  }

  /**
   * The assertion for new tokens (RFC 7523), read or issued anew; `undefined` with another grant.
   *
   * @throws {SignInError} when its file cannot be read, or is empty.
   */
  async assertionFor(target: AssertionTarget): Promise<string | undefined> {
    const { grant, assertion, assertionFile, identityProvider } = this.config;
    if (grant !== "jwt_bearer") return undefined;
    let proof: string;
    if (identityProvider) {
      const idToken = identityProvider.idToken ||
        await readTokenFile(identityProvider.idTokenFile, "ID token");
      this.learn(idToken);
      proof = await exchangeIdToken(identityProvider, idToken, target);
    } else proof = assertion || await readTokenFile(assertionFile, "assertion");
    this.learn(proof);
    return proof;
  }

  /** The sign-ins that the configuration still allows, the latest first. */
  async signIns(): Promise<StoredSignIn[]> {
    const { issuer } = this.config;
    const known = (await this.known()).filter((each) =>
      (!issuer || isSameIssuer(each.issuer, issuer)) && isUsable(each.client, this.config, this.context.now())
    );
    for (const each of known) this.learnTokens(each);
    return known.sort((one, other) => (other.signedInAtMs ?? 0) - (one.signedInAtMs ?? 0));
  }

  /** All sign-ins at this URL, also under an earlier configuration. */
  async known(): Promise<StoredSignIn[]> {
    const stored = await this.context.store.read(this.name);
    return stored.filter(({ resource }) => resource === this.resource);
  }

  keyOf(issuer: string): SignInKey {
    return { server: this.name, resource: this.resource, issuer };
  }

  /** Replaces what is stored; see {@linkcode TokenStore.update}. */
  async update(
    issuer: string,
    change: (before: StoredSignIn | undefined) => Promise<StoredSignIn | undefined>,
  ): Promise<StoredSignIn | undefined> {
    return await this.context.store.update(this.keyOf(issuer), async (before) => {
      const after = await change(before);
      if (after !== undefined) this.learnTokens(after);
      return after;
    });
  }

  /** Stores a new sign-in. The tokens of others, at other authorization servers, are dropped: the MCP server left these. */
  async store(
    { as: { metadata: { issuer, token_endpoint } }, audience }: SignInTarget,
    { client, tokens, scopes }: {
      readonly client: OAuthClient;
      readonly tokens: OAuthTokens;
      /** What was asked for, which is granted unless the answer says otherwise. */
      readonly scopes: readonly string[];
    },
  ): Promise<void> {
    const granted = { ...tokens, scope: tokens.scope ?? scopes.join(" ") };
    const signedInAtMs = this.context.now();
    const tokenOrigin = URL.parse(token_endpoint ?? "")?.origin;
    const signIn = { ...this.keyOf(issuer), client, tokenOrigin, audience, tokens: granted, signedInAtMs };
    await this.update(issuer, () => Promise.resolve(signIn));
    for (const other of await this.known()) {
      if (other.issuer !== issuer && other.tokens !== undefined) await this.forgetTokens(other.issuer);
    }
  }

  /** Forgets the tokens of a sign-in, and keeps which client belongs to which issuer. */
  async forgetTokens(issuer: string): Promise<void> {
    await this.update(issuer, (before) => {
      if (before === undefined) return Promise.resolve(undefined);
      const { tokens: _tokens, wantedScope: _wanted, ...rest } = before;
      return Promise.resolve(rest);
    });
  }

  /**
   * Ties a configured client to the authorization server that its credentials are about to go to.
   *
   * @throws {SignInError} when it belongs to another one.
   */
  async bind(issuer: string, client: OAuthClient): Promise<void> {
    if (client.source !== "configured") return;
    const assertAlone = async () => {
      const others = (await this.known()).filter((each) => each.issuer !== issuer);
      assertOwnIssuer(issuer, { config: this.config, known: others });
    };
    await assertAlone();
    let isNew = false;
    await this.update(issuer, (before) => {
      isNew = before === undefined;
      const isBound = before?.client.source === "configured";
      return Promise.resolve(isBound ? before : { ...this.keyOf(issuer), client });
    });
    // Another sign-in may have begun at the same time, at another issuer: then neither gets the credentials.
    await assertAlone().catch(async (error) => {
      if (isNew) await this.update(issuer, () => Promise.resolve(undefined));
      throw error;
    });
  }

  /** Hides these texts from logs and answers. */
  learn(...secrets: readonly (string | undefined)[]): void {
    const known = secrets.filter((secret) => secret !== undefined);
    if (known.length > 0) this.context.learn(this.name, known);
  }

  learnTokens(
    { client, tokens }: Pick<StoredSignIn, "client"> & { readonly tokens?: OAuthTokens | undefined },
  ): void {
    this.learn(client.clientSecret, tokens?.accessToken, tokens?.refreshToken, tokens?.proofKey?.d);
  }

  /**
   * Finds out where to sign in.
   *
   * @throws {SignInError} when there is no way, or the configured client belongs to another issuer.
   * @throws {ServerNotRunningError} when a server on the way does not answer.
   */
  async discover(challenge: Challenge | undefined, signal: AbortSignal | undefined): Promise<SignInTarget> {
    const { url, fetch, config } = this;
    const resource = await discoverResource(url, { challenge, fetch, signal, resource: config.resource });
    const issuers = resource?.issuers ?? [config.issuer ?? url.origin];
    const issuer = await this.#chooseIssuer(issuers);
    const as = await discoverAuthorizationServer(issuer, {
      server: url,
      fetch,
      signal,
      hasDefaultEndpoints: resource === undefined,
    });
    return { resource, as, audience: config.resource ?? resource?.resource, challenge };
  }

  /** Whether the MCP server says by itself where its authorization server is, unasked for tokens. */
  async offersSignIn(signal: AbortSignal | undefined): Promise<boolean> {
    const { url, fetch, config: { resource } } = this;
    const found = await discoverResource(url, { challenge: undefined, fetch, signal, resource });
    return found !== undefined || await hasServerMetadata(url, { fetch, signal });
  }

  /** The authorization server of a sign-in that exists. */
  async authorizationServerOf({ issuer }: StoredSignIn): Promise<AuthorizationServer> {
    const { url: server, fetch } = this;
    return await discoverAuthorizationServer(issuer, {
      server,
      fetch,
      signal: undefined,
      hasDefaultEndpoints: true,
    });
  }

  /** The configured one, else one with a sign-in, else the first. */
  async #chooseIssuer(issuers: readonly string[]): Promise<string> {
    const known = await this.known();
    const { config } = this;
    const isIn = (issuer: string) => (each: string) => isSameIssuer(each, issuer);
    const configured = config.issuer ? issuers.find(isIn(config.issuer)) : undefined;
    const used = known.map(({ issuer }) => issuers.find(isIn(issuer))).find((issuer) => issuer !== undefined);
    const issuer = configured ?? used ?? issuers[0];
    if (issuer === undefined) {
      throw new SignInError("Cannot sign in: the MCP server names no authorization server");
    }
    assertOwnIssuer(issuer, { config, known });
    return issuer;
  }

  scopesFor({ challenge, resource, as }: SignInTarget, before: StoredSignIn | undefined): string[] {
    const { scopes } = this.config;
    const usual = scopes && scopes.length > 0
      ? scopes.join(" ")
      : challenge?.scope ?? resource?.scopesSupported?.join(" ");
    const asked = scopesToAskFor(usual, before?.wantedScope);
    const canStay = !this.isService && as.metadata.scopes_supported?.includes("offline_access") === true;
    // With it, most authorization servers issue a refresh token.
    return canStay ? scopesIn(asked.join(" "), "offline_access") : asked;
  }
}

/** What the grant of a service lacks; inputs may have been filled in with empty texts. */
function missingFor(oauth: OAuthSettings): string | undefined {
  const { grant, clientId, clientSecret, privateKey, assertion, assertionFile, identityProvider } = oauth;
  if (grant === "client_credentials" && !(clientId && (clientSecret || privateKey))) {
    return '"clientId", and "clientSecret" or "privateKey"';
  }
  if (grant === "jwt_bearer" && !(clientId && (assertion || assertionFile || identityProvider))) {
    return '"clientId", and "assertion", "assertionFile" or "identityProvider"';
  }
  return undefined;
}

/** A file is read each time: platforms replace the token in it. */
async function readTokenFile(file: string | null | undefined, what: string): Promise<string> {
  const path = file ?? "";
  const reading = await readRegularFile(path, { maxBytes: MAX_TOKEN_FILE_BYTES });
  const text = "text" in reading ? reading.text.trim() : "";
  if (text !== "") return text;
  const state = "text" in reading ? "it is empty" : reading.state;
  throw new SignInError(`Cannot read the ${what} in "${path}": ${state}`);
}
