/** One connection to a Server. */
import { io, type ManagerOptions, NodeWebSocket, type Socket } from "socket.io-client";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { CONNECTION_CLOSING_NOTIFICATION, SMCP_NAMESPACE } from "../protocol/events.ts";
import { type Farewell, readClosingNotification } from "../protocol/farewell.ts";
import { ConnectionClosedError, RequestTimeoutError } from "../protocol/local_errors.ts";
import { parseServerAddress } from "../protocol/server_address.ts";
import { assertFits } from "../protocol/message_bounds.ts";
import {
  DEFAULT_PROTOCOL,
  PROTOCOL_VERSIONS,
  type ProtocolMinor,
  VERSION_QUERY_PARAMETER,
} from "../protocol/version.ts";
import { type ConnectFailure, refusesPolling, toConnectError, unreachable } from "./connect_failure.ts";
import { type PlatformOption, UNSUPPORTED_OPTIONS } from "./http_request.ts";
import { StrictPolling } from "./polling.ts";

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
  /** Closes for its users at once. Resolves when earlier data has been sent, or after a second. */
  close(): Promise<void>;
}

export interface AttemptContext {
  readonly onEvent: (incoming: IncomingEvent) => void;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
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
  try {
    return await openWith([StrictPolling, NodeWebSocket], options, context);
  } catch (error) {
    if (!(error instanceof PollingRefusedError)) throw error;
    const timeoutMs = Math.max(1, context.timeoutMs - (performance.now() - startMs));
    return await openWith([NodeWebSocket], options, { ...context, timeoutMs });
  }
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

type Transports = NonNullable<ManagerOptions["transports"]>;

function openWith(
  transports: Transports,
  options: ConnectOptions,
  context: AttemptContext,
): Promise<Connection> {
  const { onEvent, signal, timeoutMs } = context;
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const { url } = options;
  const { origin, path } = parseServerAddress(url, options.path);
  const version = PROTOCOL_VERSIONS[options.protocolVersion ?? DEFAULT_PROTOCOL];
  const target = { url, requested: `${origin}${path}`, version };
  const socket = io(`${origin}${SMCP_NAMESPACE}`, {
    path,
    query: { [VERSION_QUERY_PARAMETER]: version },
    auth: { ...options.auth },
    extraHeaders: { ...options.headers },
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    transports,
    forceNew: true,
    reconnection: false,
    autoConnect: false,
    timeout: timeoutMs,
  });
  let maxPayloadBytes = DEFAULT_MAX_PAYLOAD_BYTES;
  const closed = Promise.withResolvers<ConnectionEnd>();
  const dismissed = Promise.withResolvers<Farewell>();
  let farewell: Farewell | undefined;
  // Only a peer that breaks the protocol sends any, so that other messages are not searched for bytes.
  let hasSeenBytes = false;

  const fail = (error: unknown) => {
    void closeSocket(socket);
    reject(error);
  };
  const hasPolling = transports.length > 1;
  const toFailure = (error: ConnectFailure) => {
    if (hasPolling && refusesPolling(error)) return new PollingRefusedError("Polling is not served");
    return toConnectError(error, { ...target, hasPolling, hasCa: options.ca !== undefined });
  };
  const onAbort = () => fail(signal.reason);
  // Socket.IO has no time-out for the answer to CONNECT: its own ends with the transport's handshake.
  const timer = setTimeout(
    () => fail(unreachable(url, "no answer in time (timeout)")),
    timeoutMs,
  );
  const settle = () => {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  };
  promise.then(settle, settle);
  if (signal.aborted) {
    onAbort();
    return promise;
  }
  signal.addEventListener("abort", onAbort, { once: true });

  socket.on(
    "connect",
    () => {
      void closed.promise.then(closeWhenHidden(socket));
      const ends = { closed: closed.promise, dismissed: dismissed.promise };
      const state = { said: () => farewell, mayHoldBytes: () => hasSeenBytes };
      resolve(toConnection(socket, { ...ends, maxPayloadBytes, ...state }));
    },
  );
  socket.on("connect_error", (error) => fail(toFailure(error)));
  socket.on("disconnect", (reason) => {
    void closeSocket(socket);
    const end = { reason: farewell?.message ?? reason, farewell };
    closed.resolve(end);
    reject(unreachable(url, `connection closed (${end.reason})`));
  });
  socket.onAny((event: unknown, ...args: unknown[]) => {
    // Socket.IO also allows numbers as event names.
    if (typeof event !== "string") return;
    if (event === CONNECTION_CLOSING_NOTIFICATION) {
      farewell = readClosingNotification(args[0]);
      if (farewell !== undefined) dismissed.resolve(farewell);
      return;
    }
    const acknowledge = args.at(-1);
    const reply = (answer: unknown) => {
      assertFits(answer, maxPayloadBytes);
      if (typeof acknowledge === "function") acknowledge(answer);
    };
    onEvent({
      event,
      // Bytes are no message of the protocol: whoever reads the event refuses it as one without a body.
      body: typeof args[0] === "function" || (hasSeenBytes && holdsBytes(args[0])) ? undefined : args[0],
      reply: typeof acknowledge === "function" ? reply : undefined,
      maxAnswerBytes: maxPayloadBytes,
    });
  });
  socket.connect();
  socket.io.engine.on("data", (data) => hasSeenBytes ||= typeof data !== "string");
  socket.io.engine.once("handshake", (handshake) => {
    const { maxPayload } = handshake;
    if (typeof maxPayload === "number" && maxPayload > 0) maxPayloadBytes = maxPayload;
  });
  return promise;
}

/**
 * Closes the connection of a web page that is left. The browser may keep the page to come back to, frozen and with its
 * connection: nobody else would get its seat until the Server misses a pong. A page that comes back reconnects.
 *
 * @return Stops that.
 */
function closeWhenHidden(socket: Socket): () => void {
  const onHidden = () => void closeSocket(socket);
  // Node has no such events, although the types say so.
  globalThis.addEventListener?.("pagehide", onHidden);
  return () => globalThis.removeEventListener?.("pagehide", onHidden);
}

function toConnection(
  socket: Socket,
  facts: Pick<Connection, "closed" | "dismissed" | "maxPayloadBytes"> & {
    readonly said: () => Farewell | undefined;
    readonly mayHoldBytes: () => boolean;
  },
): Connection {
  const { closed, dismissed, maxPayloadBytes, said, mayHoldBytes } = facts;
  return {
    closed,
    dismissed,
    maxPayloadBytes,
    emit(event, body) {
      assertFits(body, maxPayloadBytes);
      if (socket.connected) socket.emit(event, body);
    },
    request(event, body, timeoutMs) {
      return new Promise((resolve, reject) => {
        assertFits(body, maxPayloadBytes);
        if (!socket.connected) {
          return reject(new ConnectionClosedError(`Cannot send "${event}": not connected`));
        }
        socket.timeout(timeoutMs).emit(event, body, (error: Error | null, ...answer: unknown[]) => {
          if (error === null && mayHoldBytes() && holdsBytes(answer)) return reject(bytesInAnswer(event));
          if (error === null) return resolve(answer);
          reject(
            socket.connected
              ? new RequestTimeoutError(`Cannot complete "${event}": no answer in ${timeoutMs} ms`)
              : new ConnectionClosedError(`Cannot complete "${event}": ${lossOf(said())}`),
          );
        });
      });
    },
    close: () => closeSocket(socket),
  };
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

function lossOf(farewell: Farewell | undefined): string {
  return farewell === undefined ? "connection lost" : `the Server ended the connection (${farewell.message})`;
}

/** Socket.IO first sends queued data, such as a cancel or its own disconnect. A process must not end before. */
function closeSocket(socket: Socket): Promise<void> {
  const { engine } = socket.io;
  // A socket that never connected has no engine, although its type says so.
  if (engine === undefined || engine.readyState === "closed") {
    socket.disconnect();
    return Promise.resolve();
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, FLUSH_TIMEOUT_MS);
  engine.once("close", () => resolve());
  socket.disconnect();
  engine.close();
  return promise.finally(() => clearTimeout(timer));
}
