/** Authentication of clients by JSON Web Tokens. */
import type { JWTPayload } from "jose";
import { type Logger, silentLogger } from "../../log.ts";
import { countOf, describeError } from "../../text.ts";
import { type ClaimOptions, readClaims, shown } from "./jwt_claims.ts";
import {
  fits,
  type KeyChoice,
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
import { contentProblem, FileContentError, WatchedFiles } from "./watched_files.ts";
import { CONSTANTS } from "../options/constants.ts";
import { JWT_ROWS } from "../options/credential_rows.ts";

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
  readonly #keys: KeySource;

  private constructor(options: JwtOptions, keys: KeySource) {
    this.#options = options;
    this.#algorithms = algorithmsOf(options);
    this.#readToken = createTokenReader(options);
    this.#keys = keys;
  }

  /**
   * Reads the keys. Those of a URL are fetched in the background, so that the Server also starts while it is down.
   *
   * @throws {TypeError} for options that contradict each other.
   * @throws {FileContentError} when the secret or the keys cannot be used.
   */
  static async open(options: JwtOptions): Promise<JwtTokens> {
    requireConsistent(options);
    return new JwtTokens(options, await openKeys(options));
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
      return toRefusal(error, { jose, options: this.#options });
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

  async #verify(token: string, { jose, signal }: {
    readonly jose: Jose;
    readonly signal: AbortSignal | undefined;
  }): Promise<JWTPayload> {
    const { alg, kid } = readHeader(token, jose);
    if (alg === undefined || !this.#algorithms.includes(alg)) {
      throw new jose.errors.JOSEAlgNotAllowed(
        `the algorithm ${alg ?? "without a name"} is not accepted, but ${this.#algorithms.join(", ")}`,
      );
    }
    const { issuer, audience } = this.#options;
    const rules = {
      algorithms: [alg],
      requiredClaims: ["exp"],
      clockTolerance: this.#toleranceMs / 1_000,
      issuer: listOf(issuer),
      audience: listOf(audience),
    };
    const keys = await this.#keys.find({ alg, kid }, signal);
    for (const { key } of keys) {
      try {
        return (await jose.jwtVerify(token, key, rules)).payload;
      } catch (error) {
        if (!(error instanceof jose.errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    const kind = isSecret(this.#options) ? "secret" : "key";
    throw new jose.errors.JWSSignatureVerificationFailed(
      keys.length === 0
        ? `there is no ${kind} for the algorithm ${alg} and the key id of the token`
        : `the signature does not fit; tried ${countOf(keys.length, kind)}`,
    );
  }

  #decide(claims: JWTPayload): AuthDecision {
    const reading = readClaims(claims, this.#options);
    if ("refused" in reading) return reading;
    // Two issuers may have the same subject.
    const isAmbiguous = listOf(this.#options.issuer)?.length !== 1;
    const prefix = isAmbiguous && claims.iss !== undefined ? `${claims.iss}#` : "";
    return {
      principal: `${prefix}${reading.principal}`,
      grant: reading.grant,
      expiresAtMs: (claims.exp ?? 0) * 1_000 + this.#toleranceMs,
    };
  }

  get #toleranceMs(): number {
    return this.#options.clockToleranceMs ?? JWT_ROWS.jwtClockToleranceMs.default;
  }
}

type Jose = typeof import("jose");

function listOf(value: string | readonly string[] | undefined): string[] | undefined {
  return typeof value === "string" ? [value] : value?.slice();
}

function isSecret({ secret, secretFile }: JwtKeyOptions): boolean {
  return secret !== undefined || secretFile !== undefined;
}

function requireConsistent(options: JwtOptions): void {
  const { secret, secretFile, publicKey, publicKeyFile, jwksUrl, issuer, audience } = options;
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
  const algorithms = algorithmsOf(options);
  const unfit = algorithms.find((alg) => !possible.includes(alg));
  if (unfit !== undefined || algorithms.length === 0) {
    throw new TypeError(
      `Cannot use JWT with algorithm "${unfit ?? ""}": possible are ${possible.join(", ")}`,
    );
  }
}

function algorithmsOf(options: JwtOptions): readonly string[] {
  return options.algorithms ?? (isSecret(options) ? ["HS256"] : PUBLIC_KEY_ALGORITHMS);
}

interface KeySource {
  find(token: KeyChoice, signal?: AbortSignal): Promise<readonly VerificationKey[]>;
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
  const [kind, parse] = isSecret(options)
    ? ["secret of JWT", parseSecrets] as const
    : ["public key of JWT", parsePublicKeys] as const;
  let keys: readonly VerificationKey[] = [];
  const use = ([text = ""]: readonly string[]) => void (keys = parse(text));
  const find = (token: KeyChoice) => Promise.resolve(keys.filter((key) => fits(key, token)));
  const file = secretFile ?? publicKeyFile;
  if (file !== undefined) {
    const files = await WatchedFiles.open({
      kind,
      files: [file],
      maxBytes: CONSTANTS.maxKeyFileBytes.value,
      logger,
      use,
    });
    return { find, close: () => files.close() };
  }
  try {
    use([secret ?? publicKey ?? ""]);
    return { find };
  } catch (cause) {
    if (!(cause instanceof FileContentError)) throw cause;
    throw contentProblem(`Cannot read the ${kind}: ${cause.message}`, { cause });
  }
}

/** Three parts in base64url; `jose` would also read what has spaces or padding. */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** A stranger wrote the header: its members may be of any type. */
function readHeader(token: string, jose: Jose): Readonly<Record<"alg" | "kid", string | undefined>> {
  try {
    if (!COMPACT_FORM.test(token)) throw new TypeError("Not in compact form");
    const { alg, kid }: Readonly<Record<string, unknown>> = jose.decodeProtectedHeader(token);
    return { alg: textOrNone(alg), kid: textOrNone(kid) };
  } catch (cause) {
    throw new jose.errors.JWTInvalid("the token is no JWT", { cause });
  }
}

function textOrNone(member: unknown): string | undefined {
  return typeof member === "string" ? member : undefined;
}

/**
 * What the client is told, and the log: whose token it is, and what was expected of a claim. Nothing of a token whose
 * signature is wrong counts, so the log says only why it is not accepted.
 *
 * @throws `error` when it is a failure of the Server's own.
 */
function toRefusal(
  error: unknown,
  { jose: { errors }, options }: { readonly jose: Jose; readonly options: JwtOptions },
): AuthRefusal {
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    const { claim, payload } = error;
    const expected = claim === "iss" ? options.issuer : claim === "aud" ? options.audience : undefined;
    const isTime = claim === "exp" || claim === "nbf";
    const found = isTime ? readableTime(payload[claim]) : payload[claim];
    return {
      refused: error instanceof errors.JWTExpired ? "token expired" : claimProblem(error),
      log: { sub: shown(payload.sub), expected: shown(expected), found: shown(found) },
    };
  }
  if (!(error instanceof errors.JOSEError)) throw error;
  return { refused: "wrong token", log: { detail: shown(describeError(error)) } };
}

function claimProblem({ claim, reason }: { readonly claim: string; readonly reason: string }): string {
  if (claim === "nbf") return "token not valid yet";
  if (reason === "missing") return `the token has no claim "${claim}"`;
  const state = reason === "check_failed" ? "not the expected one" : "malformed";
  return `the claim "${claim}" of the token is ${state}`;
}

/** A time in seconds since 1970 as an ISO date; anything else as it is. */
function readableTime(claim: unknown): unknown {
  if (typeof claim !== "number") return claim;
  const date = new Date(claim * 1_000);
  return Number.isNaN(date.getTime()) ? claim : date.toISOString();
}
