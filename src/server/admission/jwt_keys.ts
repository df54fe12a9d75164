/** The keys that verify a JWT: secrets, public keys, and sets of keys, which may be at a URL. */
import { createPublicKey, X509Certificate } from "node:crypto";
import type { JWK } from "jose";
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import { isRecord, parseJson } from "../../json.ts";
import type { Logger } from "../../log.ts";
import { isLoopback } from "../../protocol/server_address.ts";
import { describeError } from "../../text.ts";
import { contentProblem } from "./watched_files.ts";
import { CONSTANTS } from "../options/constants.ts";

export const SECRET_ALGORITHMS: readonly string[] = ["HS256", "HS384", "HS512"];
/** What the keys of each kind may verify. A symmetric key is of none of them, so it never verifies as a public one. */
const PUBLIC_KEY_KINDS = [
  { kty: "RSA", crv: undefined, algorithms: ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] },
  { kty: "EC", crv: "P-256", algorithms: ["ES256"] },
  { kty: "EC", crv: "P-384", algorithms: ["ES384"] },
  { kty: "EC", crv: "P-521", algorithms: ["ES512"] },
  { kty: "OKP", crv: "Ed25519", algorithms: ["EdDSA", "Ed25519"] },
] as const;
export const PUBLIC_KEY_ALGORITHMS: readonly string[] = PUBLIC_KEY_KINDS.flatMap(({ algorithms }) =>
  algorithms
);
/** The shortest secret, in bytes: as long as the hash of HS256 (RFC 7518, section 3.2). */
const MIN_SECRET_BYTES = 32;

/** What a token says about its key. */
export interface KeyChoice {
  readonly alg: string;
  readonly kid: string | undefined;
}

export interface VerificationKey {
  readonly algorithms: readonly string[];
  /** A key without an id fits tokens with any. */
  readonly kid?: unknown;
  readonly key: JWK | Uint8Array;
}

export function fits({ algorithms, kid }: VerificationKey, token: KeyChoice): boolean {
  return algorithms.includes(token.alg) &&
    (kid === undefined || token.kid === undefined || kid === token.kid);
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
  const kind = PUBLIC_KEY_KINDS.find((each) =>
    each.kty === kty && (each.crv === undefined || each.crv === crv)
  );
  const algorithms = (kind?.algorithms ?? []).filter((each) => alg === undefined || each === alg);
  const isForSignatures = (use === undefined || use === "sig") &&
    (!Array.isArray(operations) || operations.includes("verify"));
  return algorithms.length > 0 && isForSignatures ? [{ algorithms, kid, key: jwk }] : [];
}

/** The age at which the keys are fetched again, in milliseconds. */
const MAX_AGE_MS = 600_000;
/** How long keys are used while newer ones cannot be fetched, in milliseconds. */
const MAX_STALE_MS = 3_600_000;
/** Clients that are not admitted can name unknown keys as often as they like. */
const COOLDOWN_MS = CONSTANTS.keySetCooldownMs.value;
/** The least time between two fetches after a failure, in milliseconds. */
const RETRY_MS = 5_000;

export interface RemoteKeysOptions {
  readonly logger: Logger;
  /** Allows `http:` to another machine; `false` by default. */
  readonly allowHttp?: boolean | undefined;
  /** Milliseconds since a fixed point; the monotonic clock by default. */
  readonly nowMs?: (() => number) | undefined;
}

/** A set of keys at a URL: fetched within bounds, cached, and fetched again when a token names an unknown key. */
export class RemoteKeys {
  readonly #url: string;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #closing = new AbortController();
  #keys: readonly VerificationKey[] = [];
  #fetchedAtMs = -Infinity;
  #triedAtMs = -Infinity;
  #running: Promise<void> | undefined;
  #failure: string | undefined;

  /**
   * Sends no request yet.
   *
   * @throws {TypeError} for a URL that is neither `https:` nor of this machine.
   */
  constructor(
    url: string,
    { logger, allowHttp = false, nowMs = () => performance.now() }: RemoteKeysOptions,
  ) {
    const parsed = URL.parse(url);
    const isHttp = parsed?.protocol === "http:" &&
      (allowHttp || isLoopback(parsed.hostname));
    if (parsed?.protocol !== "https:" && !isHttp) {
      throw new TypeError(
        `Cannot use the URL of the key set "${url}": https is required, unless allowHttp (--jwt-allow-http) is set`,
      );
    }
    this.#url = url;
    this.#logger = logger;
    this.#now = nowMs;
  }

  /**
   * The keys that a token may be signed with. Old keys are returned at once, and newer ones fetched for the next time.
   *
   * @throws {FileContentError} when there are no keys at all, with the reason.
   */
  async find(token: KeyChoice, signal?: AbortSignal): Promise<readonly VerificationKey[]> {
    const fitting = () => this.#keys.filter((key) => fits(key, token));
    if (this.#ageMs >= MAX_STALE_MS) await abortable(this.#refresh(), signal);
    else this.refreshOld();
    if (this.#ageMs >= MAX_STALE_MS) {
      throw contentProblem(`no key set from "${withoutQuery(this.#url)}": ${this.#reason}`);
    }
    const known = fitting();
    if (known.length > 0) return known;
    await abortable(this.#refresh(), signal);
    return fitting();
  }

  /**
   * Why there are no keys that may be used; `undefined` when there are. Fetches missing keys in the background, at most
   * every 5 seconds, and old ones as {@linkcode RemoteKeys.find} does.
   */
  unready(): string | undefined {
    this.refreshOld();
    // Without a failure, keys are too old only because nobody asked for them.
    const isReady = this.#ageMs < MAX_STALE_MS || (this.#keys.length > 0 && this.#failure === undefined);
    return isReady ? undefined : `no key set for JWT: ${this.#reason}`;
  }

  refreshOld(): void {
    if (this.#ageMs >= MAX_AGE_MS) void this.#refresh();
  }

  /** Ends a running request. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort(new DOMException("Closed", "AbortError"));
    await this.#running;
  }

  get #ageMs(): number {
    return this.#now() - this.#fetchedAtMs;
  }

  get #reason(): string {
    return this.#failure ?? "it is being fetched";
  }

  /** Never rejects. Without a request so soon after the last one. */
  #refresh(): Promise<void> {
    if (this.#running !== undefined) return this.#running;
    const pauseMs = this.#failure !== undefined ? RETRY_MS : COOLDOWN_MS;
    if (this.#now() - this.#triedAtMs < pauseMs || this.#closing.signal.aborted) return Promise.resolve();
    this.#triedAtMs = this.#now();
    return this.#running = this.#fetch().finally(() => this.#running = undefined);
  }

  async #fetch(): Promise<void> {
    const fields = { url: withoutQuery(this.#url) };
    const before = this.#failure;
    using deadline = new Deadline(CONSTANTS.keySetTimeoutMs.value, {
      reason: () =>
        new DOMException(`No answer within ${CONSTANTS.keySetTimeoutMs.value} ms`, "TimeoutError"),
      signal: this.#closing.signal,
    });
    try {
      const keys = readKeySet(parseJson(await fetchText(this.#url, deadline.signal)));
      if (keys.length === 0) throw contentProblem("it has no usable key");
      this.#keys = keys;
      this.#fetchedAtMs = this.#now();
      this.#failure = undefined;
      if (before !== undefined) this.#logger.info("fetched the key set again", fields);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#failure = explainFetch(error);
      // One line for each outage.
      if (before !== undefined) return;
      this.#logger.error("cannot fetch the key set of JWT; retrying", { ...fields, error: this.#failure });
    }
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
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  // Leaving the loop cancels the body.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > CONSTANTS.maxKeySetBytes.value) {
      throw contentProblem(`the answer has more than ${CONSTANTS.maxKeySetBytes.value} bytes`);
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
