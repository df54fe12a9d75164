/** Authentication of clients by JSON Web Tokens. */
import type { JWTPayload } from "jose";
import { type Logger, silentLogger } from "../../log.ts";
import { type ClaimOptions, DEFAULT_CLOCK_TOLERANCE_MS, readClaims } from "./jwt_claims.ts";
import {
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
  type TokenPlace,
} from "./provider.ts";
import { countOf, describeError, shorten } from "../../text.ts";
import { contentProblem, FileContentError, WatchedFiles } from "./watched_files.ts";

const MAX_KEY_FILE_BYTES = 262_144;

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
  readonly #algorithms: readonly string[];
  readonly #readToken: (credentials: Credentials) => string | undefined;
  readonly #remote: RemoteKeys | undefined;
  #files: WatchedFiles | undefined;
  #keys: readonly VerificationKey[] = [];

  private constructor(options: JwtOptions, remote: RemoteKeys | undefined) {
    this.#options = options;
    this.#algorithms = algorithmsOf(options);
    this.#readToken = createTokenReader(options);
    this.#remote = remote;
  }

  /**
   * Reads the keys. Those of a URL are fetched in the background, so that the Server also starts while it is down.
   *
   * @throws {TypeError} for options that contradict each other.
   * @throws {FileContentError} when the secret or the keys cannot be used.
   */
  static async open(options: JwtOptions): Promise<JwtTokens> {
    requireOneSource(options);
    const { logger = silentLogger, jwksUrl, allowHttp } = options;
    const remote = jwksUrl === undefined ? undefined : new RemoteKeys(jwksUrl, { logger, allowHttp });
    const tokens = new JwtTokens(options, remote);
    await tokens.#openKeys(logger);
    return tokens;
  }

  /** Decides on one connection. */
  async authenticate(
    credentials: Credentials,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<AuthDecision> {
    const token = this.#readToken(credentials);
    if (token === undefined) return { refused: "no token" };
    // Loaded only now, so that a Server without JWT does not need it.
    const jose = await import("jose");
    try {
      return this.#decide(await this.#verify(token, { jose, signal }));
    } catch (error) {
      const reason = refusalOf(error, jose);
      if (reason === undefined) throw error;
      return { refused: reason, ...factsOf(error, { jose, options: this.#options }) };
    }
  }

  /** Implements {@linkcode AuthProvider.unready}: there are no keys before the first answer of the URL, and an hour after the last one. */
  unready(): string | undefined {
    return this.#remote?.unready();
  }

  /** Stops watching files and fetching keys. Idempotent. */
  async close(): Promise<void> {
    await Promise.all([this.#files?.close(), this.#remote?.close()]);
  }

  /** The same as {@linkcode JwtTokens.close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #openKeys(logger: Logger): Promise<void> {
    const { secret, secretFile, publicKey, publicKeyFile } = this.#options;
    if (this.#remote !== undefined) return void this.#remote.current().catch(() => {});
    const file = secretFile ?? publicKeyFile;
    const isSecret = this.#isSecret;
    const parse = isSecret ? parseSecrets : parsePublicKeys;
    const kind = isSecret ? "secret of JWT" : "public key of JWT";
    if (file === undefined) {
      this.#keys = parseOption(kind, () => parse(secret ?? publicKey ?? ""));
      return;
    }
    this.#files = await WatchedFiles.open({
      kind,
      files: [file],
      maxBytes: MAX_KEY_FILE_BYTES,
      logger,
      use: ([text = ""]) => void (this.#keys = parse(text)),
    });
  }

  async #verify(token: string, { jose, signal }: Verification): Promise<JWTPayload> {
    const { alg, kid } = readHeader(token, jose);
    if (alg === undefined || !this.#algorithms.includes(alg)) {
      // A stranger wrote the header: it may be of any type.
      const named = typeof alg === "string" ? alg : "without a name";
      throw new jose.errors.JOSEAlgNotAllowed(
        `the algorithm ${named} is not accepted, but ${this.#algorithms.join(", ")}`,
      );
    }
    const choice = { alg, kid: typeof kid === "string" ? kid : undefined };
    const keys = this.#remote === undefined ? this.#keys : await this.#remote.current(signal);
    const fitting = keys.filter((key) => key.fits(choice));
    if (fitting.length > 0 || this.#remote === undefined) return await this.#verifyWith(fitting, token, alg);
    const newer = await this.#remote.newer(signal) ?? [];
    return await this.#verifyWith(newer.filter((key) => key.fits(choice)), token, alg);
  }

  async #verifyWith(keys: readonly VerificationKey[], token: string, alg: string): Promise<JWTPayload> {
    const jose = await import("jose");
    for (const key of keys) {
      try {
        const verified = await jose.jwtVerify(token, await key.prepare(alg), this.#rules(alg));
        return verified.payload;
      } catch (error) {
        if (!(error instanceof jose.errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    const kind = this.#isSecret ? "secret" : "key";
    throw new jose.errors.JWSSignatureVerificationFailed(
      keys.length === 0
        ? `there is no ${kind} for the algorithm ${alg} and the key id of the token`
        : `the signature does not fit; tried ${countOf(keys.length, kind)}`,
    );
  }

  #rules(alg: string) {
    const { issuer, audience } = this.#options;
    return {
      algorithms: [alg],
      requiredClaims: ["exp"],
      clockTolerance: this.#toleranceMs / 1_000,
      ...(issuer === undefined ? {} : { issuer: listOf(issuer) }),
      ...(audience === undefined ? {} : { audience: listOf(audience) }),
    };
  }

  #decide(claims: JWTPayload): AuthDecision {
    const reading = readClaims(claims, this.#options);
    if ("refused" in reading) {
      return { refused: reading.refused, log: { sub: shown(claims.sub), found: shown(reading.found) } };
    }
    const { issuer } = this.#options;
    // Two issuers may have the same subject.
    const isAmbiguous = issuer === undefined || listOf(issuer).length > 1;
    const prefix = isAmbiguous && claims.iss !== undefined ? `${claims.iss}#` : "";
    return {
      principal: `${prefix}${reading.principal}`,
      grant: reading.grant,
      expiresAtMs: (claims.exp ?? 0) * 1_000 + this.#toleranceMs,
    };
  }

  get #isSecret(): boolean {
    return this.#options.secret !== undefined || this.#options.secretFile !== undefined;
  }

  get #toleranceMs(): number {
    return this.#options.clockToleranceMs ?? DEFAULT_CLOCK_TOLERANCE_MS;
  }
}

interface Verification {
  readonly jose: typeof import("jose");
  readonly signal: AbortSignal | undefined;
}

function listOf(value: string | readonly string[]): string[] {
  return typeof value === "string" ? [value] : [...value];
}

function requireOneSource(options: JwtOptions): void {
  const { secret, secretFile, publicKey, publicKeyFile, jwksUrl, issuer, audience } = options;
  const sources = [secret, secretFile, publicKey, publicKeyFile, jwksUrl].filter((each) =>
    each !== undefined
  );
  if (sources.length !== 1) {
    throw new TypeError("Cannot use JWT: exactly one of a secret, a public key and a key set is required");
  }
  if (jwksUrl === undefined) return;
  // An issuer signs tokens for many programs, and a key set may be of many issuers.
  if (issuer === undefined || audience === undefined) {
    throw new TypeError(
      "Cannot use JWT: a key set needs the issuer (--jwt-issuer) and the audience (--jwt-audience) of the tokens",
    );
  }
}

function algorithmsOf({ secret, secretFile, algorithms }: JwtOptions): readonly string[] {
  const isSecret = secret !== undefined || secretFile !== undefined;
  const possible = isSecret ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS;
  if (algorithms === undefined) return isSecret ? ["HS256"] : possible;
  const unfit = algorithms.find((alg) => !possible.includes(alg));
  if (unfit !== undefined || algorithms.length === 0) {
    throw new TypeError(
      `Cannot use JWT with algorithm "${unfit ?? ""}": possible are ${possible.join(", ")}`,
    );
  }
  return algorithms;
}

function parseOption<T>(kind: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    if (!(cause instanceof FileContentError)) throw cause;
    throw contentProblem(`Cannot read the ${kind}: ${cause.message}`, { cause });
  }
}

/** Three parts in base64url; `jose` would also read what has spaces or padding. */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

const NO_JWT = "the token is no JWT";

function readHeader(token: string, jose: Verification["jose"]) {
  if (!COMPACT_FORM.test(token)) throw new jose.errors.JWTInvalid(NO_JWT);
  try {
    return jose.decodeProtectedHeader(token);
  } catch (cause) {
    // It throws a `TypeError` for a text that is no JWT.
    throw new jose.errors.JWTInvalid(NO_JWT, { cause });
  }
}

/** What a client is told; `undefined` for a failure of the Server's own. */
function refusalOf(error: unknown, { errors }: Verification["jose"]): string | undefined {
  if (error instanceof errors.JWTExpired) return "token expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "nbf") return "token not valid yet";
    if (error.reason === "missing") return `the token has no claim "${error.claim}"`;
    const state = error.reason === "check_failed" ? "not the expected one" : "malformed";
    return `the claim "${error.claim}" of the token is ${state}`;
  }
  if (error instanceof errors.JOSEError) return "wrong token";
  return undefined;
}

const MAX_LOGGED_LENGTH = 200;

/**
 * What the Server's log says about a refused token: whose it is, and what was expected of a claim. Nothing of a token
 * whose signature is wrong counts, so the log says only why it is not accepted.
 */
function factsOf(error: unknown, { jose: { errors }, options }: {
  readonly jose: Verification["jose"];
  readonly options: JwtOptions;
}): Pick<AuthRefusal, "log"> {
  if (!(error instanceof errors.JWTClaimValidationFailed || error instanceof errors.JWTExpired)) {
    return { log: { detail: shorten(describeError(error), MAX_LOGGED_LENGTH) } };
  }
  const { claim, payload } = error;
  const expected = claim === "iss" ? options.issuer : claim === "aud" ? options.audience : undefined;
  const isTime = claim === "exp" || claim === "nbf";
  const found = payload[claim];
  return {
    log: {
      sub: shown(payload.sub),
      expected: shown(expected),
      found: shown(isTime ? readableTime(found) : found),
    },
  };
}

/** A claim for the log; `undefined` for an absent one. */
function shown(claim: unknown): string | undefined {
  if (claim === undefined) return undefined;
  const isPlain = typeof claim !== "object" ||
    (Array.isArray(claim) && claim.every((item) => typeof item === "string"));
  return shorten(isPlain ? String(claim) : JSON.stringify(claim), MAX_LOGGED_LENGTH);
}

/** A time in seconds since 1970 as an ISO date; anything else as it is. */
function readableTime(claim: unknown): unknown {
  if (typeof claim !== "number") return claim;
  const date = new Date(claim * 1_000);
  return Number.isNaN(date.getTime()) ? claim : date.toISOString();
}
