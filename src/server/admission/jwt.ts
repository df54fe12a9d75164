/** Authentication of clients by JSON Web Tokens. */
import type { JWTPayload, ProtectedHeaderParameters } from "jose";
import { isRecord, isTexts } from "../../json/json.ts";
import { type Logger, silentLogger } from "../../log.ts";
import { countOf, quoted } from "../../text/text.ts";
import { CONSTANTS } from "../options/constants.ts";
import { JWT_ROWS } from "../options/credential_rows.ts";
import {
  keysFor,
  parsePublicKeys,
  parseSecrets,
  PUBLIC_KEY_ALGORITHMS,
  RemoteKeys,
  SECRET_ALGORITHMS,
  type VerificationKey,
} from "./jwt_keys.ts";
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
import { WatchedFiles } from "../../files/watched_files.ts";

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
  readonly #rules: JwtRules;
  readonly #readToken: (credentials: Credentials) => string | undefined;
  readonly #jose: typeof import("jose");
  readonly #keys: KeySource;

  private constructor(options: JwtOptions, parts: Parts) {
    this.#options = options;
    this.#rules = parts.rules;
    this.#readToken = createTokenReader(options);
    this.#jose = parts.jose;
    this.#keys = parts.keys;
  }

  /**
   * Reads the keys. Those of a URL are fetched in the background, so that the Server also starts while it is down.
   *
   * @throws {TypeError} for options that contradict each other.
   * @throws {FileContentError} when the secret or the keys cannot be used.
   */
  static async open(options: JwtOptions): Promise<JwtTokens> {
    const rules = rulesOf(options);
    // Loaded only now, so that a Server without JWT does not need it.
    return new JwtTokens(options, { rules, jose: await import("jose"), keys: await openKeys(options) });
  }

  /** Decides on one connection. */
  async authenticate(
    credentials: Credentials,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<AuthDecision> {
    const token = this.#readToken(credentials);
    if (token === undefined) return { refused: "no token" };
    try {
      return this.#decide(await this.#verify(token, signal));
    } catch (error) {
      return this.#toRefusal(error);
    }
  }

  /** Implements {@linkcode AuthProvider.unready}: there are no keys before the first answer of the URL, and an hour after the last one. */
  unready(): string | undefined {
    return this.#keys.unready?.();
  }

  /** Stops watching files and fetching keys. Idempotent. */
  async close(): Promise<void> {
    await this.#keys.close?.();
  }

  /** The same as {@linkcode JwtTokens.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #verify(token: string, signal: AbortSignal | undefined): Promise<JWTPayload> {
    const { jwtVerify, errors } = this.#jose;
    const header = this.#readHeader(token);
    const keys = await this.#keys.find(header, signal);
    for (const { key } of keys) {
      try {
        return (await jwtVerify(token, key, this.#rules)).payload;
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    const kind = isSecret(this.#options) ? "secret" : "key";
    throw new errors.JWSSignatureVerificationFailed(
      keys.length === 0
        ? `there is no ${kind} for the algorithm ${shown(header.alg)} and the key id of the token`
        : `the signature does not fit; tried ${countOf(keys.length, kind)}`,
    );
  }

  #readHeader(token: string): ProtectedHeaderParameters {
    const { decodeProtectedHeader, errors } = this.#jose;
    try {
      if (!COMPACT_FORM.test(token)) throw new TypeError("Not in compact form");
      return decodeProtectedHeader(token);
    } catch (cause) {
      throw new errors.JWTInvalid("the token is no JWT", { cause });
    }
  }

  #decide(claims: JWTPayload): AuthDecision {
    const reading = readClaims(claims, this.#options);
    if ("refused" in reading) return reading;
    // Two issuers may have the same subject.
    const isAmbiguous = this.#rules.issuer?.length !== 1 && claims.iss !== undefined;
    return {
      principal: isAmbiguous ? `${claims.iss}#${reading.principal}` : reading.principal,
      grant: reading.grant,
      expiresAtMs: ((claims.exp ?? 0) + this.#rules.clockTolerance) * 1_000,
    };
  }

  /**
   * What the client is told, and the log: whose token it is, and what was expected of a claim. Nothing of a token whose
   * signature is wrong counts, so the log says only why it is not accepted.
   *
   * @throws `error` when it is a failure of the Server's own.
   */
  #toRefusal(error: unknown): AuthRefusal {
    const { JOSEError, JWTClaimValidationFailed, JWTExpired } = this.#jose.errors;
    if (error instanceof JWTExpired || error instanceof JWTClaimValidationFailed) {
      const { claim, payload } = error;
      const { issuer, audience } = this.#options;
      const expected = claim === "iss" ? issuer : claim === "aud" ? audience : undefined;
      const log = { sub: shown(payload.sub), expected: shown(expected), found: shown(payload[claim]) };
      return { refused: claimProblem(error), log };
    }
    if (!(error instanceof JOSEError)) throw error;
    return { refused: "wrong token", log: { detail: shown(error.message) } };
  }
}

interface Parts {
  readonly rules: JwtRules;
  readonly jose: typeof import("jose");
  readonly keys: KeySource;
}

/** Three parts in base64url; `jose` would also read what has spaces or padding. */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

function listOf(value: string | readonly string[] | undefined): string[] | undefined {
  return typeof value === "string" ? [value] : value?.slice();
}

function claimProblem({ claim, reason }: { readonly claim: string; readonly reason: string }): string {
  if (reason === "missing") return `the token has no claim "${claim}"`;
  if (reason === "invalid") return `the claim "${claim}" of the token is malformed`;
  if (claim === "exp") return "token expired";
  return claim === "nbf"
    ? "token not valid yet"
    : `the claim "${claim}" of the token is not the expected one`;
}

function isSecret({ secret, secretFile }: JwtKeyOptions): boolean {
  return secret !== undefined || secretFile !== undefined;
}

/** What a token must fulfil besides its signature, as `jose` checks it. */
function rulesOf(options: JwtOptions) {
  const { secret, secretFile, publicKey, publicKeyFile, jwksUrl, issuer, audience } = options;
  const { clockToleranceMs = JWT_ROWS.jwtClockToleranceMs.default } = options;
  const sources = [secret, secretFile, publicKey, publicKeyFile, jwksUrl];
  if (sources.filter((each) => each !== undefined).length !== 1) {
    throw new TypeError("Cannot use JWT: exactly one of a secret, a public key and a key set is required");
  }
  // An issuer signs tokens for many programs, and a key set may be of many issuers.
  if (jwksUrl !== undefined && (issuer === undefined || audience === undefined)) {
    throw new TypeError(
      "Cannot use JWT: a key set needs the issuer (--jwt-issuer) and the audience (--jwt-audience) of the tokens",
    );
  }
  const possible = isSecret(options) ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS;
  const { algorithms = isSecret(options) ? ["HS256"] : possible } = options;
  if (algorithms.length === 0 || !algorithms.every((alg) => possible.includes(alg))) {
    const given = algorithms.join(", ");
    throw new TypeError(`Cannot use JWT with algorithm "${given}": possible are ${possible.join(", ")}`);
  }
  return {
    algorithms: [...algorithms],
    requiredClaims: ["exp"],
    clockTolerance: clockToleranceMs / 1_000,
    issuer: listOf(issuer),
    audience: listOf(audience),
  };
}

type JwtRules = ReturnType<typeof rulesOf>;

interface KeySource {
  find(token: ProtectedHeaderParameters, signal?: AbortSignal): Promise<readonly VerificationKey[]>;
  unready?(): string | undefined;
  close?(): Promise<void>;
}

async function openKeys(options: JwtOptions): Promise<KeySource> {
  const { secret, secretFile, publicKey, publicKeyFile, jwksUrl, allowHttp, logger = silentLogger } = options;
  if (jwksUrl !== undefined) {
    const remote = new RemoteKeys(jwksUrl, { logger, allowHttp });
    remote.refreshOld();
    return remote;
  }
  const kind = isSecret(options) ? "secret of JWT" : "public key of JWT";
  let keys: readonly VerificationKey[] = [];
  const use = ([text = ""]: readonly string[]) =>
    void (keys = isSecret(options) ? parseSecrets(text) : parsePublicKeys(text));
  const find = (token: ProtectedHeaderParameters) => Promise.resolve(keysFor(token, keys));
  const file = secretFile ?? publicKeyFile;
  const given = secret ?? publicKey;
  const files = await WatchedFiles.open({
    kind,
    files: file === undefined ? [] : [file],
    given: given === undefined ? undefined : [given],
    maxBytes: CONSTANTS.maxKeyFileBytes.value,
    logger,
    use,
  });
  return { find, close: () => files.close() };
}

const MAX_PRINCIPAL_LENGTH = 256;
const ALL = "*";

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
    log: { sub: shown(claims["sub"]), found: shown(found) },
  });
  const [principal, offices, roles] = [principalClaim, officesClaim, rolesClaim].map((name) =>
    findClaim(claims, name)
  );
  if (!isPrincipal(principal)) return refuse(`the token has no usable claim "${principalClaim}"`, principal);
  if (!isTextOrList(offices)) return refuse(`the token has an invalid claim "${officesClaim}"`, offices);
  if (!isTextOrList(roles)) return refuse(`the token has an invalid claim "${rolesClaim}"`, roles);
  const allowed = typeof offices === "string" ? [offices] : offices ?? defaultOffices;
  const named = typeof roles === "string" ? roles.split(/\s+/) : roles ?? defaultRoles;
  return {
    principal,
    grant: {
      ...(allowed.includes(ALL) ? {} : { offices: allowed.map((office) => office.normalize("NFKC")) }),
      // A token may have roles of other programs as well.
      roles: named.filter(isGrantedRole),
    },
  };
}

/** Finds a claim by its name, or else by a path; a name may have dots itself, as a URL has. */
function findClaim(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  return name.split(".").reduce<unknown>(
    (value, key) => isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined,
    claims,
  );
}

function isPrincipal(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_PRINCIPAL_LENGTH &&
    !/[\p{Cc}\p{Cs}]/u.test(value);
}

function isTextOrList(claim: unknown): claim is string | readonly string[] | undefined {
  return claim === undefined || typeof claim === "string" || isTexts(claim);
}

/** A claim, or another value, for the log; `undefined` for an absent one. */
function shown(claim: unknown): string | undefined {
  if (claim === undefined) return undefined;
  return quoted(typeof claim === "string" ? claim : JSON.stringify(claim));
}
