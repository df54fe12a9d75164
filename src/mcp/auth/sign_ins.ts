/** Signs in at the MCP servers of one Computer, and out again. Works without a running session. */
import * as oauth from "oauth4webapi";
import { Deadline } from "../../async/deadline.ts";
import { describeError } from "../../text/text.ts";
import type { ResolvedServerConfig } from "../../protocol/config.ts";
import { networkReason, SignInError } from "../errors.ts";
import { beginBrowserSignIn, DEFAULT_REDIRECT_PORT } from "./browser_sign_in.ts";
import { sendAuthorized } from "./authorized_fetch.ts";
import { type Challenge, scopesIn } from "./challenge.ts";
import { authenticationOf } from "./client.ts";
import { beginDeviceSignIn } from "./device_sign_in.ts";
import { mayGetTokens } from "./metadata_origins.ts";
import { requestOptions } from "./oauth_requests.ts";
import {
  type AuthorizationContext,
  type HttpConfig,
  ProtectedServer,
  type SignInTarget,
} from "./protected_server.ts";
import { ServerAuthorization } from "./server_authorization.ts";
import type { SignIn, SignInOptions, SignInStatus, SignOutResult } from "./sign_in.ts";
import { toLibraryClient } from "./token_requests.ts";
import type { StoredSignIn } from "./token_store.ts";

/** How long the MCP server may take to say what it wants, in milliseconds. */
const PROBE_TIMEOUT_MS = 15_000;

export interface SignInsContext extends AuthorizationContext {
  /** Returns the configuration of a server with its inputs filled in; throws `TypeError` for an unknown name. */
  readonly resolve: (server: string, signal: AbortSignal | undefined) => Promise<ResolvedServerConfig>;
}

/** Does what `ComputerSignIns` describes, for one Computer. */
export class SignIns {
  readonly #context: SignInsContext;

  constructor(context: SignInsContext) {
    this.#context = context;
  }

  async start(name: string, options: SignInOptions = {}): Promise<SignIn> {
    const { signal } = options;
    const server = await this.#find(name, signal);
    const { status, challenge } = await probe(server, signal);
    if (server.isService) return await this.#startService(server, challenge, signal);
    if (challenge === undefined) await assertOffered(server, { status, signal });
    const target = await this.#discover(server, challenge, signal);
    const isDevice = options.device ?? server.config.grant === "device_code";
    if (isDevice) return await beginDeviceSignIn(server, target, { signal });
    const { redirectUri = defaultRedirect(server) } = options;
    return await beginBrowserSignIn(server, target, { redirectUri, signal });
  }

  async status(name: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<SignInStatus> {
    const server = await this.#find(name, signal);
    const signIns = await server.signIns();
    return toStatus(
      server,
      signIns.find(({ tokens }) => tokens !== undefined) ?? signIns[0],
      this.#context.now(),
    );
  }

  async signOut(name: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<SignOutResult> {
    const server = await this.#find(name, signal);
    const signedIn = (await server.known()).filter(({ tokens }) => tokens !== undefined);
    let isRevoked = signedIn.length > 0;
    for (const signIn of signedIn) {
      await server.forgetTokens(signIn.issuer);
      isRevoked = await this.#revoke(server, signIn, signal) && isRevoked;
    }
    return { wasSignedIn: signedIn.length > 0, isRevoked };
  }

  async redirectPort(name: string): Promise<number | undefined> {
    const server = await this.#find(name, undefined);
    const { redirectPort } = server.config;
    if (redirectPort) return redirectPort;
    const [last] = await server.signIns();
    const port = last?.client.redirectUri === undefined ? "" : new URL(last.client.redirectUri).port;
    return port === "" ? undefined : Number(port);
  }

  /** What a session is signed in with; `undefined` for a server that never signs in. */
  authorize(config: HttpConfig, signal: AbortSignal): ServerAuthorization | undefined {
    const server = ProtectedServer.of(config, this.#context);
    return server && new ServerAuthorization(server, signal);
  }

  async #find(name: string, signal: AbortSignal | undefined): Promise<ProtectedServer> {
    const config = await this.#context.resolve(name, signal);
    if (config.type === "stdio") {
      throw new TypeError(
        `Cannot sign in at MCP server "${name}": it is a program, not a server on the network`,
      );
    }
    const server = ProtectedServer.of(config, this.#context);
    if (server !== undefined) return server;
    const why = config.oauth === false ? '"oauth" is false' : 'it has an "Authorization" header';
    throw new TypeError(`Cannot sign in at MCP server "${name}": ${why} in the config`);
  }

  async #discover(
    server: ProtectedServer,
    challenge: Challenge | undefined,
    signal: AbortSignal | undefined,
  ): Promise<SignInTarget> {
    try {
      return await server.discover(challenge, signal);
    } catch (error) {
      if (error instanceof SignInError || signal?.aborted) throw error;
      throw new SignInError(`Cannot sign in: ${describeError(error)}`, { cause: error });
    }
  }

  /** Tokens that are there say nothing about the client of now: new ones are requested. */
  async #startService(
    server: ProtectedServer,
    challenge: Challenge | undefined,
    signal: AbortSignal | undefined,
  ): Promise<SignIn> {
    const over = new AbortController();
    try {
      const known = (await server.signIns()).find(({ tokens }) => tokens !== undefined);
      const authorization = new ServerAuthorization(server, over.signal);
      await authorization.onRefused({ status: 401, challenge, token: known?.tokens?.accessToken }, signal);
      return { kind: "service", finished: Promise.resolve() };
    } catch (error) {
      signal?.throwIfAborted();
      throw new SignInError(describeError(error), { cause: error });
    } finally {
      over.abort();
    }
  }

  /** Returns whether all tokens are revoked. */
  async #revoke(
    server: ProtectedServer,
    signIn: StoredSignIn,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const { client, tokens } = signIn;
    try {
      const as = await server.authorizationServerOf(signIn);
      const { revocation_endpoint: endpoint } = as.metadata;
      if (endpoint === undefined) return false;
      if (!mayGetTokens(endpoint, signIn, server)) {
        throw new SignInError(`Cannot send tokens to another address, ${endpoint}`);
      }
      const authentication = await authenticationOf(client, { as, config: server.config });
      const options = requestOptions({ as, fetch: server.fetch, signal });
      // The refresh token first: with it, many authorization servers also revoke the access token.
      for (const token of [tokens?.refreshToken, tokens?.accessToken]) {
        if (token === undefined) continue;
        const response = await oauth.revocationRequest(
          as.metadata,
          toLibraryClient(client, { as }),
          authentication,
          token,
          options,
        );
        await oauth.processRevocationResponse(response);
      }
      return true;
    } catch (error) {
      signal?.throwIfAborted();
      this.#context.log.warn("tokens not revoked", { server: server.name, error: describeError(error) });
      return false;
    }
  }
}

function defaultRedirect({ config }: ProtectedServer): string {
  return `http://127.0.0.1:${config.redirectPort ?? DEFAULT_REDIRECT_PORT}/callback`;
}

function toStatus(server: ProtectedServer, signIn: StoredSignIn | undefined, nowMs: number): SignInStatus {
  const { tokens, client, issuer, wantedScope, signedInAtMs } = signIn ?? {};
  const scopes = scopesIn(tokens?.scope);
  const isRenewable = tokens?.refreshToken !== undefined || (tokens !== undefined && server.isService);
  const isExpired = !isRenewable && (tokens?.expiresAtMs ?? Infinity) <= nowMs;
  return {
    server: server.name,
    resource: server.resource,
    issuer,
    state: tokens === undefined ? "signed out" : isExpired ? "expired" : "signed in",
    clientId: client?.clientId,
    scopes,
    missingScopes: scopesIn(wantedScope).filter((scope) => !scopes.includes(scope)),
    expiresAtMs: tokens?.expiresAtMs,
    isRenewable,
    signedInAtMs,
  };
}

/** Asks the MCP server what it wants: a `ping` without a token begins no session. */
async function probe(
  server: ProtectedServer,
  signal: AbortSignal | undefined,
): Promise<{ readonly status: number; readonly challenge: Challenge | undefined }> {
  using deadline = new Deadline(PROBE_TIMEOUT_MS, {
    reason: () => new SignInError(`Cannot sign in: no answer of the MCP server in ${PROBE_TIMEOUT_MS} ms`),
    signal,
  });
  const headers = new Headers(server.headers);
  headers.set("accept", "application/json, text/event-stream");
  headers.set("content-type", "application/json");
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
  try {
    const init: RequestInit = {
      method: "POST",
      headers,
      body,
      // The headers may be secret, and are for this server.
      redirect: "manual",
      signal: deadline.signal,
    };
    const { response, challenge } = await sendAuthorized(server.url, init, {});
    await response.body?.cancel();
    const { status } = response;
    const isRefused = status === 401 || status === 403;
    return { status, challenge: isRefused ? challenge : undefined };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SignInError) throw error;
    throw new SignInError(`Cannot sign in: the MCP server is not reachable (${networkReason(error)})`, {
      cause: error,
    });
  }
}

/**
 * Checks that there is something to sign in at, for a server that did not ask for it.
 *
 * @throws {SignInError} when neither the server nor the configuration names an authorization server.
 */
async function assertOffered(
  server: ProtectedServer,
  { status, signal }: { readonly status: number; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { name, config } = server;
  if (status === 401 || status === 403 || status >= 500 || config.clientId || config.issuer) return;
  try {
    if (await server.offersSignIn(signal)) return;
  } catch (error) {
    signal?.throwIfAborted();
    // What is wrong with its metadata is said by the sign-in.
    if (error instanceof SignInError) return;
    throw new SignInError(`Cannot sign in: ${describeError(error)}`, { cause: error });
  }
  throw new SignInError(
    `Cannot sign in: MCP server "${name}" asks for no sign-in, it answered HTTP ${status} without one`,
  );
}
