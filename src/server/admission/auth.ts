/** Who may connect. */
import { createHash, timingSafeEqual } from "node:crypto";

/** What a connection shows of itself before it is admitted. */
export interface Credentials {
  /** The Socket.IO `auth` object. */
  readonly auth: Readonly<Record<string, unknown>>;
  /** The HTTP headers of the handshake, by lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The URL query of the handshake. */
  readonly query: Readonly<Record<string, unknown>>;
  /** Where the connection comes from; behind a proxy, the proxy. */
  readonly address: string;
}

/** Admitted as `principal`, or refused with a reason that the client is told. */
export type AuthDecision = { readonly principal: string } | { readonly refused: string };

/**
 * Decides who may connect. A connection is refused when the provider throws; the error is logged and not sent.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import type { AuthProvider } from "@a2c-smcp/sdk/server";
 *
 * const localOnly: AuthProvider = {
 *   authenticate: ({ address }) =>
 *     address === "127.0.0.1" ? { principal: "local" } : { refused: "from elsewhere" },
 * };
 * assertEquals(
 *   await localOnly.authenticate({ auth: {}, headers: {}, query: {}, address: "127.0.0.1" }),
 *   { principal: "local" },
 * );
 * ```
 */
export interface AuthProvider {
  /**
   * Decides on one connection. Until then nothing that it sends is read, and little of it is kept.
   *
   * @param credentials What the connection shows.
   * @param context `signal`: aborted when the Server's `authTimeoutMs` is over, since the connection is refused by then, and
   * when the connection is gone.
   */
  authenticate(
    credentials: Credentials,
    context?: { readonly signal: AbortSignal },
  ): AuthDecision | Promise<AuthDecision>;
}

/** Where {@linkcode staticTokens} looks, and what for. */
export interface StaticTokensOptions {
  /** The tokens that are accepted; at least one, none empty. */
  readonly tokens: readonly string[];
  /** The field of the Socket.IO `auth` object; `token` by default. */
  readonly field?: string | undefined;
  /** The HTTP header that older peers use; `x-api-key` by default. In `authorization` the word `Bearer` is skipped. */
  readonly header?: string | undefined;
}

/**
 * Admits whoever shows one of a fixed set of tokens. Comparing takes the same time for any wrong token.
 *
 * @param options The tokens, and where to look for them. The `auth` field is looked at first.
 * @return A provider whose principals are `token-1`, `token-2` … in the order of the tokens.
 * @throws {TypeError} when there is no token, or an empty one.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { staticTokens } from "@a2c-smcp/sdk/server";
 *
 * const provider = staticTokens({ tokens: ["s3cret"] });
 * const credentials = { headers: {}, query: {}, address: "127.0.0.1" };
 * assertEquals(
 *   await provider.authenticate({ ...credentials, auth: { token: "s3cret" } }),
 *   { principal: "token-1" },
 * );
 * assertEquals(
 *   await provider.authenticate({ ...credentials, auth: { token: "guess" } }),
 *   { refused: "wrong token" },
 * );
 * ```
 */
export function staticTokens(options: StaticTokensOptions): AuthProvider {
  const { tokens, field = "token", header = "x-api-key" } = options;
  if (tokens.length === 0 || tokens.includes("")) {
    throw new TypeError("Cannot accept static tokens: give at least one, and none empty");
  }
  const digests = tokens.map(digestOf);
  return {
    authenticate(credentials) {
      const shown = readToken(credentials, { field, header: header.toLowerCase() });
      if (shown === undefined) return { refused: "no token" };
      const digest = digestOf(shown);
      // All are compared, so that the time tells nothing of which one came close.
      const matches = digests.map((accepted) => timingSafeEqual(accepted, digest));
      const index = matches.indexOf(true);
      return index < 0 ? { refused: "wrong token" } : { principal: `token-${index + 1}` };
    },
  };
}

/** Admits everyone as the one principal `anonymous`. */
export const anonymous: AuthProvider = { authenticate: () => ({ principal: "anonymous" }) };

function readToken(
  { auth, headers }: Credentials,
  { field, header }: { readonly field: string; readonly header: string },
): string | undefined {
  const own = Object.hasOwn(auth, field) ? auth[field] : undefined;
  if (typeof own === "string" && own !== "") return own;
  const value = headers[header];
  if (typeof value !== "string" || value === "") return undefined;
  return header === "authorization" ? value.replace(/^Bearer +/i, "") : value;
}

/** Digests have one length, whatever the token's: nothing about it leaks through the comparison. */
function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
