/** One connection to a Server: the only importer of socket.io-client. */
import { io, type Socket } from "socket.io-client";
import { isRecord } from "../protocol/errors.ts";
import { SMCP_NAMESPACE } from "../protocol/events.ts";
import { parseJson } from "../protocol/json.ts";
import {
  AuthenticationError,
  ConnectionClosedError,
  ProtocolVersionError,
  RequestTimeoutError,
  ServerUnreachableError,
  type VersionRefusal,
} from "../protocol/local_errors.ts";
import { assertFits } from "../protocol/size.ts";
import { PROTOCOL_VERSION, VERSION_QUERY_PARAMETER } from "../protocol/version.ts";

/** Time for what was already sent to leave before a connection is cut. */
const FLUSH_TIMEOUT_MS = 1_000;
/** What a Server that does not say so accepts in one message: Socket.IO's own default. */
const DEFAULT_MAX_PAYLOAD_BYTES = 1_000_000;

/** Where and as whom to connect. */
export interface ConnectOptions {
  /** `http://host:port`. */
  readonly url: string;
  /** The Socket.IO path; `/socket.io/` by default. */
  readonly path?: string | undefined;
  /** The Socket.IO `auth` object. */
  readonly auth?: Readonly<Record<string, unknown>> | undefined;
  /** HTTP headers of the handshake. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What arrives: an event, its one argument, and how to answer when an answer was asked for. */
export interface IncomingEvent {
  readonly event: string;
  readonly body: unknown;
  /** Throws a 413 when the answer is too large for the connection, so that a smaller one can be sent. */
  readonly reply: ((answer: unknown) => void) | undefined;
}

/** An open connection. */
export interface Connection {
  /** Resolves to the reason once the connection is gone, closed by us or not. */
  readonly closed: Promise<string>;
  /** The largest message that the Server accepts. */
  readonly maxPayloadBytes: number;
  /** Sends an event that nobody answers. Throws a 413 when it is too large. */
  emit(event: string, body: unknown): void;
  /**
   * Sends an event and resolves to the arguments of its ack.
   *
   * @throws {RequestTimeoutError} after `timeoutMs`.
   * @throws {ConnectionClosedError} at once when the connection is lost.
   * @throws {SmcpError} 413 when it is too large.
   */
  request(event: string, body: unknown, timeoutMs: number): Promise<readonly unknown[]>;
  /** Closes at once for whoever uses it; resolves when what was sent before has left, or after a second. */
  close(): Promise<void>;
}

/**
 * Opens one connection, polling first, and does not try again.
 *
 * @throws {ProtocolVersionError} The Server does not accept our version. Final.
 * @throws {AuthenticationError} The Server refused the credentials. Final.
 * @throws {ServerUnreachableError} Anything else; worth another try.
 */
export function openConnection(
  options: ConnectOptions,
  context: {
    readonly onEvent: (incoming: IncomingEvent) => void;
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
  },
): Promise<Connection> {
  const { onEvent, signal, timeoutMs } = context;
  const { promise, resolve, reject } = Promise.withResolvers<Connection>();
  const socket = io(new URL(SMCP_NAMESPACE, options.url).href, {
    path: options.path ?? "/socket.io/",
    query: { [VERSION_QUERY_PARAMETER]: PROTOCOL_VERSION },
    auth: { ...options.auth },
    extraHeaders: { ...options.headers },
    forceNew: true,
    reconnection: false,
    autoConnect: false,
    timeout: timeoutMs,
  });
  let maxPayloadBytes = DEFAULT_MAX_PAYLOAD_BYTES;
  const closed = Promise.withResolvers<string>();

  const fail = (error: unknown) => {
    void closeSocket(socket);
    reject(error);
  };
  const onAbort = () => fail(signal.reason);
  // The namespace's answer has no deadline of its own in Socket.IO: the transport's ends with the handshake.
  const timer = setTimeout(
    () => fail(new ServerUnreachableError(unreachable(options.url, "timeout"))),
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

  socket.on("connect", () => resolve(toConnection(socket, { closed: closed.promise, maxPayloadBytes })));
  socket.on("connect_error", (error) => fail(classifyConnectError(error, options.url)));
  socket.on("disconnect", (reason) => {
    void closeSocket(socket);
    closed.resolve(reason);
    reject(new ServerUnreachableError(unreachable(options.url, reason)));
  });
  socket.onAny((event: string, ...args: unknown[]) => {
    const acknowledge = args.at(-1);
    const reply = (answer: unknown) => {
      assertFits(answer, maxPayloadBytes);
      if (typeof acknowledge === "function") acknowledge(answer);
    };
    onEvent({
      event,
      body: typeof args[0] === "function" ? undefined : args[0],
      reply: typeof acknowledge === "function" ? reply : undefined,
    });
  });
  socket.connect();
  socket.io.engine.once("handshake", (handshake) => {
    const { maxPayload } = handshake;
    if (typeof maxPayload === "number" && maxPayload > 0) maxPayloadBytes = maxPayload;
  });
  return promise;
}

function toConnection(
  socket: Socket,
  facts: Pick<Connection, "closed" | "maxPayloadBytes">,
): Connection {
  const { maxPayloadBytes } = facts;
  return {
    ...facts,
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
          if (error === null) return resolve(answer);
          reject(
            socket.connected
              ? new RequestTimeoutError(`Cannot complete "${event}": no answer in ${timeoutMs} ms`)
              : new ConnectionClosedError(`Cannot complete "${event}": connection lost`),
          );
        });
      });
    },
    close: () => closeSocket(socket),
  };
}

/** Socket.IO first sends what waits, a cancel or its own farewell; whoever ends the process must let it. */
function closeSocket(socket: Socket): Promise<void> {
  const { engine } = socket.io;
  // A socket that never connected has no engine, whatever its type says.
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

/** An engine error, as far as we look: what the XHR transport leaves of the Server's HTTP answer. */
interface TransportError {
  readonly context?: { readonly status?: number; readonly responseText?: unknown } | undefined;
}

/**
 * Tells a final refusal from a Server that is out of reach. The body of an HTTP refusal is readable only while the
 * `connect_error` listener runs.
 */
function classifyConnectError(
  error: Error & TransportError & { readonly data?: unknown },
  url: string,
): Error {
  const refusal = readVersionRefusal(error.context);
  if (refusal !== undefined) return new ProtocolVersionError(versionMessage(refusal), refusal);
  const isConnectErrorPacket = !("type" in error) && error.message !== "timeout";
  if (isConnectErrorPacket) {
    return new AuthenticationError(`Cannot connect to "${url}": refused by the Server (${error.message})`, {
      cause: error,
    });
  }
  return new ServerUnreachableError(unreachable(url, transportReason(error)), { cause: error });
}

function readVersionRefusal(context: TransportError["context"]): VersionRefusal | undefined {
  if (context?.status !== 400 || typeof context.responseText !== "string") return undefined;
  const body = parseJson(context.responseText);
  if (!isRecord(body) || (body["code"] !== 4008 && body["code"] !== 400)) return undefined;
  const { code, message } = body;
  const text = (key: string) => typeof body[key] === "string" ? { [key]: body[key] } : {};
  return {
    code,
    message: typeof message === "string" ? message : "Protocol version refused",
    ...text("server_version"),
    ...text("client_version"),
    ...text("min_supported"),
    ...text("max_supported"),
  };
}

function versionMessage(refusal: VersionRefusal): string {
  const { server_version, min_supported, max_supported } = refusal;
  const speaks = server_version === undefined
    ? ""
    : `: the Server speaks ${server_version}, accepts ${min_supported ?? "?"} to ${max_supported ?? "?"}`;
  return `Cannot connect with protocol ${PROTOCOL_VERSION}: ${refusal.message}${speaks}`;
}

/** Why the transport failed: "xhr poll error", Socket.IO's own word for everything, tells nobody what to do. */
function transportReason({ context, message }: Error & TransportError): string {
  if (context?.status === undefined) return message;
  if (context.status === 0) return "nobody answers there";
  return `HTTP ${context.status}, so it may be no Server of this protocol, or have another path`;
}

function unreachable(url: string, reason: string): string {
  return `Cannot reach the Server at "${url}": ${reason}`;
}
