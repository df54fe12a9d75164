/** The sessions of clients that speak MCP of 2025 over HTTP. */
import { WebStandardStreamableHTTPServerTransport as SessionTransport } from "@modelcontextprotocol/server";
import type { SessionFactory } from "../gateway_core.ts";
import { httpError } from "./http_error.ts";
import { whenDone } from "./when_done.ts";

/** How many sessions there may be, and for how long. */
export interface SessionLimits {
  /** The most sessions of the gateway. */
  readonly maxSessions: number;
  /** How long a session without a request or a stream is kept, in milliseconds. */
  readonly idleMs: number;
  /** The largest body of a request, in bytes. */
  readonly maxBodyBytes: number;
}

/** Counts the sessions of all endpoints. */
export interface SessionCount {
  open: number;
}

interface Session {
  readonly transport: SessionTransport;
  /** Requests and streams that are open now. */
  busy: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** The header that names a session. */
const SESSION_HEADER = "mcp-session-id";

/** Serves requests of sessions, each with a server of its own. */
export class Sessions {
  readonly #factory: SessionFactory;
  readonly #limits: SessionLimits;
  readonly #count: SessionCount;
  readonly #sessions = new Map<string, Session>();

  constructor(factory: SessionFactory, { limits, count }: { limits: SessionLimits; count: SessionCount }) {
    this.#factory = factory;
    this.#limits = limits;
    this.#count = count;
  }

  /** Serves a request: of a session, or one that begins a session. */
  async fetch(request: Request): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    const session = id === null ? await this.#open() : this.#sessions.get(id);
    if (session === undefined) {
      return id === null
        ? httpError(503, "Cannot begin a session: there are too many. End others, or try again later", {
          "retry-after": "60",
        })
        : httpError(404, "No such session: it has ended, or the gateway has restarted. Initialize again");
    }
    session.busy++;
    clearTimeout(session.timer);
    const response = await session.transport.handleRequest(request);
    return whenDone(response, () => this.#rest(session));
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  /** A session that has no id yet: without `initialize` its transport refuses the request, and it is forgotten. */
  async #open(): Promise<Session | undefined> {
    if (this.#count.open >= this.#limits.maxSessions) return undefined;
    this.#count.open++;
    const transport = new SessionTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
      maxRequestBodySize: this.#limits.maxBodyBytes,
    });
    const session: Session = { transport, busy: 0, timer: undefined };
    const server = this.#factory({ era: "legacy" });
    const { onclose } = server;
    server.onclose = () => {
      onclose?.();
      this.#forget(session);
    };
    await server.connect(transport);
    return session;
  }

  #rest(session: Session): void {
    session.busy--;
    if (session.busy > 0) return;
    const { sessionId } = session.transport;
    const isBegun = sessionId !== undefined && this.#sessions.has(sessionId);
    const end = () => void session.transport.close();
    if (isBegun) session.timer = setTimeout(end, this.#limits.idleMs);
    else end();
  }

  #forget({ transport, timer }: Session): void {
    clearTimeout(timer);
    this.#count.open--;
    if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
  }
}
