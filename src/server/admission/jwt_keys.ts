/** The keys that verify a JWT: secrets, public keys, and sets of keys, which may be at a URL. */
import { Buffer } from "node:buffer";
import { createPublicKey, X509Certificate } from "node:crypto";
import type { JWK, ProtectedHeaderParameters as Header } from "jose";
import { abortable } from "../../async/abortable.ts";
import { isRecord, parseJson } from "../../json/json.ts";
import type { Logger } from "../../log.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import { describeError } from "../../text/text.ts";
import { contentProblem, FileContentError } from "../../files/watched_files.ts";
import { CONSTANTS } from "../options/constants.ts";

export const SECRET_ALGORITHMS: readonly string[] = ["HS256", "HS384", "HS512"];
/** What the keys of each kind may verify. A symmetric key is of none of them, so it never verifies as a public one. */
const ALGORITHMS_OF_KIND: ReadonlyMap<string, readonly string[]> = new Map([
  ["RSA", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]],
  ["EC P-256", ["ES256"]],
  ["EC P-384", ["ES384"]],
  ["EC P-521", ["ES512"]],
  ["OKP Ed25519", ["EdDSA", "Ed25519"]],
]);
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = [...ALGORITHMS_OF_KIND.values()].flat();
/** The shortest secret, in bytes: as long as the hash of HS256 (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;

export interface VerificationKey {
  readonly algorithms: readonly string[];
  /** A key without an id fits tokens with any. */
  readonly kid?: unknown;
  readonly key: JWK | Uint8Array;
}

/** The keys that fit a token by its header, which anybody may have written. */
export function keysFor({ alg, kid }: Header, keys: readonly VerificationKey[]): readonly VerificationKey[] {
  return keys.filter((key) =>
    key.algorithms.some((each) => each === alg) &&
    (key.kid === undefined || typeof kid !== "string" || key.kid === kid)
  );
}

/**
 * Reads secrets, one a line, so that a new one can be added before the old one is removed.
 *
 * @throws {FileContentError} for a secret that is too short, and for a key of another kind.
 */
export function parseSecrets(text: string): readonly VerificationKey[] {
  if (text.includes("-----BEGIN")) throw contentProblem("it is a key in PEM form, and not a shared secret");
  const secrets = text.split(/\r?\n/).filter((line) => line !== "").map((line) =>
    new TextEncoder().encode(line)
  );
  if (secrets.length === 0) throw contentProblem("it contains no secret");
  if (secrets.some((secret) => secret.length < MIN_SECRET_BYTES)) {
    throw contentProblem(`a secret needs at least ${MIN_SECRET_BYTES} bytes, as from "openssl rand -hex 32"`);
  }
  return secrets.map((key) => ({ algorithms: SECRET_ALGORITHMS, key }));
}

/** @throws {FileContentError} when it has no usable key, or a private one. */
export function parsePublicKeys(text: string): readonly VerificationKey[] {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) throw contentProblem(PRIVATE_KEY);
  const blocks = text.match(/-----BEGIN ([A-Z ]+)-----[\s\S]*?-----END \1-----/g);
  const keys = blocks === null ? readKeySet(parseJson(text)) : blocks.map(readPem).flatMap(toKey);
  if (keys.length === 0) throw contentProblem("it has no public key for JWT: PEM, JWK or a set of JWKs");
  return keys;
}

const PRIVATE_KEY = "it has a private key; give the public key alone";

/**
 * Reads a set of keys, or a single one. Keys that are not for signatures, or of a kind that is not known, are left out.
 *
 * @throws {FileContentError} for anything else, for more than 100 keys, and for a private key.
 */
export function readKeySet(value: unknown): readonly VerificationKey[] {
  const list = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"] : [value];
  if (list.length > CONSTANTS.maxKeys.value) {
    throw contentProblem(`it has more than ${CONSTANTS.maxKeys.value} keys`);
  }
  if (!list.every(isRecord)) throw contentProblem("it is not a set of keys");
  if (list.some((jwk) => Object.hasOwn(jwk, "d"))) throw contentProblem(PRIVATE_KEY);
  return list.flatMap(toKey);
}

function readPem(block: string): JWK {
  try {
    const isCertificate = block.startsWith("-----BEGIN CERTIFICATE");
    const key = isCertificate ? new X509Certificate(block).publicKey : createPublicKey(block);
    return { ...key.export({ format: "jwk" }) };
  } catch (cause) {
    throw contentProblem("a PEM block is not a public key", { cause });
  }
}

function toKey(jwk: JWK): readonly VerificationKey[] {
  const { kty, crv, alg, use, kid, key_ops: operations } = jwk;
  const possible = ALGORITHMS_OF_KIND.get(kty === "RSA" ? kty : `${kty} ${crv}`) ?? [];
  const algorithms = possible.filter((each) => alg === undefined || each === alg);
  const isForSignatures = (use === undefined || use === "sig") &&
    (!Array.isArray(operations) || operations.includes("verify"));
  return algorithms.length > 0 && isForSignatures ? [{ algorithms, kid, key: jwk }] : [];
}

/** The age at which the keys are fetched again, in milliseconds. */
const MAX_AGE_MS = 600_000;
/** How long keys are used while newer ones cannot be fetched, in milliseconds. */
const MAX_STALE_MS = 3_600_000;
/** The least time between two fetches after a failure, in milliseconds. */
const RETRY_MS = 5_000;

export interface RemoteKeysOptions {
  readonly logger: Logger;
  /** Allows `http:` to another machine; `false` by default. */
  readonly allowHttp?: boolean | undefined;
  /** Milliseconds since a fixed point; the monotonic clock by default. */
  readonly nowMs?: (() => number) | undefined;
}

/**
 * A set of keys at a URL: fetched within bounds, cached, and fetched again when a token names an unknown key. The one of
 * `jose` has no bound of bytes, and no keys while their server is down.
 */
export class RemoteKeys {
  readonly #url: URL;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  #keys: readonly VerificationKey[] = [];
  #fetchedAtMs = -Infinity;
  #triedAtMs = -Infinity;
  #fetching: Promise<void> = Promise.resolve();
  #failure: string | undefined;

  /**
   * Sends no request yet.
   *
   * @throws {TypeError} for a URL that is neither `https:` nor of this machine.
   */
  constructor(url: string, { logger, allowHttp, nowMs = () => performance.now() }: RemoteKeysOptions) {
    const parsed = URL.parse(url);
    const isHttp = parsed?.protocol === "http:" && (allowHttp || isLoopback(parsed.hostname));
    if (parsed === null || (parsed.protocol !== "https:" && !isHttp)) {
      throw new TypeError(
        `Cannot use the URL of the key set "${url}": https is required, unless allowHttp (--jwt-allow-http) is set`,
      );
    }
    this.#url = parsed;
    this.#logger = logger;
    this.#now = nowMs;
  }

  /**
   * The keys that a token may be signed with. Old keys are returned at once, and newer ones fetched for the next time.
   *
   * @throws {FileContentError} when there are no keys at all, with the reason.
   */
  async find(token: Header, signal?: AbortSignal): Promise<readonly VerificationKey[]> {
    this.refreshOld();
    const known = this.#isTooOld ? [] : keysFor(token, this.#keys);
    if (known.length > 0) return known;
    await abortable(this.#refresh(), signal);
    if (this.#isTooOld) throw contentProblem(this.#missing);
    return keysFor(token, this.#keys);
  }

  /**
   * Why there are no keys that may be used; `undefined` when there are. Fetches missing keys in the background, at most
   * every 5 seconds, and old ones as {@linkcode RemoteKeys.find} does.
   */
  unready(): string | undefined {
    this.refreshOld();
    // Without a failure, keys are too old only because nobody asked for them.
    const isReady = !this.#isTooOld || (this.#keys.length > 0 && this.#failure === undefined);
    return isReady ? undefined : this.#missing;
  }

  refreshOld(): void {
    if (this.#now() - this.#fetchedAtMs >= MAX_AGE_MS) void this.#refresh();
  }

  /** Ends a running request. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("Closed", "AbortError"));
    await this.#fetching;
  }

  get #isTooOld(): boolean {
    return this.#now() - this.#fetchedAtMs >= MAX_STALE_MS;
  }

  get #missing(): string {
    return `no key set for JWT: ${this.#failure ?? "it is being fetched"}`;
  }

  /** Never rejects. Without a request so soon after the last one: clients can name unknown keys as often as they like. */
  #refresh(): Promise<void> {
    const pauseMs = this.#failure === undefined ? CONSTANTS.keySetCooldownMs.value : RETRY_MS;
    if (this.#now() - this.#triedAtMs >= pauseMs && !this.#closing.signal.aborted) {
      this.#triedAtMs = this.#now();
      this.#fetching = this.#fetch();
    }
    return this.#fetching;
  }

  async #fetch(): Promise<void> {
    // A query may have a secret.
    const fields = { url: `${this.#url.origin}${this.#url.pathname}` };
    const before = this.#failure;
    try {
      const signal = AbortSignal.any([
        this.#closing.signal,
        AbortSignal.timeout(CONSTANTS.keySetTimeoutMs.value),
      ]);
      const keys = readKeySet(parseJson(await fetchText(this.#url, signal)));
      if (keys.length === 0) throw contentProblem("it has no usable key");
      this.#keys = keys;
      this.#fetchedAtMs = this.#now();
      this.#failure = undefined;
      if (before !== undefined) this.#logger.info("fetched the key set again", fields);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      // Anybody may read it: what the runtime says may name hosts.
      this.#failure = error instanceof FileContentError ? error.message : "it cannot be fetched";
      // One line for each outage.
      if (before !== undefined) return;
      const reason = explainFetch(error);
      this.#logger.error("cannot fetch the key set of JWT; retrying", { ...fields, error: reason });
    }
  }
}

async function fetchText(url: URL, signal: AbortSignal): Promise<string> {
  const headers = { accept: "application/jwk-set+json, application/json" };
  const { status, body } = await fetch(url, { redirect: "manual", headers, signal });
  if (status !== 200) {
    await body?.cancel();
    throw contentProblem(`HTTP status ${status}`);
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > CONSTANTS.maxKeySetBytes.value) {
      throw contentProblem(`the answer has more than ${CONSTANTS.maxKeySetBytes.value} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** The runtime puts what happened into the cause of its error, together with the URL, which may have a secret. */
function explainFetch(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined;
  return describeError(cause ?? error).replace(/^.*client error \(\w+\): /s, "")
    .replaceAll(/https?:\/\/\S+/g, "the URL");
}
