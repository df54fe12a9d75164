/** The sessions of clients that speak MCP of 2025 over HTTP. */
import {
  type McpRequestContext,
  type Server,
  WebStandardStreamableHTTPServerTransport as SessionTransport,
} from "@modelcontextprotocol/server";
import { httpError } from "./http_error.ts";
import type { AdmittedRequest } from "./json_body.ts";

const DEFAULT_MAX_SESSIONS = 200;
const DEFAULT_IDLE_MS = 30 * 60_000;

export const SESSION_HEADER = "mcp-session-id";

/** The largest body of a request that begins a session, in bytes: what a client says of itself stays in memory. */
export const MAX_FIRST_BYTES = 256 * 1024;

/** Makes the MCP server for one client, by the era that the client speaks. It is a factory of the MCP SDK. */
export type SessionFactory = (context: Pick<McpRequestContext, "era">) => Server;

interface Session {
  readonly factory: SessionFactory;
  readonly transport: SessionTransport;
  /** Requests and streams. Without any, the session rests. */
  busy: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

export interface SessionOptions {
  /** 200 by default. */
  readonly maxSessions?: number | undefined;
  /** How long a session rests before it ends, in milliseconds; half an hour by default. */
  readonly idleMs?: number | undefined;
}

/** A bounded number of sessions at all paths. When there is no place, the session that rests longest ends for a new one. */
export class Sessions {
  readonly #max: number;
  readonly #idleMs: number;
  /** By id. Those that rest stand in the order in which they came to rest. */
  readonly #sessions = new Map<string, Session>();

  constructor({ maxSessions = DEFAULT_MAX_SESSIONS, idleMs = DEFAULT_IDLE_MS }: SessionOptions = {}) {
    this.#max = maxSessions;
    this.#idleMs = idleMs;
  }

  /** Whether there is a session of the path with this factory. */
  has(factory: SessionFactory): boolean {
    return this.#sessions.values().some((session) => session.factory === factory);
  }

  /** @param factory That of the path, always the same one. */
  async fetch(
    { request, body, sizeBytes, ending }: AdmittedRequest,
    factory: SessionFactory,
  ): Promise<Response> {
    const id = request.headers.get(SESSION_HEADER);
    if (id === null && sizeBytes > MAX_FIRST_BYTES) {
      return httpError(
        413,
        `Cannot begin a session: the body of the request has more than ${MAX_FIRST_BYTES} bytes`,
      );
    }
    const session = id === null ? await this.#open(factory) : this.#resume(id, factory);
    if (session === undefined) {
      return id === null
        ? httpError(503, "Cannot begin a session: all of them are busy. End others, or try again later", {
          headers: { "retry-after": "60" },
        })
        : httpError(404, "No such session: it has ended, or this MCP server has restarted. Initialize again");
    }
    ending.defer(() => this.#rest(session));
    return await session.transport.handleRequest(request, { parsedBody: body });
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.values().map(({ transport }) => transport.close()));
  }

  /** Without `initialize`, the transport refuses the request, and the session is forgotten. */
  async #open(factory: SessionFactory): Promise<Session | undefined> {
    while (this.#sessions.size >= this.#max) {
      const longest = this.#sessions.values().find(({ busy }) => busy === 0);
      if (longest === undefined) return undefined;
      await longest.transport.close();
    }
    const id = crypto.randomUUID();
    const transport = new SessionTransport({ sessionIdGenerator: () => id });
    const session: Session = { factory, transport, busy: 1, timer: undefined };
    this.#sessions.set(id, session);
    const server = factory({ era: "legacy" });
    const { onclose } = server;
    server.onclose = () => {
      onclose?.();
      clearTimeout(session.timer);
      this.#sessions.delete(id);
    };
    await server.connect(transport);
    return session;
  }

  #resume(id: string, factory: SessionFactory): Session | undefined {
    const session = this.#sessions.get(id);
    if (session?.factory !== factory) return undefined;
    session.busy++;
    clearTimeout(session.timer);
    return session;
  }

  #rest(session: Session): void {
    session.busy--;
    if (session.busy > 0) return;
    const { transport, transport: { sessionId = "" } } = session;
    // It has not begun, or has ended.
    if (!this.#sessions.delete(sessionId)) return void transport.close();
    this.#sessions.set(sessionId, session);
    session.timer = setTimeout(() => void transport.close(), this.#idleMs);
  }
}
