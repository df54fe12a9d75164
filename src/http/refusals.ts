/** Writes answers that refuse requests and upgrades, and end their connections. */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** How long a refused connection stays open, so that its client can read the reason. */
export const REFUSAL_LINGER_MS = 1_000;

/** A refusal depends on who asks: a cache on the way must not give that of one page to another. */
const UNCACHED = { "cache-control": "no-store" } as const;

/** An answer in JSON that refuses a request. */
export interface HttpRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

export function refuseRequest(response: ServerResponse, { status, headers, body }: HttpRefusal): void {
  // The rest of the request body is not read.
  response.writeHead(status, { ...headers, ...UNCACHED, connection: "close" });
  response.end(JSON.stringify(body));
}

export interface UpgradeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Refuses an upgrade in plain HTTP, and ends the connection. */
export function writeAnswer(socket: Duplex, { status, headers, text }: UpgradeAnswer): void {
  const length = String(new TextEncoder().encode(text).byteLength);
  const lines = Object.entries({ ...headers, ...UNCACHED, "content-length": length, connection: "close" })
    .map(([name, value]) => `${name}: ${value}\r\n`);
  closeAfterReading(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? "Refused"}\r\n${lines.join("")}\r\n${text}`,
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
