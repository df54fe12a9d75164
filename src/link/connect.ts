/** One connection to a Server. */
import { abortable } from "../async/abortable.ts";
import { withDeadline } from "../async/deadline.ts";
import { io, NodeWebSocket, type Socket } from "socket.io-client";
import { ErrorCode } from "../protocol/error_codes.ts";
import { assertFits, SmcpError } from "../protocol/errors.ts";
import { CONNECTION_CLOSING_NOTIFICATION, SMCP_NAMESPACE } from "../protocol/events.ts";
import { type Farewell, readClosingNotification } from "../protocol/farewell.ts";
import { ConnectionClosedError, RequestTimeoutError } from "./errors.ts";
import { parseServerAddress } from "../protocol/server_address.ts";
import {
  DEFAULT_PROTOCOL,
  PROTOCOL_VERSIONS,
  type ProtocolMinor,
  VERSION_QUERY_PARAMETER,
} from "../protocol/version.ts";
import {
  type ConnectFailure,
  type FailureContext,
  refusesPolling,
  toConnectError,
  unreachable,
} from "./connect_failure.ts";
import { type PlatformOption, UNSUPPORTED_OPTIONS } from "./http_request.ts";
import { pollingOf } from "./polling.ts";
import { type TransportOptions, webSocketOf } from "./websocket.ts";

/** How long closing waits for data that is still being sent, in milliseconds. */
const FLUSH_TIMEOUT_MS = 1_000;
/** The message limit of a Server that announces none: Socket.IO's default, in bytes. */
const DEFAULT_MAX_PAYLOAD_BYTES = 1_000_000;

export interface ConnectOptions {
  /** `http://host:port`; a path in it is the beginning of the Socket.IO path. */
  readonly url: string;
  /** The Socket.IO path below the URL; `/socket.io/` by default. */
  readonly path?: string | undefined;
  readonly auth?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The certificate authorities that may have signed the Server's certificate, as PEM; those of the runtime by default. */
  readonly ca?: string | undefined;
  /** The `MAJOR.MINOR` of the protocol to speak; `0.2` by default. */
  readonly protocolVersion?: ProtocolMinor | undefined;
}

/** An incoming event with its one argument, and the function that answers it where an ack was requested. */
export interface IncomingEvent {
  readonly event: string;
  readonly body: unknown;
  /** Sends the ack. Throws a 413 when the answer is too large, so that the caller can send a smaller one. */
  readonly reply: ((answer: unknown) => void) | undefined;
  /** The largest answer that may be sent, in bytes. */
  readonly maxAnswerBytes: number;
}

export interface ConnectionEnd {
  /** What the Server said, or else what Socket.IO reports, such as `transport close`. */
  readonly reason: string;
  /** What the Server said before it closed the connection, if it did. */
  readonly farewell?: Farewell | undefined;
  /** Whether a program on this machine has ended, by way of which the connection went; false by default. */
  readonly isLocal?: boolean | undefined;
  /** Whether this program has closed it itself, such as a web page that is left; false by default. */
  readonly isOwn?: boolean | undefined;
}

export interface Connection {
  /** Resolves when the Server says that it will end the connection. What is in flight may still finish. */
  readonly dismissed: Promise<Farewell>;
  /** Resolves when the connection has ended, on either side. */
  readonly closed: Promise<ConnectionEnd>;
  /** The largest message that the Server accepts, in bytes. */
  readonly maxPayloadBytes: number;
  /** Sends an event without an ack. Throws a 413 when it is too large. */
  emit(event: string, body: unknown): void;
  /**
   * Sends an event and resolves to the arguments of its ack.
   *
   * @throws {RequestTimeoutError} after `timeoutMs`.
   * @throws {ConnectionClosedError} at once when the connection is lost.
   * @throws {SmcpError} 413 when it is too large.
   */
  request(event: string, body: unknown, timeoutMs: number): Promise<readonly unknown[]>;
  /** Closes for its users at once. Resolves when it has ended: earlier data is sent for a second at most. */
  close(): Promise<void>;
}

export interface AttemptContext {
  readonly onEvent: (incoming: IncomingEvent) => void;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Called when the connection stays with polling, because no WebSocket could be opened. */
  readonly onNoWebSocket?: ((reason: string) => void) | undefined;
}

/** Opens one connection, as {@linkcode openConnection} does. */
export type OpenConnection = (options: ConnectOptions, context: AttemptContext) => Promise<Connection>;

/** Opens what works as a WebSocket to this URL, or refuses it as by an answer of HTTP. */
export type OpenSocket = (url: string) => { readonly socket: unknown } | { readonly refusal: FailureContext };

type Transports = ReturnType<typeof pollingOf | typeof webSocketOf>[];

/** How a connection is made. */
interface Way {
  readonly transports: (options: TransportOptions) => Transports;
  /** Whether the answer of HTTP to a failure is known. */
  readonly hasPolling: boolean;
}

/** The Server serves no polling: it has several processes behind a balancer without sticky sessions. */
class PollingRefusedError extends Error {
  override readonly name = "PollingRefusedError";
  readonly code = "POLLING_REFUSED";
}

/**
 * Opens one connection, polling first, without a retry. Where the Server answers that it serves WebSocket alone, that is
 * tried next.
 *
 * @throws {ProtocolVersionError} The Server does not accept our version. Final.
 * @throws {AuthenticationError} The Server refused the credentials. Final.
 * @throws {ServerUnreachableError} Any other cause; a retry may succeed unless `isPermanent`.
 * @throws {TypeError} The URL cannot be used, or an option cannot be honoured on this platform.
 */
export async function openConnection(options: ConnectOptions, context: AttemptContext): Promise<Connection> {
  assertSupported(options);
  const startMs = performance.now();
  const { origin } = parseServerAddress(options.url, options.path);
  const webSocket: Way["transports"] = (options) => [webSocketOf(origin, options)];
  const both: Way["transports"] = (options) => [pollingOf(options), ...webSocket(options)];
  try {
    return await SocketConnection.open({ transports: both, hasPolling: true }, options, context);
  } catch (error) {
    if (!(error instanceof PollingRefusedError)) throw error;
    const timeoutMs = Math.max(1, context.timeoutMs - (performance.now() - startMs));
    const way = { transports: webSocket, hasPolling: false };
    return await SocketConnection.open(way, options, { ...context, timeoutMs });
  }
}

/** Opens connections as {@linkcode openConnection} does, over other WebSockets than those of the network. */
export function connectionsOver(open: OpenSocket): OpenConnection {
  class GivenWebSocket extends NodeWebSocket {
    override createSocket(url: string): unknown {
      const opened = open(url);
      if ("socket" in opened) return opened.socket;
      // As from the network: never before the caller has its transport.
      queueMicrotask(() => this.onError("websocket error", undefined, opened.refusal));
      return { close() {} };
    }
  }
  return (options, context) =>
    SocketConnection.open({ transports: () => [GivenWebSocket], hasPolling: true }, options, context);
}

function assertSupported({ url, headers, ca }: ConnectOptions): void {
  const check = (option: PlatformOption, isGiven: boolean) => {
    const why = UNSUPPORTED_OPTIONS[option];
    if (isGiven && why !== undefined) {
      throw new TypeError(`Cannot connect to "${url}" with ${option}: ${why}`);
    }
  };
  check("headers", Object.keys(headers ?? {}).length > 0);
  check("ca", ca !== undefined);
}

/** One Socket.IO socket, from its first attempt to its end. */
class SocketConnection implements Connection {
  readonly #socket: Socket;
  readonly #onEvent: AttemptContext["onEvent"];
  readonly #opened = Promise.withResolvers<Connection>();
  readonly #closed = Promise.withResolvers<ConnectionEnd>();
  readonly #dismissed = Promise.withResolvers<Farewell>();
  readonly #toFailure: (failure: ConnectFailure) => Error;
  readonly #url: string;
  readonly #onNoWebSocket: () => void;
  readonly #abandoning = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  #isClosing = false;
  #webSocketFailure = "";
  #farewell: Farewell | undefined;
  /** Only a peer that breaks the protocol sends bytes, so that other messages are not searched for them. */
  #hasSeenBytes = false;
  maxPayloadBytes = DEFAULT_MAX_PAYLOAD_BYTES;

  private constructor(
    { transports, hasPolling }: Way,
    options: ConnectOptions,
    context: AttemptContext,
  ) {
    const { url, ca } = options;
    const { origin, path } = parseServerAddress(url, options.path);
    const version = PROTOCOL_VERSIONS[options.protocolVersion ?? DEFAULT_PROTOCOL];
    const target = { url, requested: `${origin}${path}`, version, hasPolling, hasCa: ca !== undefined };
    this.#url = url;
    this.#onEvent = context.onEvent;
    this.#onNoWebSocket = () => context.onNoWebSocket?.(this.#webSocketFailure);
    this.#toFailure = (failure) =>
      hasPolling && refusesPolling(failure)
        ? new PollingRefusedError("Polling is not served")
        : toConnectError(failure, target);
    this.#socket = io(`${origin}${SMCP_NAMESPACE}`, {
      path,
      query: { [VERSION_QUERY_PARAMETER]: version },
      auth: { ...options.auth },
      extraHeaders: { ...options.headers },
      ...(ca === undefined ? {} : { ca }),
      transports: transports({
        onFailure: (reason) => this.#webSocketFailure = reason,
        abandon: this.#abandoning.signal,
      }),
      forceNew: true,
      reconnection: false,
      autoConnect: false,
      timeout: context.timeoutMs,
    });
  }

  static async open(
    way: Way,
    options: ConnectOptions,
    context: AttemptContext,
  ): Promise<Connection> {
    const { signal, timeoutMs } = context;
    signal.throwIfAborted();
    const connection = new SocketConnection(way, options, context);
    // Socket.IO has no time-out for the answer to CONNECT: its own ends with the transport's handshake.
    const reason = () => unreachable(options.url, "no answer in time (timeout)");
    try {
      return await withDeadline(timeoutMs, { reason, signal }, (signal) => {
        connection.#connect();
        return abortable(connection.#opened.promise, signal);
      });
    } catch (error) {
      void connection.close();
      throw error;
    }
  }

  get dismissed(): Promise<Farewell> {
    return this.#dismissed.promise;
  }

  get closed(): Promise<ConnectionEnd> {
    return this.#closed.promise;
  }

  emit(event: string, body: unknown): void {
    assertFits(body, this.maxPayloadBytes);
    if (this.#socket.connected) this.#socket.emit(event, body);
  }

  request(event: string, body: unknown, timeoutMs: number): Promise<readonly unknown[]> {
    return new Promise((resolve, reject) => {
      assertFits(body, this.maxPayloadBytes);
      if (!this.#socket.connected) {
        return reject(new ConnectionClosedError(`Cannot send "${event}": not connected`, { isUnsent: true }));
      }
      const socket = this.#socket;
      const kept = socket.sendBuffer.length;
      // What cannot be written as JSON throws, and the connection's end is still told to its callback.
      let isUnsent = false;
      socket.timeout(timeoutMs).emit(event, body, (error: Error | null, ...answer: unknown[]) => {
        if (error !== null) return reject(this.#toLoss(event, { timeoutMs, isUnsent }));
        if (this.#hasSeenBytes && holdsBytes(answer)) return reject(bytesInAnswer(event));
        resolve(answer);
      });
      // After a sleep, the time of a ping is over: the connection is about to end.
      isUnsent = socket.sendBuffer.length > kept;
    });
  }

  close(): Promise<void> {
    if (!this.#isClosing) {
      this.#isClosing = true;
      this.#end();
    }
    return this.#ended.promise;
  }

  /** Socket.IO first sends queued data, such as a cancel or its own disconnect. A process must not end before. */
  #end(): void {
    const socket = this.#socket;
    const { engine } = socket.io;
    // A socket that never connected has no engine, although its type says so.
    if (engine === undefined || engine.readyState === "closed") {
      socket.disconnect();
      return this.#ended.resolve();
    }
    const timer = setTimeout(() => this.#abandoning.abort(), FLUSH_TIMEOUT_MS);
    engine.once("close", () => {
      clearTimeout(timer);
      this.#ended.resolve();
    });
    socket.disconnect();
    engine.close();
  }

  #connect(): void {
    const socket = this.#socket;
    socket.on("connect", () => {
      this.#closeWhenHidden();
      this.#opened.resolve(this);
    });
    socket.on("connect_error", (failure) => this.#opened.reject(this.#toFailure(failure)));
    socket.on("disconnect", (reason) => {
      // There is no next connection of this socket: whoever sent what is kept learns it now.
      socket.sendBuffer = [];
      void this.close();
      const isOwn = reason === "io client disconnect";
      const end = { reason: this.#farewell?.message ?? reason, farewell: this.#farewell, isOwn };
      this.#closed.resolve(end);
      this.#opened.reject(unreachable(this.#url, `connection closed (${end.reason})`));
    });
    // Socket.IO also allows numbers as event names.
    socket.onAny((event: unknown, ...args: unknown[]) => {
      if (typeof event === "string") this.#receive(event, args);
    });
    socket.connect();
    socket.io.engine.on("data", (data) => this.#hasSeenBytes ||= typeof data !== "string");
    socket.io.engine.once("upgradeError", () => {
      if (socket.io.engine.readyState === "open") this.#onNoWebSocket();
    });
    socket.io.engine.once("handshake", ({ maxPayload }) => {
      if (typeof maxPayload === "number" && maxPayload > 0) this.maxPayloadBytes = maxPayload;
    });
  }

  #receive(event: string, args: readonly unknown[]): void {
    const [body] = args;
    if (event === CONNECTION_CLOSING_NOTIFICATION) {
      this.#farewell = readClosingNotification(body);
      if (this.#farewell !== undefined) this.#dismissed.resolve(this.#farewell);
      return;
    }
    const acknowledge = args.at(-1);
    const reply = (answer: unknown) => {
      assertFits(answer, this.maxPayloadBytes);
      if (typeof acknowledge === "function") acknowledge(answer);
    };
    this.#onEvent({
      event,
      // Bytes are no message of the protocol: whoever reads the event refuses it as one without a body.
      body: typeof body === "function" || (this.#hasSeenBytes && holdsBytes(body)) ? undefined : body,
      reply: typeof acknowledge === "function" ? reply : undefined,
      maxAnswerBytes: this.maxPayloadBytes,
    });
  }

  /**
   * Closes the connection of a web page that is left. The browser may keep the page to come back to, frozen and with its
   * connection: nobody else would get its seat until the Server misses a pong. A page that comes back reconnects.
   */
  #closeWhenHidden(): void {
    const onHidden = () => void this.close();
    // Node has no such events, although the types say so.
    globalThis.addEventListener?.("pagehide", onHidden);
    void this.#closed.promise.then(() => globalThis.removeEventListener?.("pagehide", onHidden));
  }

  #toLoss(
    event: string,
    { timeoutMs, isUnsent }: { readonly timeoutMs: number; readonly isUnsent: boolean },
  ): Error {
    const what = `Cannot complete "${event}"`;
    if (this.#socket.connected) return new RequestTimeoutError(`${what}: no answer in ${timeoutMs} ms`);
    const said = this.#farewell;
    const why = said === undefined ? "connection lost" : `the Server ended the connection (${said.message})`;
    return new ConnectionClosedError(`${what}: ${why}`, { isUnsent });
  }
}

/**
 * Whether a message holds bytes, which Socket.IO carries beside the JSON. Everything in the protocol is text, and a reader
 * that expects an object would look at each byte as a member.
 */
function holdsBytes(message: unknown): boolean {
  const waiting = [message];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== "object" || value === null) continue;
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Blob) return true;
    for (const member of Array.isArray(value) ? value : Object.values(value)) waiting.push(member);
  }
  return false;
}

function bytesInAnswer(event: string): SmcpError {
  const why = "it holds bytes in place of text";
  return new SmcpError(ErrorCode.INTERNAL_ERROR, `Cannot read the answer to "${event}": ${why}`);
}
