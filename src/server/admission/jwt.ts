/** Authentication of clients by JSON Web Tokens. */
import { findClaim, isPrincipal, isTextOrList, namesIn, shownClaim } from "../../jwt/claims.ts";
import { JwtVerifier } from "../../jwt/verifier.ts";
import type { Logger } from "../../log.ts";
import { JWT_ROWS } from "../options/credential_rows.ts";
import {
  type AuthDecision,
  type AuthProvider,
  type AuthRefusal,
  createTokenReader,
  type Credentials,
  type Grant,
  GRANTED_ROLES,
  type GrantedRole,
  isGrantedRole,
  type TokenPlace,
} from "./provider.ts";

/** Where the keys come from: exactly one of these. */
export interface JwtKeyOptions {
  /** A secret that is shared with the issuer, of at least 32 bytes; or several, one a line. */
  readonly secret?: string | undefined;
  /** A file with such a secret, or several; it is read again when it changes. */
  readonly secretFile?: string | undefined;
  /** Public keys: PEM blocks of keys or certificates, a JWK, or a set of JWKs. */
  readonly publicKey?: string | undefined;
  /** A file with such keys; it is read again when it changes. */
  readonly publicKeyFile?: string | undefined;
  /**
   * The URL of a set of JWKs, `https:` or of this machine. Its answer is kept for 10 minutes, and fetched again, at most
   * every 30 seconds, when a token names an unknown key. `issuer` and `audience` are required.
   */
  readonly jwksUrl?: string | undefined;
}

/** The names of the claims, and what counts where one is absent. */
export interface ClaimOptions {
  /** The claim with the principal; `sub` by default. */
  readonly principalClaim?: string | undefined;
  /** The claim with the offices, a text or a list, `*` for all; `a2c_offices` by default. A path such as `app.offices` is read as well. */
  readonly officesClaim?: string | undefined;
  /** The claim with the roles, a list, or a text with spaces between them; `a2c_roles` by default. */
  readonly rolesClaim?: string | undefined;
  /** The offices of a token without that claim, `*` for all; none by default. */
  readonly defaultOffices?: readonly string[] | undefined;
  /** The roles of a token without that claim; all by default. */
  readonly defaultRoles?: readonly GrantedRole[] | undefined;
}

/** The options of {@linkcode JwtTokens.open}. */
export interface JwtOptions extends JwtKeyOptions, ClaimOptions, TokenPlace {
  /** The accepted values of the claim `iss`; all by default. */
  readonly issuer?: string | readonly string[] | undefined;
  /** The accepted values of the claim `aud`, one of which a token must have; all by default. */
  readonly audience?: string | readonly string[] | undefined;
  /**
   * The accepted algorithms. By default those that fit the kind of the keys: HS256 for a secret, and for public keys all
   * of RSA, ECDSA and EdDSA. `none` is never accepted, nor HS256 with a public key.
   */
  readonly algorithms?: readonly string[] | undefined;
  /** How far the issuer's clock may differ, in milliseconds; 30,000 by default. */
  readonly clockToleranceMs?: number | undefined;
  /** Allows `http:` to another machine for `jwksUrl`; `false` by default. */
  readonly allowHttp?: boolean | undefined;
  /** Receives a line when a file changes or the keys cannot be fetched; nothing is logged by default. */
  readonly logger?: Logger | undefined;
}

/**
 * Admits clients with a JSON Web Token (RFC 7519) that is signed, and has an expiry (`exp`) and a subject (`sub`). The claim
 * `a2c_offices` says which offices it is for; a token without it is for none, unless `defaultOffices` says otherwise.
 * The connection ends when the token expires. Needs the package `jose`, which is loaded here.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { JwtTokens } from "@a2c-smcp/sdk/server";
 *
 * await using tokens = await JwtTokens.open({ secret: crypto.randomUUID(), audience: "a2c" });
 * const credentials = { auth: { token: "guess" }, headers: {}, query: {}, address: "127.0.0.1" };
 * assertEquals(await tokens.authenticate(credentials), {
 *   refused: "wrong token",
 *   log: { detail: "the token is no JWT" },
 * });
 * ```
 */
export class JwtTokens implements AuthProvider, AsyncDisposable {
  readonly #options: JwtOptions;
  readonly #readToken: (credentials: Credentials) => string | undefined;
  readonly #verifier: JwtVerifier;

  private constructor(options: JwtOptions, verifier: JwtVerifier) {
    this.#options = options;
    this.#readToken = createTokenReader(options);
    this.#verifier = verifier;
  }

  /**
   * Reads the keys. Those of a URL are fetched in the background, so that the Server also starts while it is down.
   *
   * @throws {TypeError} for options that contradict each other.
   * @throws {FileContentError} when the secret or the keys cannot be used.
   */
  static async open(options: JwtOptions): Promise<JwtTokens> {
    const { jwksUrl, issuer, audience } = options;
    // An issuer signs tokens for many programs, and a key set may be of many issuers.
    if (jwksUrl !== undefined && (issuer === undefined || audience === undefined)) {
      throw new TypeError(
        "Cannot use JWT: a key set needs the issuer (--jwt-issuer) and the audience (--jwt-audience) of the tokens",
      );
    }
    const keySet = jwksUrl === undefined ? undefined : { url: jwksUrl };
    const verifier = await JwtVerifier.open({ ...options, keySet, httpFlag: "--jwt-allow-http" });
    return new JwtTokens(options, verifier);
  }

  /** Decides on one connection. */
  async authenticate(
    credentials: Credentials,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<AuthDecision> {
    const token = this.#readToken(credentials);
    if (token === undefined) return { refused: "no token" };
    const { audience, issuer } = this.#options;
    const verified = await this.#verifier.verify(token, { audience, signal });
    if ("refused" in verified) return verified;
    const { claims, expiresAtMs } = verified;
    const reading = readClaims(claims, this.#options);
    if ("refused" in reading) return reading;
    // Two issuers may have the same subject.
    const isAmbiguous = [issuer ?? []].flat().length !== 1 && claims.iss !== undefined;
    const principal = isAmbiguous ? `${claims.iss}#${reading.principal}` : reading.principal;
    return { principal, grant: reading.grant, expiresAtMs };
  }

  /** Implements {@linkcode AuthProvider.unready}: there are no keys before the first answer of the URL, and an hour after the last one. */
  unready(): string | undefined {
    return this.#verifier.unready();
  }

  /** Stops watching files and fetching keys. Idempotent. */
  async close(): Promise<void> {
    await this.#verifier.close();
  }

  /** The same as {@linkcode JwtTokens.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Reads the claims. A claim of a wrong type is refused: it must not count as absent. */
export function readClaims(
  claims: Readonly<Record<string, unknown>>,
  options: ClaimOptions,
): AuthRefusal | { readonly principal: string; readonly grant: Grant } {
  const {
    principalClaim = JWT_ROWS.jwtPrincipalClaim.default,
    officesClaim = JWT_ROWS.jwtOfficesClaim.default,
    rolesClaim = JWT_ROWS.jwtRolesClaim.default,
    defaultOffices = [],
    defaultRoles = GRANTED_ROLES,
  } = options;
  const refuse = (refused: string, found: unknown): AuthRefusal => ({
    refused,
    log: { sub: shownClaim(claims["sub"]), found: shownClaim(found) },
  });
  const [principal, offices, roles] = [principalClaim, officesClaim, rolesClaim].map((name) =>
    findClaim(claims, name)
  );
  if (!isPrincipal(principal)) return refuse(`the token has no usable claim "${principalClaim}"`, principal);
  if (!isTextOrList(offices)) return refuse(`the token has an invalid claim "${officesClaim}"`, offices);
  if (!isTextOrList(roles)) return refuse(`the token has an invalid claim "${rolesClaim}"`, roles);
  const allowed = namesIn(offices ?? defaultOffices);
  const named = typeof roles === "string" ? roles.split(/\s+/) : roles ?? defaultRoles;
  return {
    principal,
    grant: {
      ...(allowed === undefined ? {} : { offices: allowed }),
      // A token may have roles of other programs as well.
      roles: named.filter(isGrantedRole),
    },
  };
}
