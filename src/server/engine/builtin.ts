/** The `wsEngine` option of Engine.IO: answers WebSocket handshakes (RFC 6455, section 4.2). */
import { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { IncompleteMessage, type MessageShares } from "../message_shares.ts";
import type { FrameLimits } from "./frame_reader.ts";
import { acceptOf, UpgradeRequest } from "./upgrade_request.ts";
import { BuiltinWebSocket } from "./web_socket.ts";

const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSIONS = ["13", "8"];
/** The name of a subprotocol is a token of HTTP. */
const SUBPROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** A message may be this many times as large as the limit: its sender is answered 413. A larger one ends the connection. */
const MAX_SKIPPED_FACTOR = 4;

interface EngineOptions {
  readonly maxPayload: number;
}

type Handshake = Pick<IncomingMessage, "method" | "headers">;

/** Emits `headers` (the lines of the answer, the request) before it answers a handshake. */
export class BuiltinEngine extends EventEmitter {
  readonly #limits: Omit<FrameLimits, "memory">;
  readonly #shares: MessageShares;

  constructor({ maxPayload }: EngineOptions, shares: MessageShares) {
    super();
    this.#limits = { maxPayloadBytes: maxPayload, maxSkippedBytes: MAX_SKIPPED_FACTOR * maxPayload };
    this.#shares = shares;
  }

  /** Returns the class that Engine.IO opens; what it holds of messages counts in these shares. */
  static within(shares: MessageShares): new (options: EngineOptions) => BuiltinEngine {
    return class extends BuiltinEngine {
      constructor(options: EngineOptions) {
        super(options, shares);
      }
    };
  }

  /** Answers a handshake, and passes the WebSocket to `onOpen`. */
  handleUpgrade(
    request: IncomingMessage | UpgradeRequest,
    socket: Socket,
    head: Uint8Array,
    onOpen: (webSocket: BuiltinWebSocket) => void,
  ): void {
    const refusal = refusalOf(request);
    if (refusal !== undefined) return refuse(socket, refusal);
    // The peer may have disconnected.
    if (!socket.readable || !socket.writable) return void socket.destroy();
    const lines = answerOf(request);
    this.emit("headers", lines, request);
    socket.write(`${lines.join("\r\n")}\r\n\r\n`);
    const session = request instanceof UpgradeRequest ? request.session : undefined;
    const message = new IncompleteMessage(this.#shares, session);
    onOpen(new BuiltinWebSocket(socket, { head, limits: this.#limits, message }));
  }

  /** Does nothing: Engine.IO closes its connections. */
  close(): void {}
}

function answerOf(request: Handshake): string[] {
  const lines = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${acceptOf(request)}`,
  ];
  const [subprotocol = ""] = subprotocolsOf(request.headers["sec-websocket-protocol"]);
  if (subprotocol !== "") lines.push(`Sec-WebSocket-Protocol: ${subprotocol}`);
  return lines;
}

function subprotocolsOf(header: string | undefined): readonly string[] {
  return header === undefined ? [] : header.split(",").map((name) => name.trim());
}

interface Refusal {
  readonly status: string;
  readonly message: string;
  readonly headers?: readonly string[];
}

function refusalOf({ method, headers }: Handshake): Refusal | undefined {
  if (method !== "GET") return { status: "405 Method Not Allowed", message: "Invalid HTTP method" };
  const bad = (message: string, ...lines: string[]) => ({
    status: "400 Bad Request",
    message,
    headers: lines,
  });
  if (headers.upgrade?.toLowerCase() !== "websocket") return bad("Invalid Upgrade header");
  if (!KEY.test(headers["sec-websocket-key"] ?? "")) {
    return bad("Missing or invalid Sec-WebSocket-Key header");
  }
  if (!VERSIONS.includes(headers["sec-websocket-version"] ?? "")) {
    const expected = `Sec-WebSocket-Version: ${VERSIONS.join(", ")}`;
    return bad("Missing or invalid Sec-WebSocket-Version header", expected);
  }
  const isValid = subprotocolsOf(headers["sec-websocket-protocol"]).every((name) => SUBPROTOCOL.test(name));
  return isValid ? undefined : bad("Invalid Sec-WebSocket-Protocol header");
}

function refuse(socket: Socket, { status, message, headers = [] }: Refusal): void {
  socket.on("error", () => {});
  socket.once("finish", () => socket.destroy());
  const lines = [
    `HTTP/1.1 ${status}`,
    "Connection: close",
    "Content-Type: text/plain",
    `Content-Length: ${message.length}`,
    ...headers,
  ];
  socket.end(`${lines.join("\r\n")}\r\n\r\n${message}`);
}
