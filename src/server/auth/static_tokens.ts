/** Authentication of clients by a fixed set of tokens. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { AuthProvider, Credentials } from "./provider.ts";

/** The options of {@linkcode staticTokens}. */
export interface StaticTokensOptions {
  /** The accepted tokens; at least one, none empty. */
  readonly tokens: readonly string[];
  /** The field of the Socket.IO `auth` object; `token` by default. */
  readonly field?: string | undefined;
  /** The HTTP header for clients that set no `auth` field; `x-api-key` by default. `authorization` may start with `Bearer`. */
  readonly header?: string | undefined;
}

/**
 * Admits clients with one of a fixed set of tokens, compared in constant time.
 *
 * @param options The tokens, and the names of the `auth` field and of the HTTP header. The field is read first.
 * @return A provider whose principals are `token-1`, `token-2` … in the order of the tokens.
 * @throws {TypeError} when `tokens` is empty, or has an empty token.
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
    throw new TypeError("Cannot use the static tokens: at least one is required, and none may be empty");
  }
  const digests = tokens.map(digestOf);
  return {
    authenticate(credentials) {
      const shown = readToken(credentials, { field, header: header.toLowerCase() });
      if (shown === undefined) return { refused: "no token" };
      const digest = digestOf(shown);
      // Compares with all tokens, so that the time does not depend on the match.
      const matches = digests.map((accepted) => timingSafeEqual(accepted, digest));
      const index = matches.indexOf(true);
      return index < 0 ? { refused: "wrong token" } : { principal: `token-${index + 1}` };
    },
  };
}

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

/** Digests have a fixed length, so the comparison does not leak the length of a token. */
function digestOf(token: string): Uint8Array {
  return createHash("sha256").update(token).digest();
}
