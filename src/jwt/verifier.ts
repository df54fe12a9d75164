/** Verifies JSON Web Tokens (RFC 7519): by whom they are signed, for whom, and until when. */
import { createHash } from "node:crypto";
import type { JWTPayload, ProtectedHeaderParameters } from "jose";
import { WatchedFiles } from "../files/watched_files.ts";
import { type Logger, silentLogger } from "../log.ts";
import { countOf } from "../text/text.ts";
import { DEFAULT_CLOCK_TOLERANCE_MS, MAX_KEY_FILE_BYTES, MAX_VERIFIED, VERIFIED_MS } from "./bounds.ts";
import { shownClaim } from "./claims.ts";
import {
  keysFor,
  parsePublicKeys,
  parseSecrets,
  PUBLIC_KEY_ALGORITHMS,
  SECRET_ALGORITHMS,
  type VerificationKey,
} from "./keys.ts";
import { type KeySetSource, RemoteKeys } from "./remote_keys.ts";

/** Where the keys come from: exactly one of these. */
export interface JwtKeys {
  /** Secrets that are shared with the issuer, one a line. */
  readonly secret?: string | undefined;
  readonly secretFile?: string | undefined;
  /** Public keys: PEM blocks of keys or certificates, a JWK, or a set of JWKs. */
  readonly publicKey?: string | undefined;
  readonly publicKeyFile?: string | undefined;
  readonly keySet?: KeySetSource | undefined;
}

export interface JwtVerifierOptions extends JwtKeys {
  /** The accepted values of the claim `iss`; all by default. */
  readonly issuer?: string | readonly string[] | undefined;
  /** By default those that fit the kind of the keys; `none` is never accepted, nor HS256 with a public key. */
  readonly algorithms?: readonly string[] | undefined;
  readonly clockToleranceMs?: number | undefined;
  readonly allowHttp?: boolean | undefined;
  /** What allows it, as an error tells it. */
  readonly httpFlag: string;
  readonly logger?: Logger | undefined;
  /** Milliseconds since 1970; the clock of this machine by default. */
  readonly nowMs?: (() => number) | undefined;
}

/** A token that is signed, and valid now. */
export interface VerifiedJwt {
  readonly claims: JWTPayload;
  /** When it ends, in milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** A token that was verified, and the key that did it. */
interface Verified {
  readonly header: ProtectedHeaderParameters;
  readonly key: VerificationKey;
  readonly claims: JWTPayload;
}

/** Why a token is refused: what its bearer is told, and further fields for the log. */
export interface JwtRefusal {
  readonly refused: string;
  readonly log: Readonly<Record<string, unknown>>;
}

export class JwtVerifier {
  readonly #options: JwtVerifierOptions;
  readonly #rules: JwtRules;
  readonly #jose: typeof import("jose");
  readonly #keys: KeySource;
  readonly #now: () => number;
  /**
   * Tokens that were verified a moment ago, by a digest: clients over HTTP show theirs with each request, and a signature
   * takes long. The oldest first.
   */
  readonly #verified = new Map<string, Verified & { readonly untilMs: number }>();

  private constructor(options: JwtVerifierOptions, parts: Parts) {
    this.#options = options;
    this.#rules = parts.rules;
    this.#jose = parts.jose;
    this.#keys = parts.keys;
    this.#now = options.nowMs ?? Date.now;
  }

  /**
   * Reads the keys. Those of a URL are fetched in the background.
   *
   * @throws {TypeError} for options that contradict each other.
   * @throws {FileContentError} when the secret or the keys cannot be used.
   */
  static async open(options: JwtVerifierOptions): Promise<JwtVerifier> {
    const rules = rulesOf(options);
    // Loaded only now, so that a program without JWT does not need it.
    return new JwtVerifier(options, { rules, jose: await import("jose"), keys: await openKeys(options) });
  }

  /**
   * Verifies a token. Rejects for a failure that is not the token's own, such as keys that cannot be fetched.
   *
   * @param options `audience`: the accepted values of the claim `aud`, one of which it must have; all by default.
   */
  async verify(
    token: string,
    { audience, signal }: {
      readonly audience?: string | readonly string[] | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<VerifiedJwt | JwtRefusal> {
    const asked = listOf(audience);
    const digest = createHash("sha256").update(JSON.stringify([token, asked])).digest("base64");
    try {
      const { claims } = await this.#recall(digest, signal) ??
        this.#keep(digest, await this.#verify(token, { audience: asked, signal }));
      return { claims, expiresAtMs: this.#endOf(claims) };
    } catch (error) {
      return this.#toRefusal(error, audience);
    }
  }

  /** Why there are no keys yet; `undefined` when there are. */
  unready(): string | undefined {
    return this.#keys.unready?.();
  }

  /** Stops watching files and fetching keys. Idempotent. */
  async close(): Promise<void> {
    await this.#keys.close?.();
  }

  #endOf({ exp = 0 }: JWTPayload): number {
    return (exp + this.#rules.clockTolerance) * 1_000;
  }

  /** A token that was verified with a key that still counts. */
  async #recall(digest: string, signal: AbortSignal | undefined): Promise<Verified | undefined> {
    const known = this.#verified.get(digest);
    if (known === undefined) return undefined;
    const keys = await this.#keys.find(known.header, signal);
    if (keys.includes(known.key) && this.#now() < known.untilMs) return known;
    this.#verified.delete(digest);
    return undefined;
  }

  #keep(digest: string, verified: Verified): Verified {
    const untilMs = Math.min(this.#now() + VERIFIED_MS, this.#endOf(verified.claims));
    this.#verified.delete(digest);
    this.#verified.set(digest, { ...verified, untilMs });
    const [oldest = digest] = this.#verified.keys();
    if (this.#verified.size > MAX_VERIFIED) this.#verified.delete(oldest);
    return verified;
  }

  async #verify(
    token: string,
    { audience, signal }: {
      readonly audience: string[] | undefined;
      readonly signal: AbortSignal | undefined;
    },
  ): Promise<Verified> {
    const { jwtVerify, errors } = this.#jose;
    const header = this.#readHeader(token);
    const rules = { ...this.#rules, audience, currentDate: new Date(this.#now()) };
    const keys = await this.#keys.find(header, signal);
    for (const key of keys) {
      try {
        return { header, key, claims: (await jwtVerify(token, key.key, rules)).payload };
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      }
    }
    const kind = isSecret(this.#options) ? "secret" : "key";
    throw new errors.JWSSignatureVerificationFailed(
      keys.length === 0
        ? `there is no ${kind} for the algorithm ${shownClaim(header.alg)} and the key id of the token`
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

  /**
   * What the client is told, and the log: whose token it is, and what was expected of a claim. Nothing of a token whose
   * signature is wrong counts, so the log says only why it is not accepted.
   *
   * @throws `error` when it is a failure of our own.
   */
  #toRefusal(error: unknown, audience: string | readonly string[] | undefined): JwtRefusal {
    const { JOSEError, JWTClaimValidationFailed, JWTExpired } = this.#jose.errors;
    if (error instanceof JWTExpired || error instanceof JWTClaimValidationFailed) {
      const { claim, payload } = error;
      const { issuer } = this.#options;
      const expected = claim === "iss" ? issuer : claim === "aud" ? audience : undefined;
      const sub = shownClaim(payload.sub);
      const detail = timeProblem(claim, { found: payload[claim], nowMs: this.#now() });
      const log = detail === undefined
        ? { sub, expected: shownClaim(expected), found: shownClaim(payload[claim]) }
        : { sub, detail };
      return { refused: claimProblem(error), log };
    }
    if (!(error instanceof JOSEError)) throw error;
    return { refused: "wrong token", log: { detail: shownClaim(error.message) } };
  }
}

interface Parts {
  readonly rules: JwtRules;
  readonly jose: typeof import("jose");
  readonly keys: KeySource;
}

/** The year 9999, in seconds. */
const MAX_TIME_S = 253_402_300_799;
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

/** When a token counts, beside the time here: a clock may be wrong. */
function timeProblem(
  claim: string,
  { found, nowMs }: { readonly found: unknown; readonly nowMs: number },
): string | undefined {
  const word = claim === "nbf" ? "before" : "after";
  const isTime = ["exp", "nbf"].includes(claim) && typeof found === "number";
  if (!isTime || Math.abs(found) > MAX_TIME_S) return undefined;
  const [limit, now] = [found * 1_000, nowMs].map((ms) => new Date(ms).toISOString());
  return `not valid ${word} ${limit}; the clock of this machine says ${now}`;
}

function isSecret({ secret, secretFile }: JwtKeys): boolean {
  return secret !== undefined || secretFile !== undefined;
}

/** What a token must fulfil besides its signature and its audience, as `jose` checks it. */
function rulesOf(options: JwtVerifierOptions) {
  const { secret, secretFile, publicKey, publicKeyFile, keySet, issuer } = options;
  const { clockToleranceMs = DEFAULT_CLOCK_TOLERANCE_MS } = options;
  const sources = [secret, secretFile, publicKey, publicKeyFile, keySet];
  if (sources.filter((each) => each !== undefined).length !== 1) {
    throw new TypeError("Cannot use JWT: exactly one of a secret, a public key and a key set is required");
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
  };
}

type JwtRules = ReturnType<typeof rulesOf>;

interface KeySource {
  find(token: ProtectedHeaderParameters, signal?: AbortSignal): Promise<readonly VerificationKey[]>;
  unready?(): string | undefined;
  close?(): Promise<void>;
}

async function openKeys(options: JwtVerifierOptions): Promise<KeySource> {
  const { secret, secretFile, publicKey, publicKeyFile, keySet, allowHttp, httpFlag } = options;
  const { logger = silentLogger } = options;
  if (keySet !== undefined) {
    const remote = new RemoteKeys(keySet, { logger, allowHttp, httpFlag });
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
    maxBytes: MAX_KEY_FILE_BYTES,
    logger,
    use,
  });
  return { find, close: () => files.close() };
}
