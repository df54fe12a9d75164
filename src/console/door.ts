/**
 * The port of a console: its page for everybody, and the API for who has the token of this start. Other users of the machine
 * reach the port, too, and so does every web page that the owner opens.
 */
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { answerByFetch } from "../http/fetch_adapter.ts";
import { startListening, stopListening } from "../http/listening.ts";
import { createHostRule } from "../http/senders.ts";
import { digestOf, isToken, readBearer } from "../http/tokens.ts";
import { type Admission, type ConsoleProgram, ConsoleSite } from "./site.ts";

/** The only address that it listens on. */
const HOST = "127.0.0.1";
const TOKEN_BYTES = 32;
/** The most connections that have not shown the token; a further one ends the oldest of them. */
const MAX_STRANGERS = 64;
/** The most connections together: a browser opens six, a program one for each request. */
const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;

export interface ConsoleOptions extends ConsoleProgram {
  /** The port; a free one by default. */
  readonly port?: number | undefined;
}

/** A console that listens. */
export class ConsoleDoor implements AsyncDisposable {
  readonly #http: HttpServer;
  readonly #token = newToken();
  readonly #digest = digestOf(this.#token);
  /** Connections that have not shown the token, the oldest first. */
  readonly #strangers = new Set<Socket>();
  readonly #site: ConsoleSite;
  #port = 0;

  private constructor(options: ConsoleOptions) {
    this.#site = new ConsoleSite({
      ...options,
      base: "",
      senders: {
        isFixed: true,
        isHostAllowed: createHostRule({ allowed: [] }),
        // Pages of other ports of this machine may be those of another user.
        isOriginAllowed: (origin, { host }) => origin === `http://${host}`,
      },
      prove: (nonce) =>
        new Uint8Array(createHmac("sha256", this.#token).update(`a2c-smcp console ${nonce}`).digest()),
      admit: (incoming) => Promise.resolve(this.#admit(incoming)),
    });
    this.#http = createServer({
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: HEADERS_TIMEOUT_MS,
    });
    this.#http.maxConnections = MAX_CONNECTIONS;
    this.#http.on("connection", (socket) => this.#onConnection(socket));
    this.#http.on("request", (request, response) => {
      void answerByFetch(request, response, {
        origin: `http://${request.headers.host ?? HOST}`,
        fetch: (asked) => this.#site.fetch(asked, request),
      });
    });
  }

  /**
   * Listens, on loopback alone.
   *
   * @throws {ListenError} when the port is in use.
   */
  static async open(options: ConsoleOptions): Promise<ConsoleDoor> {
    const door = new ConsoleDoor(options);
    door.#port = await startListening(door.#http, { host: HOST, port: options.port ?? 0 });
    return door;
  }

  get port(): number {
    return this.#port;
  }

  /** The link with the token: a browser does not send what follows `#`. */
  get link(): string {
    return `http://${HOST}:${this.#port}/#${this.#token}`;
  }

  /** Ends all streams and connections, and the commands that run for them. Idempotent. */
  async close(): Promise<void> {
    this.#site.close();
    if (this.#http.listening) await stopListening(this.#http);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #onConnection(socket: Socket): void {
    this.#strangers.add(socket);
    socket.once("close", () => this.#strangers.delete(socket));
    for (const oldest of this.#strangers) {
      if (this.#strangers.size <= MAX_STRANGERS) break;
      this.#strangers.delete(oldest);
      oldest.destroy();
    }
  }

  #admit({ headers, socket }: IncomingMessage): Admission {
    if (!isToken(readBearer(headers.authorization) ?? "", this.#digest)) {
      const message = 'Show the token of this start: the header "Authorization: Bearer TOKEN"';
      return { status: 401, message };
    }
    this.#strangers.delete(socket);
    return {};
  }
}

function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}
