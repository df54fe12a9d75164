/** The keys that verify a JWT: secrets, public keys, and sets of keys. */
import { createPublicKey, X509Certificate } from "node:crypto";
import type { CryptoKey, JWK } from "jose";
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { isRecord, parseJson } from "../../json.ts";
import type { Logger } from "../../log.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import { describeError } from "../../text.ts";
import { contentProblem } from "./watched_files.ts";

export const SECRET_ALGORITHMS: readonly string[] = ["HS256", "HS384", "HS512"];
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const MAX_KEYS = 100;
/** The shortest secret, in bytes: as long as the hash of HS256 (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;

export interface KeyChoice {
  readonly alg: string;
  readonly kid: string | undefined;
}

export interface VerificationKey {
  /** Whether the token names this key, or none, and this key may have its algorithm. */
  fits(choice: KeyChoice): boolean;
  prepare(alg: string): Promise<CryptoKey | Uint8Array>;
}

/**
 * Reads secrets, one a line, so that a new one can be added before the old one is removed.
 *
 * @throws {FileContentError} for a secret that is too short, and for a key of another kind.
 */
export function parseSecrets(text: string): readonly VerificationKey[] {
  if (text.includes("-----BEGIN")) throw contentProblem("it is a key in PEM form, and not a shared secret");
  const secrets = text.split(/\r\n|\n/).filter((line) => line !== "");
  if (secrets.length === 0) throw contentProblem("it contains no secret");
  return secrets.map((secret) => {
    const bytes = new TextEncoder().encode(secret);
    if (bytes.length < MIN_SECRET_BYTES) {
      throw contentProblem(
        `a secret needs at least ${MIN_SECRET_BYTES} bytes, as from "openssl rand -hex 32"`,
      );
    }
    return {
      fits: ({ alg }) => SECRET_ALGORITHMS.includes(alg),
      prepare: () => Promise.resolve(bytes),
    };
  });
}

/** @throws {FileContentError} when it has no usable key, or a private one. */
export function parsePublicKeys(text: string): readonly VerificationKey[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    throw contentProblem("it has a private key; give the public key alone");
  }
  const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g);
  const keys = blocks === null ? readKeySet(parseJson(text)) : blocks.map(readPem).map(toKey);
  const usable = keys.filter((key) => key !== undefined);
  if (usable.length === 0) throw contentProblem("it has no public key for JWT: PEM, JWK or a set of JWKs");
  return usable;
}

/**
 * Reads a set of keys, or a single one. Keys that are not for signatures, or of a kind that is not known, are left out.
 *
 * @throws {FileContentError} for anything else, for more than 100 keys, and for a private key.
 */
export function readKeySet(value: unknown): readonly VerificationKey[] {
  const list = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"] : [value];
  if (list.length > MAX_KEYS) throw contentProblem(`it has more than ${MAX_KEYS} keys`);
  const jwks = list.filter(isRecord);
  if (jwks.length !== list.length) throw contentProblem("it is not a set of keys");
  if (jwks.some((jwk) => Object.hasOwn(jwk, "d"))) {
    throw contentProblem("it has a private key; give the public key alone");
  }
  return jwks.map(toKey).filter((key) => key !== undefined);
}

function readPem(block: string): Readonly<Record<string, unknown>> {
  try {
    const isCertificate = block.startsWith("-----BEGIN CERTIFICATE");
    const key = isCertificate ? new X509Certificate(block).publicKey : createPublicKey(block);
    return { ...key.export({ format: "jwk" }) };
  } catch (cause) {
    throw contentProblem("a PEM block is not a public key", { cause });
  }
}

/** The algorithms of a key; none for a kind that is not known. A symmetric key never verifies as a public one. */
function algorithmsOf({ kty, crv }: Readonly<Record<string, unknown>>): readonly string[] {
  if (kty === "RSA") return PUBLIC_KEY_ALGORITHMS.filter((alg) => /^[RP]S/.test(alg));
  if (kty === "OKP" && crv === "Ed25519") return ["EdDSA", "Ed25519"];
  if (kty !== "EC") return [];
  const ofCurve: Readonly<Record<string, string>> = { "P-256": "ES256", "P-384": "ES384", "P-521": "ES512" };
  const alg = typeof crv === "string" && Object.hasOwn(ofCurve, crv) ? ofCurve[crv] : undefined;
  return alg === undefined ? [] : [alg];
}

function toKey(jwk: Readonly<Record<string, unknown>>): VerificationKey | undefined {
  const { alg, use, kid, key_ops: operations } = jwk;
  const possible = algorithmsOf(jwk);
  const algorithms = alg === undefined ? possible : possible.filter((each) => each === alg);
  const isForSignatures = (use === undefined || use === "sig") &&
    (!Array.isArray(operations) || operations.includes("verify"));
  if (algorithms.length === 0 || !isForSignatures) return undefined;
  const prepared = new Map<string, Promise<CryptoKey | Uint8Array>>();
  return {
    fits: (choice) =>
      algorithms.includes(choice.alg) &&
      (kid === undefined || choice.kid === undefined || kid === choice.kid),
    prepare(chosen) {
      const known = prepared.get(chosen) ?? importKey(jwk, chosen);
      prepared.set(chosen, known);
      return known;
    },
  };
}

async function importKey(jwk: JWK, alg: string): Promise<CryptoKey | Uint8Array> {
  const { importJWK } = await import("jose");
  return await importJWK(jwk, alg);
}

const FETCH_TIMEOUT_MS = 5_000;
/** The largest answer, in bytes, after decompression. */
const MAX_KEY_SET_BYTES = 512 * 1024;
/** The age at which the keys are fetched again, in milliseconds. */
const MAX_AGE_MS = 600_000;
/** How long keys are used while newer ones cannot be fetched, in milliseconds. */
const MAX_STALE_MS = 3_600_000;
/** The least time between two fetches, in milliseconds: clients that are not admitted can name unknown keys as often as they like. */
const COOLDOWN_MS = 30_000;
/** The same after a failure, in milliseconds. */
const RETRY_MS = 5_000;

export interface RemoteKeysOptions {
  readonly logger: Logger;
  /** Allows `http:` to another machine; `false` by default. */
  readonly allowHttp?: boolean | undefined;
  /** Milliseconds since a fixed point; the monotonic clock by default. */
  readonly nowMs?: (() => number) | undefined;
}

export class RemoteKeys {
  readonly #url: string;
  readonly #options: RemoteKeysOptions;
  readonly #closing = new AbortController();
  #keys: readonly VerificationKey[] | undefined;
  #fetchedAtMs = -Infinity;
  #triedAtMs = -Infinity;
  #running: Promise<void> | undefined;
  #failure: string | undefined;

  /**
   * Sends no request yet.
   *
   * @throws {TypeError} for a URL that is neither `https:` nor of this machine.
   */
  constructor(url: string, options: RemoteKeysOptions) {
    const parsed = URL.parse(url);
    const isHttp = parsed?.protocol === "http:" &&
      (options.allowHttp === true || isLoopback(parsed.hostname));
    if (parsed?.protocol !== "https:" && !isHttp) {
      throw new TypeError(
        `Cannot use the URL of the key set "${url}": https is required, unless allowHttp (--jwt-allow-http) is set`,
      );
    }
    this.#url = url;
    this.#options = options;
  }

  /**
   * The keys. Old keys are returned at once, and newer ones fetched for the next time.
   *
   * @throws the reason why there are none.
   */
  async current(signal?: AbortSignal): Promise<readonly VerificationKey[]> {
    const known = this.#usableKeys;
    if (known !== undefined) {
      if (this.#ageMs >= MAX_AGE_MS) void this.#refresh().catch(() => {});
      return known;
    }
    await abortable(this.#refresh(), signal);
    const fetched = this.#usableKeys;
    if (fetched === undefined) throw this.#toError();
    return fetched;
  }

  get #ageMs(): number {
    return this.#now() - this.#fetchedAtMs;
  }

  get #usableKeys(): readonly VerificationKey[] | undefined {
    return this.#ageMs < MAX_STALE_MS ? this.#keys : undefined;
  }

  /**
   * Why there are no keys that may be used; `undefined` when there are. Fetches missing keys in the background, at most
   * every 5 seconds, and old ones as {@linkcode RemoteKeys.current} does.
   */
  unready(): string | undefined {
    if (this.#ageMs >= MAX_AGE_MS) void this.#refresh().catch(() => {});
    // Without a failure, keys are too old only because nobody asked for them.
    const isReady = this.#usableKeys !== undefined ||
      (this.#keys !== undefined && this.#failure === undefined);
    return isReady ? undefined : `no key set for JWT: ${this.#failure ?? "it is being fetched"}`;
  }

  /** The keys of a newer answer, for a token whose key is not known; `undefined` so soon after the last request. */
  async newer(signal?: AbortSignal): Promise<readonly VerificationKey[] | undefined> {
    const before = this.#keys;
    await abortable(this.#refresh(), signal).catch(() => {});
    return this.#keys === before ? undefined : this.#keys;
  }

  /** Ends a running request. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("Closed", "AbortError"));
    await this.#running?.catch(() => {});
  }

  #refresh(): Promise<void> {
    if (this.#running !== undefined) return this.#running;
    const pauseMs = this.#failure !== undefined ? RETRY_MS : COOLDOWN_MS;
    if (this.#now() - this.#triedAtMs < pauseMs || this.#closing.signal.aborted) return Promise.resolve();
    this.#triedAtMs = this.#now();
    const running = this.#fetch().finally(() => this.#running = undefined);
    this.#running = running;
    return running;
  }

  async #fetch(): Promise<void> {
    const { logger } = this.#options;
    const fields = { url: withoutQuery(this.#url) };
    const before = this.#failure;
    using deadline = new Deadline(FETCH_TIMEOUT_MS, {
      reason: () => new DOMException(`No answer within ${FETCH_TIMEOUT_MS} ms`, "TimeoutError"),
      signal: this.#closing.signal,
    });
    try {
      const keys = readKeySet(parseJson(await fetchText(this.#url, deadline.signal)));
      if (keys.length === 0) throw contentProblem("it has no usable key");
      this.#keys = keys;
      this.#fetchedAtMs = this.#now();
      if (before !== undefined) logger.info("fetched the key set again", fields);
      this.#failure = undefined;
    } catch (cause) {
      if (this.#closing.signal.aborted) throw cause;
      this.#failure = explainFetch(cause);
      // One line for each outage.
      if (before === undefined) {
        logger.error("cannot fetch the key set of JWT; retrying", { ...fields, error: this.#failure });
      }
      throw this.#toError(cause);
    }
  }

  #toError(cause?: unknown): Error {
    const reason = this.#failure ?? "it is being fetched";
    return contentProblem(`no key set from "${withoutQuery(this.#url)}": ${reason}`, { cause });
  }

  #now(): number {
    return this.#options.nowMs?.() ?? performance.now();
  }
}

async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(url, {
    redirect: "manual",
    headers: { accept: "application/jwk-set+json, application/json" },
    signal,
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw contentProblem(`HTTP status ${response.status}`);
  }
  return await readBody(response, signal);
}

async function readBody(response: Response, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    signal.throwIfAborted();
    bytes += chunk.byteLength;
    if (bytes > MAX_KEY_SET_BYTES) {
      throw contentProblem(`the answer has more than ${MAX_KEY_SET_BYTES} bytes`);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

/** Texts of the runtime about a request that failed, and what they mean. */
const FETCH_FAILURES: readonly (readonly [RegExp, string])[] = [
  [/connection refused/i, "connection refused, no program listens there"],
  [/dns error|failed to lookup/i, "host not found"],
  [/InvalidContentType|wrong version number/, "the port does not speak TLS"],
  [/certificate.*expired/i, "its TLS certificate has expired"],
  [/certificate.*(NotValidForName|not valid for)/i, "its TLS certificate is for another host"],
  [/certificate/i, "its TLS certificate is not trusted; DENO_CERT=FILE adds a certificate authority"],
  [/connection closed|connection reset/i, "the connection was closed before an answer"],
  [/unreachable|no route/i, "no route to the host"],
];

/** The runtime puts what happened into the cause of its error, together with the URL. */
function explainFetch(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined;
  const text = describeError(cause ?? error);
  if (!(error instanceof TypeError)) return text;
  const known = FETCH_FAILURES.find(([pattern]) => pattern.test(text));
  return known?.[1] ??
    text.replace(/^.*client error \(\w+\): /s, "").replaceAll(/https?:\/\/\S+/g, "the URL");
}

/** A query may have a secret. */
function withoutQuery(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
