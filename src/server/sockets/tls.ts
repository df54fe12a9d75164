/** TLS of the Server's own HTTP server, with a certificate that is read again when it changes. */
import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import type { RequestListener, Server as HttpServer } from "node:http";
import { createServer, type ServerOptions } from "node:https";
import type { Logger } from "../../log.ts";
import { contentProblem, FileContentError } from "../files/file_content.ts";
import { WatchedFiles } from "../files/watched_files.ts";

/** The largest file of a certificate or a key, in bytes. */
const MAX_PEM_BYTES = 1_048_576;

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

/** A certificate and its key, which belong together. */
interface CertificatePair {
  readonly cert: string;
  readonly key: string;
  /** When the certificate expires, as it says itself. */
  readonly validTo: string;
}

/** A certificate that HTTP servers use. */
export class ServerCertificate {
  readonly #logger: Logger;
  readonly #servers = new Set<HttpServer>();
  #pair: CertificatePair = { cert: "", key: "", validTo: "" };
  #files: WatchedFiles | undefined;

  private constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Reads the certificate, and again after each change of its files. A pair that cannot be used, or that does not belong
   * together, changes nothing.
   *
   * @throws {FileContentError} when it cannot be used.
   */
  static async open(options: TlsOptions, logger: Logger): Promise<ServerCertificate> {
    const certificate = new ServerCertificate(logger);
    if ("cert" in options) certificate.#pair = readGiven(options);
    else {
      certificate.#files = await WatchedFiles.open({
        kind: "TLS certificate",
        files: [options.certFile, options.keyFile],
        maxBytes: MAX_PEM_BYTES,
        logger,
        use: ([cert = "", key = ""]) => certificate.#replace(readPair(cert, key)),
      });
    }
    return certificate;
  }

  /** Creates an HTTPS server with this certificate. */
  createServer(
    options: ServerOptions & { readonly headersTimeout: number },
    listener: RequestListener,
  ): HttpServer {
    const { cert, key } = this.#pair;
    const server = createServer(
      { ...options, cert, key, minVersion: "TLSv1.2", handshakeTimeout: options.headersTimeout },
      listener,
    );
    // A client that speaks no TLS, or does not trust the certificate, ends its own connection only.
    server.on("tlsClientError", (_error, socket) => void socket.destroy());
    this.#servers.add(server);
    server.once("close", () => this.#servers.delete(server));
    return server;
  }

  /** Stops watching the files. Idempotent. */
  async close(): Promise<void> {
    await this.#files?.close();
  }

  /** Connections that are open keep their former certificate. */
  #replace(pair: CertificatePair): void {
    this.#pair = pair;
    const { cert, key, validTo } = pair;
    for (const server of this.#servers) {
      if (!canReplace(server)) {
        this.#logger.warn("cannot replace the TLS certificate while the Server runs: restart it");
        continue;
      }
      server.setSecureContext({ cert, key, minVersion: "TLSv1.2" });
      this.#logger.info("using the new TLS certificate", { valid_to: validTo });
    }
  }
}

/** Older versions of Deno cannot. */
function canReplace(
  server: HttpServer,
): server is HttpServer & { setSecureContext(options: Readonly<Record<string, string>>): void } {
  return "setSecureContext" in server && typeof server.setSecureContext === "function";
}

function readGiven({ cert, key }: { readonly cert: string; readonly key: string }): CertificatePair {
  try {
    return readPair(cert, key);
  } catch (cause) {
    if (!(cause instanceof FileContentError)) throw cause;
    throw contentProblem(`Cannot use the TLS certificate: ${cause.message}`, { cause });
  }
}

/**
 * Checks that a certificate and a key can be used together: with a pair that does not fit, every handshake would fail.
 *
 * @throws {FileContentError} when they cannot.
 */
function readPair(cert: string, key: string): CertificatePair {
  const [own] = readCertificates(cert);
  if (own === undefined) throw contentProblem("the certificate is not in PEM form");
  const publicKey = readPublicKey(key);
  let certified: string | undefined;
  try {
    certified = toSpki(own.publicKey);
  } catch {
    // Older versions of Deno cannot export every kind of key.
  }
  if (certified !== undefined && certified !== publicKey) {
    throw contentProblem("the key is not the one of the certificate");
  }
  return { cert, key, validTo: own.validTo };
}

function readCertificates(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (cause) {
    throw contentProblem("the certificate cannot be read", { cause });
  }
}

function readPublicKey(key: string): string {
  if (/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(key)) {
    throw contentProblem("the key is encrypted; decrypt it first, as with openssl pkey");
  }
  try {
    return toSpki(createPublicKey(createPrivateKey(key).export({ type: "pkcs8", format: "pem" })));
  } catch (cause) {
    throw contentProblem("the key is not a private key in PEM form", { cause });
  }
}

function toSpki(key: X509Certificate["publicKey"]): string {
  return String(key.export({ type: "spki", format: "pem" }));
}
