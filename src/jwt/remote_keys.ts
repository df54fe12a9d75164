/** A set of keys at a URL, or at the one that an issuer names. */
import type { ProtectedHeaderParameters as Header } from "jose";
import { abortable } from "../async/abortable.ts";
import { readBoundedText } from "../text/bounded_text.ts";
import { contentProblem, FileContentError } from "../files/watched_files.ts";
import { isRecord, parseJson } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { issuerMetadataUrls } from "../protocol/oauth.ts";
import { isLoopback } from "../protocol/server_address.ts";
import { describeError } from "../text/text.ts";
import { KEY_SET_COOLDOWN_MS, KEY_SET_TIMEOUT_MS, MAX_KEY_SET_BYTES } from "./bounds.ts";
import { keysFor, readKeySet, type VerificationKey } from "./keys.ts";

/** The age at which the keys are fetched again, in milliseconds. */
const MAX_AGE_MS = 600_000;
/** How long keys are used while newer ones cannot be fetched, in milliseconds. */
const MAX_STALE_MS = 3_600_000;
/** The least time between two fetches after a failure, in milliseconds. */
const RETRY_MS = 5_000;

/** Where the keys are: at a URL, or where their issuer says. */
export type KeySetSource = { readonly url: string } | { readonly issuer: string };

export interface RemoteKeysOptions {
  readonly logger: Logger;
  /** Allows `http:` to another machine; `false` by default. */
  readonly allowHttp?: boolean | undefined;
  /** What allows it, as an error tells it, such as `--jwt-allow-http`. */
  readonly httpFlag: string;
  /** Milliseconds since a fixed point; the monotonic clock by default. */
  readonly nowMs?: (() => number) | undefined;
}

/**
 * A set of keys at a URL: fetched within bounds, cached, and fetched again when a token names an unknown key. The one of
 * `jose` has no bound of bytes, and no keys while their server is down.
 */
export class RemoteKeys {
  readonly #source: KeySetSource;
  /** The address in the log. */
  readonly #shownUrl: string;
  readonly #allowHttp: boolean;
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
  constructor(
    source: KeySetSource,
    { logger, allowHttp = false, httpFlag, nowMs = () => performance.now() }: RemoteKeysOptions,
  ) {
    const [what, url] = "url" in source ? ["key set", source.url] : ["issuer", source.issuer];
    const parsed = URL.parse(url);
    if (parsed === null || !isSafe(parsed, allowHttp)) {
      throw new TypeError(
        `Cannot use the URL of the ${what} "${url}": https is required, unless allowHttp (${httpFlag}) is set`,
      );
    }
    this.#source = source;
    // A query may have a secret.
    this.#shownUrl = `${parsed.origin}${parsed.pathname}`;
    this.#allowHttp = allowHttp;
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
    const pauseMs = this.#failure === undefined ? KEY_SET_COOLDOWN_MS : RETRY_MS;
    if (this.#now() - this.#triedAtMs >= pauseMs && !this.#closing.signal.aborted) {
      this.#triedAtMs = this.#now();
      this.#fetching = this.#fetch();
    }
    return this.#fetching;
  }

  /** An issuer may move its keys, so that it is asked each time. */
  async #locate(signal: AbortSignal): Promise<URL> {
    if ("url" in this.#source) return new URL(this.#source.url);
    const { issuer } = this.#source;
    let failure: unknown;
    for (const place of issuerMetadataUrls(new URL(issuer))) {
      const metadata = await fetchJson(place, signal).catch((error) => void (failure = error));
      signal.throwIfAborted();
      if (!isRecord(metadata)) continue;
      const { issuer: named, jwks_uri: uri } = metadata;
      const url = typeof uri === "string" ? URL.parse(uri) : null;
      // Whoever answers for another issuer may not name keys for this one (RFC 8414, section 3.3).
      if (named !== issuer) throw contentProblem("the metadata of the issuer is of another one");
      if (url !== null && isSafe(url, this.#allowHttp)) return url;
      throw contentProblem("the metadata of the issuer names no key set at https");
    }
    throw failure ?? contentProblem("the issuer has no metadata");
  }

  async #fetch(): Promise<void> {
    const fields = { url: this.#shownUrl };
    const before = this.#failure;
    try {
      const signal = AbortSignal.any([
        this.#closing.signal,
        AbortSignal.timeout(KEY_SET_TIMEOUT_MS),
      ]);
      const keys = readKeySet(await fetchJson(await this.#locate(signal), signal));
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

function isSafe({ protocol, hostname }: URL, allowHttp: boolean): boolean {
  return protocol === "https:" || (protocol === "http:" && (allowHttp || isLoopback(hostname)));
}

async function fetchJson(url: URL, signal: AbortSignal): Promise<unknown> {
  const headers = { accept: "application/jwk-set+json, application/json" };
  const { status, body } = await fetch(url, { redirect: "manual", headers, signal });
  if (status !== 200) {
    await body?.cancel();
    throw contentProblem(`HTTP status ${status}`);
  }
  const text = body === null ? "" : await readBoundedText(body, { maxBytes: MAX_KEY_SET_BYTES });
  if (text === undefined) throw contentProblem(`the answer has more than ${MAX_KEY_SET_BYTES} bytes`);
  return parseJson(text);
}

/** The runtime puts what happened into the cause of its error, together with the URL, which may have a secret. */
function explainFetch(error: unknown): string {
  const cause = error instanceof TypeError ? error.cause : undefined;
  return describeError(cause ?? error).replace(/^.*client error \(\w+\): /s, "")
    .replaceAll(/https?:\/\/\S+/g, "the URL");
}
