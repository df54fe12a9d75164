/** A peer of the Server made of nothing but socket.io-client, so that tests see the wire and not our own client. */
import { EventEmitter } from "node:events";
import {
  io,
  type ManagerOptions,
  NodeWebSocket,
  NodeXHR,
  type Socket,
  type SocketOptions,
} from "socket.io-client";
import { settledWithin } from "../../src/async/abortable.ts";
import type { LogFields, Logger } from "../../src/log.ts";
import { within } from "../fixtures/within.ts";

/** How a test connects. */
export interface PeerOptions {
  readonly auth?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** What to announce; `0.2.0` by default, nothing for `null`. */
  readonly version?: string | null;
  readonly transports?: readonly ("polling" | "websocket")[];
  readonly namespace?: string;
  readonly path?: string;
}

/** A membership to ask for. */
export interface Membership {
  readonly role: "agent" | "computer";
  readonly name: string;
  readonly office_id: string;
}

type Arrival = readonly [event: string, ...args: unknown[]];

/** A connected peer that remembers every event it got. */
export class RawPeer implements AsyncDisposable {
  readonly socket: Socket;
  /** Events without an ack, oldest first: each an event's name and its arguments. */
  readonly arrivals: Arrival[] = [];
  /** Resolves to the reason once the connection is gone. */
  readonly disconnected: Promise<string>;
  readonly #engineClosed: Promise<void>;
  #closeTransport: () => Promise<void>;
  readonly #waiting = new Map<string, ((body: unknown) => void)[]>();
  readonly #taken = new Map<string, number>();

  private constructor(socket: Socket) {
    this.socket = socket;
    this.disconnected = new Promise((resolve) => socket.once("disconnect", (reason) => resolve(reason)));
    const { engine } = socket.io;
    this.#engineClosed = new Promise((resolve) => engine.once("close", () => resolve()));
    this.#closeTransport = closingOf(engine.transport);
    engine.once("upgrade", (transport) => void (this.#closeTransport = closingOf(transport)));
    socket.onAny((event: string, ...args: unknown[]) => {
      if (typeof args.at(-1) !== "function") this.#arrive([event, ...args]);
    });
  }

  /** Connects, over websocket unless told otherwise; throws the `connect_error` of a refused connection. */
  static async connect(url: string, options: PeerOptions = {}): Promise<RawPeer> {
    const socket = io(new URL(options.namespace ?? "/smcp", url).href, toSocketOptions(options));
    const connected = new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("connect_error", reject);
    });
    socket.connect();
    const { engine } = socket.io;
    try {
      await connected;
    } catch (error) {
      const closed = new Promise<void>((resolve) => engine.once("close", () => resolve()));
      const closeTransport = closingOf(engine.transport);
      if (engine.readyState === "open") {
        socket.io.engine.close();
        await closed;
      }
      await closeTransport();
      throw error;
    }
    return new RawPeer(socket);
  }

  /** Connects and joins. */
  static async join(url: string, membership: Membership, options: PeerOptions = {}): Promise<RawPeer> {
    const peer = await RawPeer.connect(url, options);
    const answer = await peer.request("server:join_office", membership);
    if (answer[0] === true) return peer;
    await peer[Symbol.asyncDispose]();
    throw new TypeError(`Cannot join: ${answer[1]}`);
  }

  get id(): string {
    return String(this.socket.id);
  }

  /** Sends an event and resolves to all arguments of its ack. */
  request(event: string, ...args: unknown[]): Promise<unknown[]> {
    const answered = new Promise<unknown[]>((resolve, reject) => {
      const onLost = (reason: string) => reject(new TypeError(`Cannot get an answer: ${reason}`));
      this.socket.once("disconnect", onLost);
      this.socket.emit(event, ...args, (...answer: unknown[]) => {
        this.socket.off("disconnect", onLost);
        resolve(answer);
      });
    });
    return within(answered, `the answer to "${event}"`);
  }

  /** Answers requests of one event with what `answer` returns: the arguments of the ack. */
  serve(event: string, answer: (body: unknown) => unknown[] | Promise<unknown[]>): void {
    this.socket.on(event, async (body: unknown, ack?: (...args: unknown[]) => void) => {
      ack?.(...await answer(body));
    });
  }

  /** Takes requests of one event and never answers; resolves to the next request's body. */
  nextRequest(event: string): Promise<unknown> {
    const asked = new Promise((resolve) => this.socket.once(event, (body: unknown) => resolve(body)));
    return within(asked, `a request "${event}"`);
  }

  /** The next event of that name that has not been taken yet. */
  next(event: string): Promise<unknown> {
    const taken = this.#taken.get(event) ?? 0;
    this.#taken.set(event, taken + 1);
    const already = this.arrivals.filter(([name]) => name === event)[taken];
    if (already !== undefined) return Promise.resolve(already[1]);
    const waiting = this.#waiting.get(event) ?? [];
    this.#waiting.set(event, waiting);
    return within(new Promise((resolve) => void waiting.push(resolve)), `the event "${event}"`);
  }

  /** All events that the Server has sent before this: an answer comes after what was sent earlier. */
  async settled(): Promise<readonly Arrival[]> {
    await this.request("server:list_room", { agent: "settled", req_id: "settled", office_id: "settled" });
    return this.arrivals;
  }

  /** Writes a packet of the Socket.IO protocol by hand, past all checks of the client. */
  writeRaw(packet: string): void {
    this.socket.io.engine.write(packet);
  }

  /** Cuts the wire without a word, as a lost network does once it is noticed. */
  async cut(): Promise<void> {
    this.socket.io.engine.close();
    await this.#engineClosed;
  }

  /** Says good-bye and waits until the connection is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.disconnect();
    this.socket.io.engine.close();
    await this.#engineClosed;
    await this.#closeTransport();
  }

  #arrive(arrival: Arrival): void {
    this.arrivals.push(arrival);
    this.#waiting.get(arrival[0])?.shift()?.(arrival[1]);
  }
}

/** How long a Server may take to close its side of a WebSocket; not all of these tests close theirs. */
const MAX_CLOSING_MS = 1_000;

/** Polling that knows its requests: the client forgets them when it closes, and each may set a timer as it ends. */
class WatchedPolling extends NodeXHR {
  readonly #ends: Promise<void>[] = [];

  override request(options?: Record<string, unknown>): ReturnType<NodeXHR["request"]> {
    const request = super.request(options);
    this.#ends.push(
      new Promise((resolve) => {
        request.once("success", () => resolve());
        request.once("error", () => resolve());
      }),
    );
    return request;
  }

  async ended(): Promise<void> {
    await within(Promise.all(this.#ends), "the end of the requests of a polling connection");
  }
}

/** The client says that it has closed before its WebSocket has, which has a timer until then; so may each poll. */
function closingOf(transport: object): () => Promise<void> {
  if (transport instanceof WatchedPolling) return () => transport.ended();
  const webSocket: unknown = Reflect.get(transport, "ws");
  if (!(webSocket instanceof EventEmitter) || Reflect.get(webSocket, "readyState") === WebSocket.CLOSED) {
    return () => Promise.resolve();
  }
  const closed = new Promise<void>((resolve) => webSocket.once("close", () => resolve()));
  return async () => {
    if (await settledWithin(closed.then(() => true), MAX_CLOSING_MS)) return;
    Reflect.apply(Reflect.get(webSocket, "terminate"), webSocket, []);
    await closed;
  };
}

const TRANSPORTS = { polling: WatchedPolling, websocket: NodeWebSocket };

function toSocketOptions(options: PeerOptions): Partial<ManagerOptions & SocketOptions> {
  const { version = "0.2.0" } = options;
  return {
    path: options.path ?? "/socket.io/",
    transports: (options.transports ?? ["websocket"]).map((name) => TRANSPORTS[name]),
    query: version === null ? {} : { a2c_version: version },
    auth: { ...options.auth },
    extraHeaders: { ...options.headers },
    forceNew: true,
    reconnection: false,
    autoConnect: false,
  };
}

/** One line of a {@linkcode RecordingLogger}. */
export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: LogFields;
}

/** A logger that a test can read. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = [];

  debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: "debug", message, fields });
  }
  info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: "info", message, fields });
  }
  warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: "warn", message, fields });
  }
  error(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: "error", message, fields });
  }
}
