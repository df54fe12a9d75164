/** The HTTP side of the Server: the gate before Socket.IO, and what is answered without it. */
import type { Buffer } from "node:buffer";
import type { IncomingMessage, Server as HttpServer, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { checkHandshake, type HandshakePolicy, type HandshakeRefusal } from "./handshake.ts";

/** What Socket.IO is to this module. */
export interface Gate {
  readonly path: string;
  readonly handshake: HandshakePolicy;
  /** The HTTP server that Socket.IO knows. It never listens: it gets what has passed the gate. */
  readonly inner: HttpServer;
  readonly onRefused: (refusal: HandshakeRefusal) => void;
}

/**
 * Puts the gate before an HTTP server's own listeners, which go on serving every other path.
 *
 * @return Takes the gate away again.
 */
export function installGate(server: HttpServer, gate: Gate): () => void {
  const others = {
    request: takeListeners(server, "request"),
    upgrade: takeListeners(server, "upgrade"),
  };
  const pass = (event: "request" | "upgrade", request: IncomingMessage, ...rest: unknown[]) => {
    for (const listener of others[event]) listener.call(server, request, ...rest);
  };
  const isOurs = (request: IncomingMessage) => request.url?.startsWith(gate.path) ?? false;
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    if (!isOurs(request)) return pass("request", request, response);
    const refusal = check(request, gate);
    if (refusal === undefined) gate.inner.emit("request", request, response);
    else refuseRequest(response, refusal);
  };
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (!isOurs(request)) return pass("upgrade", request, socket, head);
    const refusal = check(request, gate);
    if (refusal === undefined) gate.inner.emit("upgrade", request, socket, head);
    else refuseUpgrade(socket, refusal);
  };
  server.on("request", onRequest).on("upgrade", onUpgrade);
  return () => {
    server.off("request", onRequest).off("upgrade", onUpgrade);
    for (const listener of others.request) server.on("request", listener);
    for (const listener of others.upgrade) server.on("upgrade", listener);
  };
}

type Listener = (this: HttpServer, ...args: unknown[]) => void;

function takeListeners(server: HttpServer, event: string): readonly Listener[] {
  // node:events types them as Function, which says less.
  const listeners = server.listeners(event) as Listener[];
  server.removeAllListeners(event);
  return listeners;
}

function check(request: IncomingMessage, { handshake, onRefused }: Gate): HandshakeRefusal | undefined {
  const refusal = checkHandshake(request, handshake);
  if (refusal !== undefined) onRefused(refusal);
  return refusal;
}

/** Answers a request that is none of Socket.IO's: 200 to a health check, else 404. */
export function answerPlainRequest(request: IncomingMessage, response: ServerResponse): void {
  const path = request.url?.split("?", 1)[0];
  const isHealthCheck = path === "/" || path === "/healthz";
  response.writeHead(isHealthCheck ? 200 : 404, { "content-type": "text/plain; charset=utf-8" });
  response.end(isHealthCheck ? "A2C-SMCP Server: ok\n" : "Not found\n");
}

/** Ends an upgrade request that is none of Socket.IO's. */
export function refusePlainUpgrade(_request: IncomingMessage, socket: Duplex): void {
  endUpgrade(socket, { status: 404, headers: { "content-type": "text/plain" }, text: "Not found\n" });
}

function refuseRequest(response: ServerResponse, { status, headers, body }: HandshakeRefusal): void {
  response.writeHead(status, { ...headers });
  response.end(JSON.stringify(body));
}

/** Answers a refused websocket handshake in plain HTTP: it has not been upgraded yet. */
function refuseUpgrade(socket: Duplex, { status, headers, body }: HandshakeRefusal): void {
  endUpgrade(socket, { status, headers, text: JSON.stringify(body) });
}

const REASONS: Readonly<Record<number, string>> = { 400: "Bad Request", 403: "Forbidden", 404: "Not Found" };

function endUpgrade(
  socket: Duplex,
  { status, headers, text }: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly text: string;
  },
): void {
  const length = String(new TextEncoder().encode(text).byteLength);
  const lines = Object.entries({ ...headers, "content-length": length, connection: "close" })
    .map(([name, value]) => `${name}: ${value}\r\n`);
  // A peer that is gone already need not be told.
  socket.on("error", () => {});
  socket.end(`HTTP/1.1 ${status} ${REASONS[status] ?? "Refused"}\r\n${lines.join("")}\r\n${text}`);
}
