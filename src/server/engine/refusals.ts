/** Writes refusals, of HTTP requests and of WebSocket handshakes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { HandshakeRefusal } from "../admission/handshake.ts";
import { acceptAndClose, hidesConnection } from "./older_deno.ts";

/** How long a refused connection stays open, so that its client can read the reason. */
export const REFUSAL_LINGER_MS = 1_000;

/** A refusal depends on who asks: a cache on the way must not give that of one page to another. */
const UNCACHED = { "cache-control": "no-store" } as const;

export function refuseRequest(response: ServerResponse, { status, headers, body }: HandshakeRefusal): void {
  // The rest of the request body is not read.
  response.writeHead(status, { ...headers, ...UNCACHED, connection: "close" });
  response.end(JSON.stringify(body));
}

/** Refuses a WebSocket handshake in plain HTTP: the connection is not upgraded yet. */
export function refuseUpgrade(
  request: IncomingMessage,
  socket: Duplex,
  { status, headers, body }: HandshakeRefusal,
): void {
  if (hidesConnection(request)) return acceptAndClose(request, socket, String(body["message"]));
  writeAnswer(socket, { status, headers, text: JSON.stringify(body) });
}

/** Refuses a WebSocket handshake with a plain text. */
export function endUpgrade(request: IncomingMessage, socket: Duplex, answer: UpgradeAnswer): void {
  if (hidesConnection(request)) return acceptAndClose(request, socket, answer.text);
  writeAnswer(socket, answer);
}

export function refusePlainUpgrade(request: IncomingMessage, socket: Duplex): void {
  endUpgrade(request, socket, { status: 404, headers: { "content-type": "text/plain" }, text: "Not found" });
}

export interface UpgradeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  413: "Content Too Large",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

function writeAnswer(socket: Duplex, { status, headers, text }: UpgradeAnswer): void {
  const length = String(new TextEncoder().encode(text).byteLength);
  const lines = Object.entries({ ...headers, ...UNCACHED, "content-length": length, connection: "close" })
    .map(([name, value]) => `${name}: ${value}\r\n`);
  closeAfterReading(
    socket,
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Refused"}\r\n${lines.join("")}\r\n${text}`,
  );
}

/**
 * Ends a connection after its last text, and closes it a little later: data that arrives at a closed socket resets the
 * connection, and its client loses what it has not read yet.
 */
export function closeAfterReading(socket: Duplex, text = ""): void {
  // The peer may have disconnected.
  socket.on("error", () => {});
  // The peer may keep its side of the connection open.
  const timer = setTimeout(() => socket.destroy(), REFUSAL_LINGER_MS);
  socket.once("close", () => clearTimeout(timer));
  socket.end(text);
}
