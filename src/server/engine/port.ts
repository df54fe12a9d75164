/** The HTTP side of the Server: the gate in front of the engine, and answers to other requests. */
import type { Buffer } from "node:buffer";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Forwarded } from "../../http/proxies.ts";
import { closeAfterReading, refuseRequest } from "../../http/refusals.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import {
  checkHandshake,
  type HandshakePolicy,
  type HandshakeRefusal,
  type HandshakeRequest,
  readQuery,
  refusal,
  refuseSender,
} from "../admission/handshake.ts";
import { optionLabel } from "../options/checks.ts";
import { CONSTANTS } from "../options/constants.ts";
import { type QuotaLedger, refusalOf } from "../admission/quotas.ts";
import type { Arrival, Engine } from "./engine.ts";
import type { InnerSocket } from "./inner_socket.ts";
import { Polling } from "./polling.ts";
import { hidesConnection, refuseUpgrade } from "./opening_handshake.ts";
import type { EngineSession } from "./session.ts";

const METRICS_PATH = "/metrics";
const METHODS = "GET,HEAD,PUT,PATCH,POST,DELETE";

export interface PortOptions {
  readonly path: string;
  readonly handshake: HandshakePolicy;
  readonly engine: Engine;
  readonly quotas: Pick<QuotaLedger, "countConnect">;
  /** Whether new sessions are refused, because the Server shuts down. */
  readonly isClosing: () => boolean;
  readonly onRefused: (refusal: HandshakeRefusal, address: string | undefined) => void;
  /** The TCP connection belongs to an admitted client. */
  readonly onAdopted: (socket: Duplex) => void;
}

/** Answers the requests for the path of Socket.IO. */
export class Port {
  readonly #options: PortOptions;
  /** The last answer over each TCP connection. */
  readonly #answers = new WeakMap<Duplex, ServerResponse>();

  constructor(options: PortOptions) {
    this.#options = options;
  }

  /** Puts itself before the listeners of an HTTP server, which serve all other paths. Returns what removes it. */
  install(server: HttpServer): () => void {
    const others = {
      request: takeListeners(server, "request"),
      upgrade: takeListeners(server, "upgrade"),
    };
    const isOurs = ({ url }: IncomingMessage) => url?.startsWith(this.#options.path) ?? false;
    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      if (isOurs(request)) return this.#onRequest(request, response);
      for (const listener of others.request) listener.call(server, request, response);
    };
    const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      if (isOurs(request)) return this.#onUpgrade(request, socket, head);
      for (const listener of others.upgrade) listener.call(server, request, socket, head);
    };
    server.on("request", onRequest).on("upgrade", onUpgrade);
    return () => {
      server.off("request", onRequest).off("upgrade", onUpgrade);
      for (const listener of others.request) server.on("request", listener);
      for (const listener of others.upgrade) server.on("upgrade", listener);
    };
  }

  /**
   * Opens a session of a member in this process, or refuses it as one of this machine.
   *
   * @param url That of a WebSocket.
   */
  connectInner(url: string): { readonly socket: InnerSocket } | { readonly refusal: PlainRefusal } {
    // It is no transport that could be served or not.
    const { transport: _, ...query } = readQuery(url);
    const visit = { request: { headers: {}, url }, query, address: "127.0.0.1" };
    const refused = this.#check({ ...visit, session: undefined });
    return refused === undefined
      ? { socket: this.#options.engine.openInner(visit) }
      : { refusal: { status: refused.status, responseText: JSON.stringify(refused.body) } };
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    // Clients of Socket.IO do not pipeline requests, and thousands of them would take much memory. Nothing is handled
    // after the answer that ends a connection.
    const isBusy = this.#answers.get(socket)?.writableEnded === false;
    if (isBusy || socket.writableEnded) return void socket.destroy();
    this.#answers.set(socket, response);
    endUnreadBody(request, response);
    const { engine, handshake } = this.#options;
    const arrival = this.#toArrival(request);
    letPageRead(request, response, handshake);
    const refused = this.#check(arrival);
    if (refused !== undefined) return refuseRequest(response, refused);
    if (request.method === "OPTIONS") return answerPreflight(request, response);
    if (arrival.session?.isAdmitted) this.#options.onAdopted(socket);
    const error = engine.poll(arrival, response);
    if (error === undefined) return;
    this.#tell(arrival, error);
    response.writeHead(400, { "content-type": "application/json" });
    response.end(JSON.stringify(error));
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { engine } = this.#options;
    const arrival = this.#toArrival(request);
    const { session } = arrival;
    const refused = this.#check(arrival, refuseSecondWebSocket(session));
    if (refused !== undefined) {
      const { status, headers, body } = refused;
      const reason = String(body["message"]);
      return refuseUpgrade(request, socket, { status, headers, text: JSON.stringify(body), reason });
    }
    if (session?.isAdmitted) this.#options.onAdopted(socket);
    const problem = engine.upgrade(arrival, socket, head);
    if (problem === undefined) return;
    this.#tell(arrival, "text" in problem ? { code: problem.status, message: problem.text } : problem);
    refuseUpgrade(
      request,
      socket,
      "text" in problem
        ? problem
        : { status: 400, headers: { "content-type": "text/html" }, text: problem.message },
    );
  }

  #toArrival(request: IncomingMessage): Arrival {
    const forwarded = this.#options.handshake.proxies?.read(request);
    const address = forwarded === undefined ? request.socket.remoteAddress : forwarded.address;
    const query = readQuery(request.url);
    return { request, query, address, forwarded, session: this.#options.engine.find(query) };
  }

  /** Tells of a handshake that the engine cannot read. After a restart, many clients ask for sessions that are gone. */
  #tell(
    { query, address }: Arrival,
    { code, message }: { readonly code: number; readonly message: string },
  ): void {
    if (!query["sid"]) this.#options.onRefused(refusal(code, message), address);
  }

  #check(arrival: Checked, further?: HandshakeRefusal): HandshakeRefusal | undefined {
    const { handshake, onRefused } = this.#options;
    const refused = checkHandshake(arrival, handshake) ?? this.#checkRoom(arrival) ?? further;
    // A load balancer may bring all requests of other Servers' sessions while this one shuts down.
    const isTold = refused !== CLOSING || !arrival.query["sid"];
    if (refused !== undefined && isTold) onRefused(refused, arrival.address);
    return refused;
  }

  #checkRoom({ request, query, address, session }: Checked): HandshakeRefusal | undefined {
    const { engine, isClosing } = this.#options;
    if (request.method === "OPTIONS") return undefined;
    // Also for a session of another Server, so that a load balancer which sent the request here asks that one.
    if (session === undefined && isClosing()) return CLOSING;
    if (query["sid"]) {
      const isPending = request.method === "POST" && session?.isAdmitted !== true;
      return isPending ? checkPendingBody(request) : undefined;
    }
    return this.#refuseConnect(address) ?? (engine.hasPlace(address) ? undefined : TOO_MANY);
  }

  #refuseConnect(address: string | undefined): HandshakeRefusal | undefined {
    try {
      this.#options.quotas.countConnect(address);
      return undefined;
    } catch (error) {
      if (!(error instanceof SmcpError)) throw error;
      const { code, message, details } = error;
      const waitMs = details?.["retry_after_ms"];
      const seconds = typeof waitMs === "number" ? Math.ceil(waitMs / 1_000) : CONNECTIONS_RETRY_SECONDS;
      const headers = { "retry-after": String(seconds) };
      const refused = refusal(code, message, { kind: refusalOf(error), status: code, headers });
      return { ...refused, body: { code, message, details } };
    }
  }
}

/** A refusal as a client reads it from an answer of HTTP. */
interface PlainRefusal {
  readonly status: number;
  readonly responseText: string;
}

type Checked = HandshakeRequest & Pick<Arrival, "address" | "session">;

type Listener = (this: HttpServer, ...args: unknown[]) => void;

function takeListeners(server: HttpServer, event: string): readonly Listener[] {
  // node:events types them as Function, which says less.
  const listeners = server.listeners(event) as Listener[];
  server.removeAllListeners(event);
  return listeners;
}

/** Before admission, a body is read only if it announces a small length. */
function checkPendingBody({ headers }: Pick<IncomingMessage, "headers">): HandshakeRefusal | undefined {
  const length = headers["content-length"];
  return length !== undefined && Number(length) < CONSTANTS.maxPendingBytes.value ? undefined : TOO_LARGE;
}

/** A session may have one WebSocket at a time: each one could hold a message of the largest size. */
function refuseSecondWebSocket(session: EngineSession | undefined): HandshakeRefusal | undefined {
  if (session === undefined) return undefined;
  return session.transport instanceof Polling && session.probe === undefined ? undefined : SECOND_WEBSOCKET;
}

/** When a client may try again whose address has too many connections, in seconds. */
const CONNECTIONS_RETRY_SECONDS = 10;

const SOON = { "retry-after": "1" } as const;

const TOO_MANY = refusal(
  ErrorCode.UNAVAILABLE,
  "Too many connections are waiting for admission, the limits are " +
    `${optionLabel("maxPendingConnections")} and ${optionLabel("maxPendingConnectionsPerAddress")}`,
  { kind: "pending_limit", status: 503, headers: SOON },
);

const CLOSING = refusal(ErrorCode.UNAVAILABLE, "The Server shuts down", {
  kind: "closing",
  status: 503,
  headers: SOON,
});

const SECOND_WEBSOCKET = refusal(
  ErrorCode.BAD_REQUEST,
  "Cannot open a second WebSocket: this session has one",
);

const TOO_LARGE = refusal(
  ErrorCode.PAYLOAD_TOO_LARGE,
  `Cannot accept the request: the body must have less than ${CONSTANTS.maxPendingBytes.value} bytes before admission`,
  { kind: "body_size", status: 413 },
);

/** What a program around the Server needs to answer a request for a path of its own. */
export interface OtherRequest {
  /** What a trusted proxy says about the request. */
  readonly forwarded: Forwarded | undefined;
  /** Tells that the request is of an admitted client: newer connections no longer take the place of its connection. */
  readonly adopt: () => void;
}

/** Answers requests for other paths than those of the Server, whoever sent them; `false` leaves a request to the Server. */
export type OtherPaths = (
  request: IncomingMessage,
  response: ServerResponse,
  context: OtherRequest,
) => boolean;

export interface PlainAnswers {
  readonly handshake: Pick<HandshakePolicy, "isOriginAllowed" | "isHostAllowed" | "proxies">;
  /** The checks by path, such as `/healthz`. Each returns what is wrong, or `undefined`. */
  readonly checks: ReadonlyMap<string, () => string | undefined>;
  /** Answers `/metrics`; without it, the answer is 404. */
  readonly metrics?: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  readonly others?: OtherPaths | undefined;
  /** The TCP connection belongs to an admitted client of `others`. */
  readonly onAdopted?: ((socket: Duplex) => void) | undefined;
}

/** Answers a request for another path than that of Socket.IO: a check of health with 200 or 503, others with 404. */
export function answerPlainRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { handshake, checks, metrics, others, onAdopted }: PlainAnswers,
): void {
  endUnreadBody(request, response);
  const forwarded = handshake.proxies?.read(request);
  const adopt = () => onAdopted?.(request.socket);
  if (others?.(request, response, { forwarded, adopt })) return;
  const refused = refuseSender({ request, forwarded }, handshake);
  if (refused !== undefined) return refuseRequest(response, refused);
  const path = request.url?.split("?", 1)[0] ?? "";
  if (path === METRICS_PATH && metrics !== undefined) return metrics(request, response);
  const check = checks.get(path);
  const problem = check?.();
  const status = check === undefined ? 404 : problem === undefined ? 200 : 503;
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(check === undefined ? "Not found\n" : `A2C-SMCP Server: ${problem ?? "ok"}\n`);
}

/** Closes the connection of a request that is answered before its body has arrived. Older Deno does it by itself. */
function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  // A request that is destroyed, as when its reader stops, has no connection any more.
  const { socket } = request;
  response.once("finish", () => {
    if (!request.complete && !hidesConnection(request)) closeAfterReading(socket);
  });
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const wanted = request.headers["access-control-request-headers"];
  response.writeHead(204, {
    "access-control-allow-methods": METHODS,
    ...(wanted === undefined ? {} : { "access-control-allow-headers": wanted }),
    vary: "Origin, Access-Control-Request-Headers",
    "content-length": "0",
  });
  response.end();
}

/** Lets a page of an allowed origin read the answer. */
function letPageRead(
  { headers: { origin } }: IncomingMessage,
  response: ServerResponse,
  { isOriginAllowed }: HandshakePolicy,
): void {
  if (origin === undefined || !isOriginAllowed(origin, {})) return;
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "Origin");
}
