/** HTTP over TLS, with a certificate that is read again when it changes. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { RequestListener } from "node:http";
import { createServer, type Server as HttpsServer, type ServerOptions } from "node:https";
import { clearInterval, setInterval } from "node:timers";
import type { Logger } from "../log.ts";
import { contentProblem, WatchedFiles } from "../files/watched_files.ts";

/** The certificate of a Server and its private key: as PEM, or the files of both. */
export type TlsOptions =
  | {
    /** The certificate, and after it those between it and its authority. */
    readonly cert: string;
    /** The private key, not encrypted. */
    readonly key: string;
  }
  | {
    /** The file of the certificate, and of those between it and its authority. It is read again when it changes. */
    readonly certFile: string;
    /** The file of the private key, not encrypted. It is read again when it changes. */
    readonly keyFile: string;
  };

interface CertificatePair {
  readonly cert: string;
  readonly key: string;
  readonly validity: Validity;
}

/** When a certificate is valid, in milliseconds since the epoch. */
export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The kinds of keys that clients of TLS accept, besides RSA. Deno 2.5 has other names of curves. */
const USABLE_KEYS: readonly string[] = [
  "ec prime256v1",
  "ec secp384r1",
  "ec secp521r1",
  "ec p256",
  "ec p384",
  "ed25519",
];
const MIN_RSA_BITS = 2_048;

const DAY_MS = 86_400_000;
/** A certificate that ends within this time expires soon. */
const SOON_MS = 14 * DAY_MS;
/** The same for short-lived certificates, as the share of their whole time: programs renew them well before it. */
const SOON_SHARE = 1 / 5;

/** Returns what is wrong with the time of a certificate, for the log; `undefined` when nothing is. */
export function expiryWarning({ fromMs, toMs }: Validity, nowMs: number): string | undefined {
  if (nowMs < fromMs) return "the TLS certificate is not valid yet, so clients refuse it; check the clock";
  if (nowMs > toMs) return "the TLS certificate has expired, so clients refuse it; renew it";
  const isSoon = toMs - nowMs < Math.min(SOON_MS, (toMs - fromMs) * SOON_SHARE);
  return isSoon ? "the TLS certificate expires soon; renew it" : undefined;
}

export class ServerCertificate {
  readonly #logger: Logger;
  #server: HttpsServer | undefined;
  #pair: CertificatePair = { cert: "", key: "", validity: { fromMs: NaN, toMs: NaN } };
  #files: WatchedFiles | undefined;
  #reminder: ReturnType<typeof setInterval> | undefined;

  private constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Reads the certificate, and again after each change of its files. A pair that cannot be used, or that does not belong
   * together, changes nothing. One that has expired, or expires soon, is used with a warning, which is repeated daily.
   *
   * @throws {FileContentError} when it cannot be used.
   */
  static async open(
    options: TlsOptions,
    { logger, maxBytes }: { readonly logger: Logger; readonly maxBytes: number },
  ): Promise<ServerCertificate> {
    const certificate = new ServerCertificate(logger);
    const isGiven = "cert" in options;
    certificate.#files = await WatchedFiles.open({
      kind: "TLS certificate",
      files: isGiven ? [] : [options.certFile, options.keyFile],
      given: isGiven ? [options.cert, options.key] : undefined,
      maxBytes,
      logger,
      use: ([cert = "", key = ""]) => certificate.#replace(readPair(cert, key)),
    });
    certificate.#reminder = setInterval(() => certificate.#warn(), DAY_MS);
    certificate.#reminder.unref();
    return certificate;
  }

  get expiresAtMs(): number {
    return this.#pair.validity.toMs;
  }

  createServer(
    options: ServerOptions & { readonly headersTimeout: number },
    listener: RequestListener,
  ): HttpsServer {
    const { cert, key } = this.#pair;
    const server = createServer(
      { ...options, cert, key, minVersion: "TLSv1.2", handshakeTimeout: options.headersTimeout },
      listener,
    );
    // A client that speaks no TLS, or does not trust the certificate, ends its own connection only.
    server.on("tlsClientError", (_error, socket) => void socket.destroy());
    return this.#server = server;
  }

  async close(): Promise<void> {
    clearInterval(this.#reminder);
    await this.#files?.close();
  }

  #warn(): void {
    const { validity } = this.#pair;
    const warning = expiryWarning(validity, Date.now());
    if (warning !== undefined) this.#logger.warn(warning, { valid_to: toText(validity.toMs) });
  }

  /** Connections that are open keep their former certificate. */
  #replace(pair: CertificatePair): void {
    const { cert, key, validity } = pair;
    if (this.#server !== undefined) {
      this.#server.setSecureContext({ cert, key, minVersion: "TLSv1.2" });
      this.#logger.info("using the new TLS certificate", { valid_to: toText(validity.toMs) });
    }
    this.#pair = pair;
    this.#warn();
  }
}

/** Checks that a certificate and a key can be used together: with a pair that does not fit, every handshake would fail. */
function readPair(cert: string, key: string): CertificatePair {
  const [own] = readCertificates(cert);
  if (own === undefined) throw contentProblem("the certificate is not in PEM form");
  const privateKey = readPrivateKey(key);
  let isOwn = true;
  try {
    isOwn = own.checkPrivateKey(privateKey);
  } catch {
    // Deno 2.5 cannot say.
  }
  if (!isOwn) throw contentProblem("the key is not the one of the certificate");
  return { cert, key, validity: { fromMs: Date.parse(own.validFrom), toMs: Date.parse(own.validTo) } };
}

function toText(timeMs: number): string {
  return Number.isNaN(timeMs) ? "unknown" : new Date(timeMs).toISOString();
}

function readCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw contentProblem("the certificate cannot be read", { cause });
  }
}

function readPrivateKey(text: string): KeyObject {
  if (/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(text)) {
    throw contentProblem("the key is encrypted; decrypt it first, as with openssl pkey");
  }
  let key: KeyObject;
  try {
    key = createPrivateKey(text);
  } catch (cause) {
    throw contentProblem("the key is not a private key in PEM form", { cause });
  }
  const { namedCurve = "", modulusLength = MIN_RSA_BITS } = key.asymmetricKeyDetails ?? {};
  const kind = `${key.asymmetricKeyType} ${namedCurve}`.trimEnd();
  if (USABLE_KEYS.includes(kind) || (kind === "rsa" && modulusLength >= MIN_RSA_BITS)) return key;
  throw contentProblem(
    `clients cannot use a key of kind ${kind}: it must be RSA of at least ${MIN_RSA_BITS} bits, P-256, P-384, P-521 or Ed25519`,
  );
}
