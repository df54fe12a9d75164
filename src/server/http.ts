/** The HTTP side of the Server: the gate in front of Socket.IO, and answers to other requests. */
import { Buffer } from "node:buffer";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { ErrorCode } from "../protocol/error_codes.ts";
import {
  checkHandshake,
  checkSender,
  type HandshakePolicy,
  type HandshakeRefusal,
  readQuery,
  refusal,
} from "./admission/handshake.ts";
import { noMemory } from "./memory_budget.ts";
import { IncompleteMessage, type MessageShares } from "./message_shares.ts";
import { UpgradeRequest } from "./engine/upgrade_request.ts";
import { addressOf, type ProxiedRequest } from "./admission/proxies.ts";
import { closeAfterReading, refuseRequest, refuseUpgrade } from "./http_refusals.ts";
import { MAX_PENDING_BYTES } from "./limits.ts";
import type { PendingConnections } from "./admission/pending_connections.ts";
import { SmcpError } from "../protocol/errors.ts";
import { type QuotaLedger, refusalOf } from "./admission/quotas.ts";
import { optionLabel } from "./options/checks.ts";
import { hidesConnection } from "./sockets/older_deno.ts";

const METRICS_PATH = "/metrics";

export interface Gate {
  readonly path: string;
  readonly handshake: HandshakePolicy;
  /** The HTTP server of Socket.IO. It does not listen: it receives the requests that pass the gate. */
  readonly inner: HttpServer;
  readonly pendingConnections: PendingConnections;
  readonly quotas: Pick<QuotaLedger, "countConnect">;
  readonly shares: MessageShares;
  /** Whether new sessions are refused, because the Server shuts down. */
  readonly isClosing: () => boolean;
  readonly onRefused: (refusal: HandshakeRefusal, address: string | undefined) => void;
  /** The most bytes of a body over polling after admission. */
  readonly maxPayloadBytes: number;
  /** Called for each body that is refused, above that or for lack of memory; its session goes on. */
  readonly onRefusedBody: (body: RefusedBody) => void;
  readonly onAdopted: (socket: Duplex) => void;
}

export interface RefusedBody {
  readonly sid: string | undefined;
  readonly address: string | undefined;
  readonly size: number | undefined;
  readonly option: "maxPayloadBytes" | "maxMessageMemoryBytes";
}

/** Installs the gate before the other listeners of an HTTP server, which serve all other paths. Returns what removes it. */
export function installGate(server: HttpServer, gate: Gate): () => void {
  const others = {
    request: takeListeners(server, "request"),
    upgrade: takeListeners(server, "upgrade"),
  };
  const pass = (event: "request" | "upgrade", request: IncomingMessage, ...rest: unknown[]) => {
    for (const listener of others[event]) listener.call(server, request, ...rest);
  };
  const isOurs = (request: IncomingMessage) => request.url?.startsWith(gate.path) ?? false;
  const busy = new WeakSet<Duplex>();
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (!isOurs(request)) return pass("request", request, response);
    const { socket } = request;
    // Clients of Socket.IO do not pipeline requests, and thousands of them would take much memory. Nothing is handled
    // after the answer that ends a connection.
    if (busy.has(socket) || socket.writableEnded) return void socket.destroy();
    busy.add(socket);
    response.once("close", () => busy.delete(socket));
    endUnreadBody(request, response);
    const sid = sidOf(request);
    const refused = check(request, { gate, socket, end: response, sid });
    if (refused !== undefined) return refuseReadably(request, response, refused);
    if (request.method === "POST") {
      const message = new IncompleteMessage(gate.shares, sid);
      const excess = checkMemory(request, { gate, message, sid });
      if (excess !== undefined) return refuseReadably(request, response, excess);
      countBody(request, { response, message });
      explainLargeBody(request, response, gate);
    }
    gate.inner.emit("request", request, response);
  };
  const refuseReadably = (request: IncomingMessage, response: ServerResponse, refused: HandshakeRefusal) => {
    for (const [name, value] of corsHeaders(request, gate.handshake)) response.setHeader(name, value);
    refuseRequest(response, refused);
  };
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isOurs(request)) return pass("upgrade", request, socket, head);
    const sid = sidOf(request);
    const upgrade = new UpgradeRequest(request, sid);
    const refused = check(upgrade, { gate, socket, end: socket, sid });
    if (refused !== undefined) return refuseUpgrade(request, socket, refused);
    if (sid !== undefined && !gate.pendingConnections.claimWebSocket(sid, socket)) {
      return refuseUpgrade(request, socket, SECOND_WEBSOCKET);
    }
    gate.pendingConnections.expectUpgrade(upgrade, socket, sid);
    const earlier = new Set(socket.rawListeners("close"));
    gate.inner.emit("upgrade", upgrade, socket, head);
    forgetAnswer(socket, earlier);
  };
  server.on("request", onRequest).on("upgrade", onUpgrade);
  return () => {
    server.off("request", onRequest).off("upgrade", onUpgrade);
    for (const listener of others.request) server.on("request", listener);
    for (const listener of others.upgrade) server.on("upgrade", listener);
  };
}

/**
 * Engine.IO makes an answer for the middlewares of each WebSocket handshake, and listens once to the TCP connection for it.
 * That keeps the answer and the request, a kilobyte, as long as the WebSocket. There are no middlewares, so the listener goes.
 */
function forgetAnswer(socket: Duplex, earlier: ReadonlySet<unknown>): void {
  for (const listener of socket.rawListeners("close")) {
    // Only a listener of "once" has the function that it was made of.
    if ("listener" in listener && !earlier.has(listener)) socket.off("close", listener as () => void);
  }
}

type Listener = (this: HttpServer, ...args: unknown[]) => void;

function takeListeners(server: HttpServer, event: string): readonly Listener[] {
  // node:events types them as Function, which says less.
  const listeners = server.listeners(event) as Listener[];
  server.removeAllListeners(event);
  return listeners;
}

interface GateRequest {
  readonly gate: Gate;
  readonly socket: Duplex;
  readonly end: ServerResponse | Duplex;
  /** The Engine.IO session of the request; `undefined` when the request opens one. */
  readonly sid: string | undefined;
}

function check(
  request: IncomingMessage | UpgradeRequest,
  gateRequest: GateRequest,
): HandshakeRefusal | undefined {
  const { handshake, onRefused } = gateRequest.gate;
  const refused = checkHandshake(request, handshake) ?? checkCapacity(request, gateRequest);
  if (refused !== undefined) onRefused(refused, addressOf(request, handshake.proxies));
  return refused;
}

function checkCapacity(
  request: IncomingMessage | UpgradeRequest,
  { gate, socket, end, sid }: GateRequest,
): HandshakeRefusal | undefined {
  const { pendingConnections, isClosing, onAdopted } = gate;
  if (sid === undefined) {
    if (request.method === "OPTIONS") return undefined;
    if (isClosing()) return CLOSING;
    const excess = refuseConnect(request, gate);
    if (excess !== undefined) return excess;
    if (!pendingConnections.reserve(request, end)) return TOO_MANY;
  } else if (pendingConnections.isAdmitted(sid)) onAdopted(socket);
  else if (request.method === "POST") return checkPendingBody(request);
  return undefined;
}

function refuseConnect(
  request: ProxiedRequest,
  { quotas, handshake }: Gate,
): HandshakeRefusal | undefined {
  try {
    quotas.countConnect(addressOf(request, handshake.proxies));
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

/** Before admission, a body is read only if it announces a small length. */
function checkPendingBody({ headers }: Pick<IncomingMessage, "headers">): HandshakeRefusal | undefined {
  const length = headers["content-length"];
  return length !== undefined && Number(length) < MAX_PENDING_BYTES ? undefined : TOO_LARGE;
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
  `Cannot accept the request: the body must have less than ${MAX_PENDING_BYTES} bytes before admission`,
  { kind: "body_size", status: 413 },
);

function sidOf(request: IncomingMessage): string | undefined {
  return readQuery(request.url)?.["sid"] || undefined;
}

/** Answers a request for another path than that of Socket.IO: a check of health with 200 or 503, others with 404. */
export function answerPlainRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { handshake, checks, metrics }: PlainAnswers,
): void {
  endUnreadBody(request, response);
  const refused = checkSender(request, handshake);
  if (refused !== undefined) return refuseRequest(response, refused);
  const path = request.url?.split("?", 1)[0] ?? "";
  if (path === METRICS_PATH && metrics !== undefined) return metrics.answer(request, response);
  const check = checks.get(path);
  const problem = check?.();
  const status = check === undefined ? 404 : problem === undefined ? 200 : 503;
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" });
  response.end(check === undefined ? "Not found\n" : `A2C-SMCP Server: ${problem ?? "ok"}\n`);
}

/** Closes the connection of a request that is answered before its body has arrived. Older Deno does it by itself. */
function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  response.once("finish", () => {
    if (!request.complete && !hidesConnection(request)) closeAfterReading(request.socket);
  });
}

/**
 * Counts the body of a request until it is answered; one that finds no room ends its session. Counting begins with the first listener of the body: one of its own would
 * make the body flow, and Engine.IO listens only some microtasks later. In Node it lost the whole body.
 */
export function countBody(
  request: IncomingMessage,
  { response, message }: { readonly response: ServerResponse; readonly message: IncompleteMessage },
): void {
  const onData = (chunk: string | Uint8Array) => {
    if (!message.hold(message.bytes + Buffer.byteLength(chunk))) request.socket.destroy();
  };
  const onListener = (event: string | symbol) => {
    if (event !== "data") return;
    request.off("newListener", onListener);
    request.on("data", onData);
  };
  request.on("newListener", onListener);
  // Follows "finish" as well as the loss of the connection.
  response.once("close", () => {
    // The rest of a body may come after its answer, and nothing would follow that frees it.
    request.off("newListener", onListener).off("data", onData);
    message.hold(0);
  });
}

/** Refuses a body that announces more bytes than there is memory for. One that does not tell its length ends its session. */
function checkMemory(
  request: IncomingMessage,
  { gate, message, sid }: {
    readonly gate: Gate;
    readonly message: IncompleteMessage;
    readonly sid: string | undefined;
  },
): HandshakeRefusal | undefined {
  const size = Number(request.headers["content-length"] ?? 0);
  // Engine.IO refuses what is too large, or of no session.
  const isOfSession = sid !== undefined && gate.pendingConnections.isAdmitted(sid);
  if (!isOfSession || size > gate.maxPayloadBytes || message.hasCapacity(size)) return undefined;
  const address = addressOf(request, gate.handshake.proxies);
  gate.onRefusedBody({ sid, address, size, option: "maxMessageMemoryBytes" });
  const { code, message: reason, details } = noMemory(size);
  return { ...TOO_LARGE, body: { code, message: reason, details } };
}

/** Engine.IO refuses a body that is too large with an empty 413, and nobody hears of it: this adds the reason. */
function explainLargeBody(request: IncomingMessage, response: ServerResponse, gate: Gate): void {
  const { writeHead } = response;
  Reflect.set(response, "writeHead", (...args: readonly unknown[]) => {
    Reflect.set(response, "writeHead", writeHead);
    if (args[0] !== 413) return Reflect.apply(writeHead, response, args);
    const announced = request.headers["content-length"];
    const size = announced === undefined ? undefined : Number(announced);
    gate.onRefusedBody({
      sid: sidOf(request),
      address: addressOf(request, gate.handshake.proxies),
      size,
      option: "maxPayloadBytes",
    });
    const { status, headers, body } = largeBodyRefusal(size, gate.maxPayloadBytes);
    const text = JSON.stringify(body);
    // Engine.IO ends the answer. The rest of the body is not read.
    response.writeHead(status, {
      ...headers,
      "content-length": new TextEncoder().encode(text).byteLength,
      connection: "close",
    });
    response.write(text);
    return response;
  });
}

function largeBodyRefusal(size: number | undefined, limit: number): HandshakeRefusal {
  const message = `Cannot accept the body${size === undefined ? "" : ` of ${size} bytes`}: ` +
    `the limit is ${limit} bytes (${optionLabel("maxPayloadBytes")})`;
  const details = size === undefined ? { limit } : { size, limit };
  return { ...TOO_LARGE, body: { code: ErrorCode.PAYLOAD_TOO_LARGE, message, details } };
}

export interface PlainAnswers {
  readonly handshake: Pick<HandshakePolicy, "isOriginAllowed" | "isHostAllowed" | "proxies">;
  /** The checks by path, such as `/healthz`. Each returns what is wrong, or `undefined`. */
  readonly checks: ReadonlyMap<string, () => string | undefined>;
  /** Answers `/metrics`; without it, the answer is 404. */
  readonly metrics?: { answer(request: IncomingMessage, response: ServerResponse): void } | undefined;
}

/** Lets a page of an allowed origin read an answer. Socket.IO adds the same to its own answers. */
function corsHeaders(
  { headers: { origin } }: Pick<IncomingMessage, "headers">,
  { isOriginAllowed }: Pick<HandshakePolicy, "isOriginAllowed">,
): readonly (readonly [string, string])[] {
  if (origin === undefined || !isOriginAllowed(origin, {})) return [];
  return [["access-control-allow-origin", origin], ["vary", "Origin"]];
}
