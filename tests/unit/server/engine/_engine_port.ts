/** An engine behind a port of its own, without Socket.IO, whose clock a test moves. */
import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http";
import { BoundedLog } from "../../../../src/bounded_log.ts";
import { silentLogger } from "../../../../src/log.ts";
import { type Arrival, Engine } from "../../../../src/server/engine/engine.ts";
import type { Incoming } from "../../../../src/server/engine/incoming.ts";
import type { EngineSession } from "../../../../src/server/engine/session.ts";
import { Timeouts } from "../../../../src/async/timeouts.ts";
import {
  exchange,
  frame,
  type RawAnswer,
  RawConnection,
  type RawRequest,
  toText,
  UPGRADE_HEADERS,
} from "../../../attacks/_raw_http.ts";
import { eventually, within } from "../../../fixtures/within.ts";
import { ManualClock } from "../../async/_manual_clock.ts";

export const PING_INTERVAL_MS = 25_000;
export const PING_TIMEOUT_MS = 20_000;
export const MAX_PAYLOAD_BYTES = 1024 * 1024;
/** What a time-out may be late. */
export const TICK_MS = 50;

export class EnginePort implements AsyncDisposable {
  readonly clock = new ManualClock();
  readonly engine: Engine;
  /** The last request over polling. */
  request: IncomingMessage | undefined;
  /** The requests over polling so far. */
  requests = 0;
  readonly #http: HttpServer;
  readonly #timeouts = new Timeouts(this.clock);
  #opened: EngineSession | undefined;

  private constructor({ admits }: { readonly admits: boolean }) {
    this.engine = new Engine({
      maxPayloadBytes: MAX_PAYLOAD_BYTES,
      maxMessageMemoryBytes: 64 * MAX_PAYLOAD_BYTES,
      pingIntervalMs: PING_INTERVAL_MS,
      pingTimeoutMs: PING_TIMEOUT_MS,
      connectTimeoutMs: 60_000,
      authTimeoutMs: 60_000,
      maxPendingConnections: 1,
      maxPendingConnectionsPerAddress: 1,
      allowsUpgrades: true,
      timeouts: this.#timeouts,
      refusals: new BoundedLog(silentLogger, { buckets: [], about: "connections" }),
      onAdopted() {},
    });
    this.engine.on("connection", (session: EngineSession) => {
      this.#opened = session;
      if (admits) session.admit({ incompleteBytes: 0 }, { sid: session.id, principal: "ada" });
    });
    this.#http = createServer((request, response) => {
      this.request = request;
      this.requests++;
      const error = this.engine.poll(this.#toArrival(request), response);
      if (error !== undefined) response.writeHead(400).end(JSON.stringify(error));
    });
    this.#http.on("upgrade", (request, socket, head) => {
      if (this.engine.upgrade(this.#toArrival(request), socket, head) !== undefined) socket.destroy();
    });
  }

  /** @param options `admits`: whether each session is admitted at once; `true` by default. */
  static async open({ admits = true } = {}): Promise<EnginePort> {
    const port = new EnginePort({ admits });
    await new Promise<void>((resolve) => port.#http.listen(0, "127.0.0.1", resolve));
    return port;
  }

  get port(): number {
    const address = this.#http.address();
    if (typeof address === "string" || address === null) throw new TypeError("Not listening");
    return address.port;
  }

  /** Opens a session over polling. */
  async openPolling(): Promise<PolledSession> {
    const { body } = await exchange(this.port, { target: targetOf("polling") });
    const session = this.#opened;
    if (session === undefined) throw new TypeError(`Cannot open a session: ${body}`);
    await settled(() => session.outbox.waitingBytes === 0, "the first answer to be read");
    return new PolledSession(this, session);
  }

  /** Opens a session over a WebSocket. */
  async openWebSocket(): Promise<{ readonly session: EngineSession; readonly connection: RawConnection }> {
    const connection = this.connect(targetOf("websocket"));
    await connection.until("the first packet", (text) => text.includes('{"sid"'));
    const session = this.#opened;
    if (session === undefined) throw new TypeError("Cannot open a session");
    await settled(() => session.outbox.waitingBytes === 0, "the first packet to be written");
    return { session, connection };
  }

  connect(target: string): RawConnection {
    const connection = new RawConnection(this.port);
    connection.write(toText(this.port, { target, headers: UPGRADE_HEADERS }));
    return connection;
  }

  /** Resolves when no session is left, and no byte of a message. */
  async untilEmpty(): Promise<void> {
    const { engine } = this;
    await settled(() => engine.size === 0 && engine.budget.usedBytes === 0, "the end of all sessions");
  }

  #toArrival(request: IncomingMessage): Arrival {
    const query = Object.fromEntries(new URL(request.url ?? "/", "http://localhost").searchParams);
    const session = this.engine.find(query);
    return { request, query, address: "192.0.2.1", forwarded: undefined, session };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.engine.terminate();
    this.#timeouts.clear();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}

/** A session over polling, and its client. */
export class PolledSession {
  readonly session: EngineSession;
  readonly target: string;
  readonly messages: Incoming[] = [];
  readonly #ended: Promise<string>;
  readonly #port: EnginePort;

  constructor(port: EnginePort, session: EngineSession) {
    this.#port = port;
    this.session = session;
    this.target = `${targetOf("polling")}&sid=${session.id}`;
    this.#ended = endOf(session);
    session.on("data", (message: Incoming) => this.messages.push(message));
  }

  /** Resolves to the reason for which the session ends. */
  get ended(): Promise<string> {
    return within(this.#ended, "the end of the session");
  }

  ask(request: Partial<RawRequest> = {}): Promise<RawAnswer> {
    return within(exchange(this.#port.port, { target: this.target, ...request }), "an answer");
  }

  /** Asks for packets that are not there yet; `answer` resolves when they are. */
  async wait(request: Partial<RawRequest> = {}): Promise<{ readonly answer: Promise<RawAnswer> }> {
    const { requests } = this.#port;
    const answer = this.ask(request);
    await settled(() => this.#port.requests > requests, "the poll to wait");
    return { answer };
  }

  post(body: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
    return this.ask({ method: "POST", body, headers });
  }

  /** Begins a POST whose body does not arrive as a whole. */
  async beginPost(): Promise<RawConnection> {
    const connection = new RawConnection(this.#port.port);
    const headers = { "Content-Length": "1000" };
    connection.write(toText(this.#port.port, { method: "POST", target: this.target, headers, body: "4abc" }));
    await settled(() => this.#port.engine.budget.usedBytes > 0, "the beginning of the body");
    return connection;
  }

  /** Begins an upgrade, up to the answer to the probe. */
  async probe(): Promise<RawConnection> {
    const connection = this.#port.connect(this.target.replace("polling", "websocket"));
    await connection.until("the handshake", (text) => text.includes("101 "));
    connection.write(frame("2probe"));
    await connection.until("the answer to the probe", (text) => text.includes("3probe"));
    return connection;
  }
}

/** Resolves to the reason for which a session ends. */
export function endOf(session: EngineSession): Promise<string> {
  return new Promise((resolve) => session.on("close", resolve));
}

export async function settled(isDone: () => boolean, what: string): Promise<void> {
  await eventually(isDone, (value) => value, what);
}

function targetOf(transport: "polling" | "websocket"): string {
  return `/socket.io/?EIO=4&transport=${transport}`;
}
