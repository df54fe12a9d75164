/** What answers at a console: its page for everybody, and the API for whoever is admitted. */
import type { IncomingMessage } from "node:http";
import type { AskedRequest } from "../http/headers.ts";
import { BodyMemory, readJsonBody } from "../http/mcp/json_body.ts";
import type { Forwarded } from "../http/proxies.ts";
import { senderProblem, type SenderRules } from "../http/senders.ts";
import { isRecord } from "../json/json.ts";
import type { Logger } from "../log.ts";
import { describeError } from "../text/text.ts";
import {
  answerOf,
  ApiRefusal,
  askedByBody,
  askedByQuery,
  type AskedWith,
  type CommandOutcome,
  type OfferedCommand,
  type OfferedCommands,
  toWords,
} from "./api.ts";
import { assets } from "./assets.ts";
import type { EventFeed } from "./feed.ts";

/** A UUID, so that nothing else is ever signed. */
const NONCE = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const MAX_BODY_BYTES = 1024 * 1024;
/** How often a reader of events is admitted anew, in milliseconds. */
const READMISSION_MS = 1_000;

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

/** Who uses the API, as far as that is known. */
export interface ConsoleUser {
  readonly by?: string;
  readonly address?: string | undefined;
}

/** Who may use the API; or why a request may not. */
export type Admission = ConsoleUser | { readonly status: 401 | 403 | 429; readonly message: string };

/** Runs the words of a command with `--json`. It stops when `signal` is aborted. */
export type RunOffered = (
  words: readonly string[],
  context: { readonly signal: AbortSignal; readonly user: ConsoleUser },
) => Promise<CommandOutcome>;

/** A program whose commands a console runs. */
export interface ConsoleProgram {
  readonly page: ConsolePage;
  readonly commands: OfferedCommands;
  readonly run: RunOffered;
  readonly feed: EventFeed;
  readonly logger: Logger;
}

export interface SiteOptions extends ConsoleProgram {
  /** The path that it is below, such as `/console`; empty where it has the whole port. */
  readonly base: string;
  readonly senders: SenderRules;
  /** Proves to a page, which has not shown its token yet, that this program knows it; for a port that others may take. */
  readonly prove?: (nonce: string) => Uint8Array<ArrayBuffer>;
  readonly admit: (incoming: IncomingMessage) => Promise<Admission>;
}

export class ConsoleSite {
  readonly #options: SiteOptions;
  readonly #bodies = new BodyMemory();
  readonly #closing = new AbortController();

  constructor(options: SiteOptions) {
    this.#options = options;
  }

  /** Ends all streams, and the commands that run for them. */
  close(): void {
    this.#closing.abort(new DOMException("The console is closed", "AbortError"));
  }

  /** Answers a request whose path is `base` or below. Never rejects. */
  async fetch(request: AskedRequest, incoming: IncomingMessage, forwarded?: Forwarded): Promise<Response> {
    const { base, admit, logger } = this.#options;
    try {
      const pathname = new URL(request.url).pathname.slice(base.length);
      const problem = this.#senderProblem(request, { pathname, incoming, forwarded });
      if (problem !== undefined) throw new ApiRefusal(403, problem);
      if (pathname === "") return new Response(null, { status: 308, headers: { location: `${base}/` } });
      if (pathname !== "/api" && !pathname.startsWith("/api/")) return this.#asset(request, pathname);
      const user = await admit(incoming);
      if ("status" in user) throw new ApiRefusal(user.status, user.message);
      return await this.#api(request, { pathname, incoming, user });
    } catch (error) {
      if (error instanceof ApiRefusal) return refused(error);
      logger.error("a request to the console failed", { error: describeError(error) });
      return json(500, '{"error":"Cannot answer: something went wrong in this program"}');
    }
  }

  /** A link that somebody follows is the one request of another site that is let in: to the page, which holds no secret. */
  #senderProblem({ method }: AskedRequest, { pathname, incoming: { headers }, forwarded }: {
    readonly pathname: string;
    readonly incoming: IncomingMessage;
    readonly forwarded: Forwarded | undefined;
  }): string | undefined {
    const { host, origin } = headers;
    const [site, mode, dest] = ["site", "mode", "dest"].map((name) => headers[`sec-fetch-${name}`]);
    const isLink = method === "GET" && mode === "navigate" && dest === "document" &&
      (pathname === "/" || pathname === "") && origin === undefined;
    const sender = { host, origin, "sec-fetch-site": isLink ? undefined : site?.toString() };
    return senderProblem(sender, this.#options.senders, forwarded);
  }

  #asset({ method, url }: AskedRequest, pathname: string): Response {
    if (pathname === "/proof") return this.#proof(new URL(url).searchParams.get("nonce") ?? "");
    const name = pathname === "/" ? `${this.#options.page}.html` : pathname.slice(1);
    if (!Object.hasOwn(assets, name)) throw new ApiRefusal(404, `Nothing is at "${pathname}"`);
    if (method !== "GET" && method !== "HEAD") {
      throw new ApiRefusal(405, "The files of the page are only read");
    }
    const type = CONTENT_TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    return new Response(assets[name], { headers: { ...SECURITY_HEADERS, "content-type": type } });
  }

  #proof(nonce: string): Response {
    const { prove } = this.#options;
    if (prove === undefined) throw new ApiRefusal(404, 'Nothing is at "/proof"');
    if (!NONCE.test(nonce)) throw new ApiRefusal(400, "Cannot prove anything: the nonce must be a UUID");
    return new Response(prove(nonce), {
      headers: { ...SECURITY_HEADERS, "content-type": "application/octet-stream" },
    });
  }

  async #api(request: AskedRequest, { pathname, incoming, user }: {
    readonly pathname: string;
    readonly incoming: IncomingMessage;
    readonly user: ConsoleUser;
  }): Promise<Response> {
    const { commands } = this.#options;
    if (pathname === "/api/events") return this.#events(request, incoming);
    if (pathname === "/api") return json(200, JSON.stringify([...commands.values()]));
    const command = commands.get(pathname);
    if (command === undefined) {
      throw new ApiRefusal(404, `Cannot run "${pathname}": unknown command; GET /api lists the commands`);
    }
    const run = { request, command, user };
    if (request.method === "POST") return await this.#run({ ...run, asked: await this.#body(request) });
    if (request.method !== "GET") throw new ApiRefusal(405, "The API has GET and POST");
    if (!command.methods.includes("GET")) {
      throw new ApiRefusal(405, `Cannot run "${command.command}" by GET: use POST`);
    }
    return await this.#run({ ...run, asked: askedByQuery(new URL(request.url).searchParams) });
  }

  #events(request: AskedRequest, incoming: IncomingMessage): Response {
    if (request.method !== "GET") throw new ApiRefusal(405, "Events are only read");
    const over = new AbortController();
    const signal = AbortSignal.any([request.signal, this.#closing.signal, over.signal]);
    const answer = this.#options.feed.read({ signal, onEnd: () => clearInterval(readmission) });
    if (answer === undefined) throw new ApiRefusal(503, "Cannot send events: too many readers");
    const readmission = setInterval(async () => {
      if ("status" in await this.#options.admit(incoming)) over.abort();
    }, READMISSION_MS);
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) answer.headers.set(name, value);
    return answer;
  }

  /** A page of another site can send a form, but no JSON. */
  async #body(request: AskedRequest): Promise<AskedWith> {
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

  async #run({ request: { signal }, command, asked, user }: {
    readonly request: AskedRequest;
    readonly command: OfferedCommand;
    readonly asked: AskedWith;
    readonly user: ConsoleUser;
  }): Promise<Response> {
    const outcome = await this.#options.run(toWords(command, asked), {
      signal: AbortSignal.any([signal, this.#closing.signal]),
      user,
    });
    const answer = answerOf(outcome);
    return json(answer.status, answer.json);
  }
}

function json(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    status,
    headers: { ...SECURITY_HEADERS, "content-type": "application/json", ...headers },
  });
}

/** What is left of the body of a refused request is not read. */
function refused({ status, message }: ApiRefusal): Response {
  const challenge = status === 401 ? { "www-authenticate": "Bearer" } : undefined;
  return json(status, JSON.stringify({ error: message }), { connection: "close", ...challenge });
}
