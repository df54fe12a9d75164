/** The sessions of clients that speak MCP of 2025 over HTTP. */
import {
  type McpRequestContext,
  type Server,
  WebStandardStreamableHTTPServerTransport as SessionTransport,
} from "@modelcontextprotocol/server";
import { httpError } from "./http_error.ts";
import type { AdmittedRequest } from "./json_body.ts";

export const SESSION_HEADER = "mcp-session-id";

/** The largest body of a request that begins a session, in bytes: what a client says of itself stays in memory. */
export const MAX_FIRST_BYTES = 256 * 1024;

/** Makes the MCP server for one client, by the era that the client speaks. It is a factory of the MCP SDK. */
export type SessionFactory = (context: Pick<McpRequestContext, "era">) => Server;

export const DEFAULT_MAX_SESSIONS = 200;
/** How long a session without a request or a stream is kept by default, in milliseconds. */
export const DEFAULT_IDLE_MS = 30 * 60_000;

interface PlacedSession {
  end(): Promise<void>;
}

/** The places for sessions that all paths of an MCP server share. When all are taken, the session that rests longest ends for a new one. */
export class SessionPlaces {
  readonly #max: number;
  /** The sessions without a request or a stream, the one that rests longest first. */
  readonly #resting = new Set<PlacedSession>();
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Takes a place. `false` when all sessions are busy. */
  async take(): Promise<boolean> {
    while (this.#taken >= this.#max) {
      const [longest] = this.#resting;
      if (longest === undefined) return false;
      this.#resting.delete(longest);
      await longest.end();
    }
    this.#taken++;
    return true;
  }

  use(session: PlacedSession): void {
    this.#resting.delete(session);
  }

  rest(session: PlacedSession): void {
    this.#resting.add(session);
  }

  free(session: PlacedSession): void {
    this.#resting.delete(session);
    this.#taken--;
  }
}

interface Session extends PlacedSession {
  readonly transport: SessionTransport;
  busy: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export class Sessions {
  readonly #factory: SessionFactory;
  readonly #places: SessionPlaces;
  readonly #idleMs: number;
  readonly #sessions = new Map<string, Session>();

  constructor(
    factory: SessionFactory,
    { places, idleMs }: { readonly places: SessionPlaces; readonly idleMs: number },
  ) {
    this.#factory = factory;
    this.#places = places;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  async fetch({ request, body, sizeBytes, ending }: AdmittedRequest): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null && sizeBytes > MAX_FIRST_BYTES) {
      return httpError(
        413,
        `Cannot begin a session: the body of the request has more than ${MAX_FIRST_BYTES} bytes`,
      );
    }
    const session = id === null ? await this.#open() : this.#sessions.get(id);
    if (session === undefined) {
      return id === null
        ? httpError(503, "Cannot begin a session: all of them are busy. End others, or try again later", {
          headers: { "retry-after": "60" },
        })
        : httpError(404, "No such session: it has ended, or this MCP server has restarted. Initialize again");
    }
    session.busy++;
    clearTimeout(session.timer);
    this.#places.use(session);
    ending.defer(() => this.#rest(session));
    return await session.transport.handleRequest(request, { parsedBody: body });
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map((session) => session.end()));
  }

  /** A session that has no id yet: without `initialize` its transport refuses the request, and it is forgotten. */
  async #open(): Promise<Session | undefined> {
    if (!await this.#places.take()) return undefined;
    const transport = new SessionTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
    });
    const session: Session = { transport, busy: 0, timer: undefined, end: () => transport.close() };
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
    if (!isBegun) return void session.end();
    session.timer = setTimeout(() => void session.end(), this.#idleMs);
    this.#places.rest(session);
  }

  #forget(session: Session): void {
    clearTimeout(session.timer);
    this.#places.free(session);
    const { sessionId } = session.transport;
    if (sessionId !== undefined) this.#sessions.delete(sessionId);
  }
}
