/**
 * An Engine.IO v4 server, given to Socket.IO by `io.bind()`: it opens sessions, and hands each request to its session. Who
 * may open one is decided before, by the port.
 */
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { Socket } from "node:net";
import { CONSTANTS } from "../options/constants.ts";
import { AddressLedger } from "./address_ledger.ts";
import { Budget } from "./budget.ts";
import { InnerSocket } from "./inner_socket.ts";
import { Polling } from "./polling.ts";
import { type EngineOptions, EngineSession, type SessionContext, type SessionRequest } from "./session.ts";
import type { Forwarded } from "../../http/proxies.ts";
import { Upgrade } from "./upgrade.ts";
import { acceptHandshake, problemOfHandshake } from "./opening_handshake.ts";
import type { UpgradeAnswer } from "../../http/refusals.ts";
import { WebSocket } from "./web_socket.ts";

/** An error of Engine.IO, with the codes of its protocol. */
export const EngineError = {
  unknownTransport: { code: 0, message: "Transport unknown" },
  unknownSession: { code: 1, message: "Session ID unknown" },
  badMethod: { code: 2, message: "Bad handshake method" },
  badRequest: { code: 3, message: "Bad request" },
  unsupportedVersion: { code: 5, message: "Unsupported protocol version" },
} as const;
export type EngineError = typeof EngineError[keyof typeof EngineError];

/** A request that passed the port. */
export interface Arrival extends Visit {
  readonly request: IncomingMessage;
  /** What a trusted proxy says about it. */
  readonly forwarded?: Forwarded | undefined;
  /** The session that it names; `undefined` for a new one, and for one that does not exist. */
  readonly session: EngineSession | undefined;
}

/** What a session begins with. */
export interface Visit {
  readonly request: Pick<IncomingMessage, "headers" | "url">;
  readonly query: Readonly<Record<string, string>>;
  readonly address: string | undefined;
}

const VERSION = "4";

/** Emits `connection` (the session) for each session, before any packet of it, and `empty` when the last one has gone. */
export class Engine extends EventEmitter {
  readonly #context: SessionContext;
  readonly #sessions = new Map<string, EngineSession>();
  readonly #places: AddressLedger<EngineSession>;
  readonly budget: Budget;

  constructor(options: EngineOptions) {
    super();
    this.budget = new Budget(options.maxMessageMemoryBytes);
    this.#places = new AddressLedger({
      max: options.maxPendingConnections,
      maxPerAddress: options.maxPendingConnectionsPerAddress,
      replaceableAfterMs: CONSTANTS.replaceableAfterMs.value,
      evict: (session) => session.dropPending("a newer connection took its place"),
    });
    this.#context = {
      ...options,
      budget: this.budget,
      stallMs: options.pingIntervalMs + options.pingTimeoutMs,
      places: this.#places,
      onGone: ({ id }) => {
        this.#sessions.delete(id);
        if (this.#sessions.size === 0) this.emit("empty");
      },
    };
  }

  /** The number of sessions, also of those that are about to end. */
  get size(): number {
    return this.#sessions.size;
  }

  /** Whether a place is free for a session of this address; an older session may have to leave it. */
  hasPlace(address: string | undefined): boolean {
    return this.#places.hasPlace(address);
  }

  /** The session of a request; `undefined` for one that does not exist, or that waits for the end of its connection. */
  find({ sid = "" }: Readonly<Record<string, string>>): EngineSession | undefined {
    const session = this.#sessions.get(sid);
    return session?.readyState === "closed" ? undefined : session;
  }

  /** Answers a request over polling. Returns what is wrong with it, if anything is. */
  poll(arrival: Arrival, response: ServerResponse): EngineError | undefined {
    const { request, query, session } = arrival;
    const error = problemOf(arrival);
    if (error !== undefined) return error;
    if (!query["sid"]) return this.#openPolling(arrival, response);
    if (session === undefined) return EngineError.unknownSession;
    session.onRead();
    if (query["transport"] !== "polling" || !(session.transport instanceof Polling)) {
      return EngineError.badRequest;
    }
    if (request.method === "GET") session.transport.ask(request, response);
    else if (request.method === "POST") session.transport.post(request, response);
    else return EngineError.badMethod;
    return undefined;
  }

  /** Answers a WebSocket handshake. Returns what is wrong with it, if anything is. */
  upgrade(arrival: Arrival, socket: Duplex, head: Buffer): EngineError | UpgradeAnswer | undefined {
    const { request, query, session } = arrival;
    if (query["sid"] && (session === undefined || session.readyState !== "open")) {
      return EngineError.unknownSession;
    }
    if (query["EIO"] !== VERSION) return EngineError.unsupportedVersion;
    if (query["transport"] !== "websocket") return EngineError.unknownTransport;
    const problem = problemOfHandshake(request);
    if (problem !== undefined) return problem;
    // The peer may have disconnected.
    if (!(socket instanceof Socket) || !socket.readable || !socket.writable) return void socket.destroy();
    socket.write(acceptHandshake(request.headers));
    if (session === undefined) this.#openWebSocket(arrival, socket, head);
    // The port refuses a second WebSocket.
    else if (session.transport instanceof Polling) {
      const { transport: polling } = session;
      const { timeouts } = this.#context;
      const webSocket = new WebSocket(socket, session.account, this.#context);
      const upgrade = session.probe = new Upgrade(session, { webSocket, polling, timeouts });
      webSocket.open(upgrade, head);
    }
    return undefined;
  }

  /** Opens a session of a member in this process. */
  openInner(visit: Visit): InnerSocket {
    const { transport } = this.#open(visit, (session) => new InnerSocket(session, this.#context));
    if (transport instanceof InnerSocket) return transport;
    throw new TypeError("Cannot open a session: it has another transport");
  }

  /** Closes all sessions; Socket.IO calls it. */
  close(): void {
    for (const session of [...this.#sessions.values()]) session.close();
  }

  /** Resolves when nothing of any session is left. */
  async untilEmpty(): Promise<void> {
    if (this.#sessions.size > 0) await new Promise<void>((resolve) => this.once("empty", resolve));
  }

  /** Ends what is left of all sessions at once. */
  terminate(): void {
    for (const session of [...this.#sessions.values()]) session.terminate();
  }

  #openPolling(arrival: Arrival, response: ServerResponse): undefined {
    const session = this.#open(arrival, (session) => new Polling(session, this.#context));
    if (session?.transport instanceof Polling) session.transport.ask(arrival.request, response);
  }

  #openWebSocket(arrival: Arrival, socket: Socket, head: Buffer): void {
    const webSocketOf = ({ account }: EngineSession) => new WebSocket(socket, account, this.#context);
    const session = this.#open(arrival, webSocketOf);
    if (!(session?.transport instanceof WebSocket)) return;
    session.transport.serve(session, session.outbox);
    session.transport.open(session, head);
  }

  #open(
    { request, query, address }: Visit,
    transport: (session: EngineSession) => EngineSession["transport"],
  ): EngineSession {
    const { headers, url } = request;
    const first: SessionRequest = { headers, url, _query: query, connection: NO_CONNECTION };
    const session = new EngineSession({ request: first, address, transport }, this.#context);
    this.#places.add(session, address);
    this.#sessions.set(session.id, session);
    const { pingIntervalMs: pingInterval, pingTimeoutMs: pingTimeout, maxPayloadBytes: maxPayload } =
      this.#context;
    const mayUpgrade = session.transport.name === "polling" && this.#context.allowsUpgrades;
    session.start({ upgrades: mayUpgrade ? ["websocket"] : [], pingInterval, pingTimeout, maxPayload });
    session.announce(() => void this.emit("connection", session));
    return session;
  }
}

/** Socket.IO asks it whether the connection is encrypted, and nobody reads the answer. */
const NO_CONNECTION = Object.freeze({});

/** Returns what is wrong with a request, as the protocol of Engine.IO asks for. */
function problemOf({ request, query }: Arrival): EngineError | undefined {
  const { transport, sid, EIO } = query;
  if (transport !== "polling" && transport !== "websocket") return EngineError.unknownTransport;
  if (sid) return EIO === VERSION ? undefined : EngineError.badRequest;
  if (request.method !== "GET") return EngineError.badMethod;
  if (transport === "websocket") return EngineError.badRequest;
  return EIO === VERSION ? undefined : EngineError.unsupportedVersion;
}
