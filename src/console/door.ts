/**
 * The port of a console: its page for everybody, and the API for who has the token of this start. Other users of the machine
 * reach the port, too, and so does every web page that the owner opens.
 */
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import { answerByFetch } from "../http/fetch_adapter.ts";
import { startListening, stopListening } from "../http/listening.ts";
import { BodyMemory, readJsonBody } from "../http/mcp/json_body.ts";
import { createHostRule, senderProblem, type SenderRules } from "../http/senders.ts";
import { digestOf, isToken, readBearer } from "../http/tokens.ts";
import { isRecord } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { describeError } from "../text/text.ts";
import {
  answerOf,
  ApiRefusal,
  askedByBody,
  askedByQuery,
  type AskedWith,
  commandAt,
  type CommandOutcome,
  type OfferedCommand,
  type OfferedCommands,
  toWords,
} from "./api.ts";
import { assets } from "./assets.ts";
import type { EventFeed } from "./feed.ts";

/** The only address that it listens on. */
const HOST = "127.0.0.1";
const TOKEN_BYTES = 32;
const MAX_BODY_BYTES = 1024 * 1024;
/** The most connections that have not shown the token; a further one ends the oldest of them. */
const MAX_STRANGERS = 64;
/** The most connections together: a browser opens six, a program one for each request. */
const MAX_CONNECTIONS = 256;
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 30_000;

/** Nothing but the page's own files, from its own origin; and no other page may show it or hold on to its window. */
const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

/** Which page a console shows. */
export type ConsolePage = "owner" | "operator";

/** Runs the words of a command with `--json`. It stops when `signal` is aborted. */
export type RunOffered = (
  words: readonly string[],
  context: { readonly signal: AbortSignal },
) => Promise<CommandOutcome>;

export interface ConsoleOptions {
  readonly page: ConsolePage;
  readonly commands: OfferedCommands;
  readonly run: RunOffered;
  readonly feed: EventFeed;
  /** The port; a free one by default. */
  readonly port?: number | undefined;
  readonly logger: Logger;
}

/** A console that listens. */
export class ConsoleDoor implements AsyncDisposable {
  readonly #options: ConsoleOptions;
  readonly #http: HttpServer;
  readonly #token = newToken();
  readonly #digest = digestOf(this.#token);
  readonly #bodies = new BodyMemory();
  readonly #closing = new AbortController();
  /** Connections that have not shown the token, the oldest first. */
  readonly #strangers = new Set<Socket>();
  readonly #senders: SenderRules = {
    isHostAllowed: createHostRule({ allowed: [] }),
    // Pages of other ports of this machine may be those of another user.
    isOriginAllowed: (origin, { host }) => origin === `http://${host}`,
  };
  #port = 0;

  private constructor(options: ConsoleOptions) {
    this.#options = options;
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
        fetch: (asked) => this.#fetch(asked, request),
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

  get token(): string {
    return this.#token;
  }

  /** Ends all streams and connections, and the commands that run for them. Idempotent. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new DOMException("The console is closed", "AbortError"));
    await stopListening(this.#http);
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

  async #fetch(request: Request, { headers, socket }: IncomingMessage): Promise<Response> {
    try {
      const problem = this.#senderProblem(request, headers);
      if (problem !== undefined) throw new ApiRefusal(403, problem);
      const { pathname } = new URL(request.url);
      if (pathname !== "/api" && !pathname.startsWith("/api/")) return this.#asset(request, pathname);
      if (!isToken(readBearer(headers.authorization) ?? "", this.#digest)) return unauthorized();
      this.#strangers.delete(socket);
      return await this.#api(request);
    } catch (error) {
      if (error instanceof ApiRefusal) return refused(error);
      this.#options.logger.error("a request to the console failed", { error: describeError(error) });
      return json(500, '{"error":"Cannot answer: something went wrong in this program"}');
    }
  }

  /** A link that somebody follows is the one request of another site that is let in: to the page, which holds no secret. */
  #senderProblem({ method, url }: Request, headers: IncomingMessage["headers"]): string | undefined {
    const { host, origin } = headers;
    const [site, mode, dest] = ["site", "mode", "dest"].map((name) => headers[`sec-fetch-${name}`]);
    const isLink = method === "GET" && mode === "navigate" && dest === "document" &&
      new URL(url).pathname === "/" && origin === undefined;
    const sender = { host, origin, "sec-fetch-site": isLink ? undefined : site?.toString() };
    return senderProblem(sender, this.#senders);
  }

  #asset({ method }: Request, pathname: string): Response {
    const name = pathname === "/" ? `${this.#options.page}.html` : pathname.slice(1);
    if (!Object.hasOwn(assets, name)) throw new ApiRefusal(404, `Nothing is at "${pathname}"`);
    if (method !== "GET" && method !== "HEAD") {
      throw new ApiRefusal(405, "The files of the page are only read");
    }
    const type = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    return new Response(assets[name], { headers: { ...SECURITY_HEADERS, "content-type": type } });
  }

  async #api(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/api/events") return this.#events(request);
    if (pathname === "/api") return json(200, JSON.stringify(describe(this.#options.commands)));
    const command = commandAt(pathname, this.#options.commands);
    if (request.method === "POST") return await this.#run(request, command, await this.#body(request));
    if (request.method !== "GET") throw new ApiRefusal(405, "The API has GET and POST");
    if (!command.isReading) throw new ApiRefusal(405, `Cannot run "${command.name}" by GET: use POST`);
    return await this.#run(request, command, askedByQuery(searchParams));
  }

  #events(request: Request): Response {
    if (request.method !== "GET") throw new ApiRefusal(405, "Events are only read");
    const signal = AbortSignal.any([request.signal, this.#closing.signal]);
    const answer = this.#options.feed.read(request.headers.get("last-event-id") ?? undefined, signal);
    if (answer === undefined) throw new ApiRefusal(503, "Cannot send events: too many readers");
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) answer.headers.set(name, value);
    return answer;
  }

  /** A page of another site can send a form, but no JSON. */
  async #body(request: Request): Promise<AskedWith> {
    const type = request.headers.get("content-type") ?? "";
    if (!/^application\/json\s*(;|$)/i.test(type)) {
      throw new ApiRefusal(415, "Cannot read the body: its content type must be application/json");
    }
    using share = this.#bodies.open();
    const read = await readJsonBody(request, { maxBytes: MAX_BODY_BYTES, share });
    if (!(read instanceof Response)) return askedByBody(read.body);
    const { error }: { error?: unknown } = await read.json();
    throw new ApiRefusal(read.status, isRecord(error) ? String(error["message"]) : "Cannot read the body");
  }

  async #run({ signal }: Request, command: OfferedCommand, asked: AskedWith): Promise<Response> {
    const outcome = await this.#options.run(toWords(command, asked), {
      signal: AbortSignal.any([signal, this.#closing.signal]),
    });
    const answer = answerOf(outcome);
    return json(answer.status, answer.json);
  }
}

function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(TOKEN_BYTES));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function json(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    status,
    headers: { ...SECURITY_HEADERS, "content-type": "application/json", ...headers },
  });
}

function unauthorized(): Response {
  const error = 'Show the token of this start: the header "Authorization: Bearer TOKEN"';
  return json(401, JSON.stringify({ error }), { "www-authenticate": "Bearer", connection: "close" });
}

/** What is left of the body of a refused request is not read. */
function refused({ status, message }: ApiRefusal): Response {
  return json(status, JSON.stringify({ error: message }), { connection: "close" });
}

/** What `GET /api` tells. */
function describe(commands: OfferedCommands): unknown {
  return [...commands.values()].map(({ name, about, isReading, arguments: list, options }) => ({
    command: name,
    about,
    path: `/api/${name.replaceAll(" ", "/")}`,
    methods: isReading ? ["GET", "POST"] : ["POST"],
    arguments: list.map((each) => ({
      name: each.name,
      required: each.isRequired,
      repeated: each.isRepeated,
    })),
    options: options.map((each) => ({ name: each.name, takes_value: each.takesValue, about: each.about })),
  }));
}
