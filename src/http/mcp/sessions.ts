/** The sessions of clients that speak MCP of 2025 over HTTP. */
import type { McpRequestContext, Server } from "@modelcontextprotocol/server";
import type { AskedRequest } from "../headers.ts";
import { type Access, OWNER } from "./access.ts";
import { httpError } from "./http_error.ts";
import type { AdmittedRequest } from "./json_body.ts";
import { SESSION_HEADER, SessionTransport } from "./session_transport.ts";

const DEFAULT_MAX_SESSIONS = 200;
const DEFAULT_IDLE_MS = 30 * 60_000;
/** How often clients that wait, and sessions that rest, are looked at, in milliseconds. */
const BEAT_MS = 15_000;
/** The share of all sessions that one credential may have, so that others find room. The owner may have all. */
const MAX_SHARE = 1 / 2;

/** The largest body of a request that begins a session, in bytes: what a client says of itself stays in memory. */
export const MAX_FIRST_BYTES = 256 * 1024;

/** The client of a server of MCP. */
export interface SessionClient extends Pick<McpRequestContext, "era"> {
  /** What the client may do, as its newest request showed it: a credential may be renewed with other rights. */
  readonly access: () => Access;
}

/** Makes the MCP server for one client. */
export type SessionFactory = (client: SessionClient) => Server;

interface SessionOwner {
  readonly factory: SessionFactory;
  readonly access: Access;
}

interface Session {
  readonly factory: SessionFactory;
  readonly transport: SessionTransport;
  /** That of the newest request. */
  access: Access;
  /** Requests and streams. Without any, the session rests. */
  busy: number;
  /** Since when it rests, by `performance.now()`. */
  restsSinceMs: number;
}

export interface SessionOptions {
  /** 200 by default. */
  readonly maxSessions?: number | undefined;
  /** How long a session rests before it ends, in milliseconds; half an hour by default. */
  readonly idleMs?: number | undefined;
}

/**
 * A bounded number of sessions at all paths. A session belongs to the credential that began it. When there is no place, one
 * that rests ends for a new one: of the credential that has the most, the one that rests longest.
 */
export class Sessions {
  readonly #max: number;
  readonly #idleMs: number;
  /** By id. Those that rest stand in the order in which they came to rest. */
  readonly #sessions = new Map<string, Session>();
  /** Runs while there are sessions. */
  #beat: ReturnType<typeof setInterval> | undefined;

  constructor({ maxSessions = DEFAULT_MAX_SESSIONS, idleMs = DEFAULT_IDLE_MS }: SessionOptions = {}) {
    this.#max = maxSessions;
    this.#idleMs = idleMs;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Whether there is a session of the path with this factory. */
  has(factory: SessionFactory): boolean {
    return this.#sessions.values().some((session) => session.factory === factory);
  }

  /** Whether a request names a session, so that its client is of 2025. */
  isKnown({ headers }: AskedRequest): boolean {
    return this.#sessions.has(headers.get(SESSION_HEADER) ?? "");
  }

  /** @param client `factory`: that of the path, always the same one. */
  async fetch(
    admitted: AdmittedRequest,
    { factory, access }: SessionOwner,
  ): Promise<Response> {
    const { request, sizeBytes, ending } = admitted;
    const id = request.headers.get(SESSION_HEADER);
    if (id === null && sizeBytes > MAX_FIRST_BYTES) {
      return httpError(
        413,
        `Cannot begin a session: the body of the request has more than ${MAX_FIRST_BYTES} bytes`,
      );
    }
    const session = id === null
      ? await this.#open({ factory, access })
      : this.#resume(id, { factory, access });
    if (session === undefined) {
      return id === null
        ? httpError(503, "Cannot begin a session: all of them are busy. End others, or try again later", {
          headers: { "retry-after": "60" },
        })
        : httpError(404, "No such session: it has ended, or this MCP server has restarted. Initialize again");
    }
    ending.defer(() => this.#rest(session));
    return await session.transport.handle(admitted);
  }

  async close(): Promise<void> {
    await Promise.all(this.#sessions.values().map(({ transport }) => transport.close()));
  }

  /** Without `initialize`, the transport refuses the request, and the session is forgotten. */
  async #open({ factory, access }: SessionOwner): Promise<Session | undefined> {
    if (!await this.#makeRoomFor(access)) return undefined;
    const id = crypto.randomUUID();
    const transport = new SessionTransport(id);
    const session: Session = { factory, transport, access, busy: 1, restsSinceMs: Infinity };
    const server = factory({ era: "legacy", access: () => session.access });
    this.#sessions.set(id, session);
    this.#beat ??= setInterval(() => this.#onBeat(), Math.min(BEAT_MS, this.#idleMs));
    const { onclose } = server;
    server.onclose = () => {
      onclose?.();
      this.#sessions.delete(id);
      if (this.#sessions.size === 0) this.#beat = void clearInterval(this.#beat);
    };
    await server.connect(transport);
    return session;
  }

  /** Whether there is room for one more session of this credential. */
  async #makeRoomFor({ id }: Access): Promise<boolean> {
    const ownMax = id === OWNER.id ? this.#max : Math.ceil(this.#max * MAX_SHARE);
    for (;;) {
      const byId = Map.groupBy(this.#sessions.values(), ({ access }) => access.id);
      const own = byId.get(id) ?? [];
      const isFull = this.#sessions.size >= this.#max;
      if (!isFull && own.length < ownMax) return true;
      const crowd = own.length >= ownMax ? [own] : [...byId.values()];
      const resting = crowd.filter((sessions) => sessions.some(({ busy }) => busy === 0));
      const most = resting.toSorted((one, other) => other.length - one.length)[0];
      const longest = most?.find(({ busy }) => busy === 0);
      if (longest === undefined) return false;
      await longest.transport.close();
    }
  }

  /** The session of another credential is answered as one that is unknown. */
  #resume(id: string, { factory, access }: SessionOwner): Session | undefined {
    const session = this.#sessions.get(id);
    if (session?.factory !== factory || session.access.id !== access.id) return undefined;
    session.access = access;
    session.busy++;
    return session;
  }

  #rest(session: Session): void {
    session.busy--;
    if (session.busy > 0) return;
    const { transport, transport: { sessionId = "" } } = session;
    // It has not begun, or has ended.
    if (!this.#sessions.delete(sessionId)) return void transport.close();
    this.#sessions.set(sessionId, session);
    session.restsSinceMs = performance.now();
  }

  #onBeat(): void {
    const endMs = performance.now() - this.#idleMs;
    for (const { transport, busy, restsSinceMs } of this.#sessions.values()) {
      if (busy === 0 && restsSinceMs <= endMs) void transport.close();
      else transport.beat();
    }
  }
}
