/** The opening handshake of a WebSocket (RFC 6455, section 4.2), and its refusal, also where the runtime has none. */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type UpgradeAnswer, writeAnswer } from "../../http/refusals.ts";
import { buildClose, POLICY_VIOLATION } from "./frame_writer.ts";

/** What a server appends to the key of a client (RFC 6455, section 1.3). */
const KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSIONS = ["13", "8"];
/** The name of a subprotocol is a token of HTTP. */
const SUBPROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

interface Handshake {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Checks a handshake (RFC 6455, section 4.2.1); `undefined` when it can be accepted. */
export function problemOfHandshake({ method, headers }: Handshake): UpgradeAnswer | undefined {
  const problem = (status: number, text: string, more: Readonly<Record<string, string>> = {}) => ({
    status,
    headers: { "content-type": "text/plain", ...more },
    text,
  });
  if (method !== "GET") return problem(405, "Invalid HTTP method");
  if (headers.upgrade?.toLowerCase() !== "websocket") return problem(400, "Invalid Upgrade header");
  if (!KEY.test(headers["sec-websocket-key"] ?? "")) {
    return problem(400, "Missing or invalid Sec-WebSocket-Key header");
  }
  if (!VERSIONS.includes(headers["sec-websocket-version"] ?? "")) {
    return problem(400, "Missing or invalid Sec-WebSocket-Version header", {
      "sec-websocket-version": VERSIONS.join(", "),
    });
  }
  const isValid = subprotocolsOf(headers).every((name) => SUBPROTOCOL.test(name));
  return isValid ? undefined : problem(400, "Invalid Sec-WebSocket-Protocol header");
}

/** The answer to a handshake. */
export function acceptHandshake(headers: IncomingHttpHeaders): string {
  const key = `${headers["sec-websocket-key"] ?? ""}${KEY_SUFFIX}`;
  const accept = createHash("sha1").update(key).digest("base64");
  const [subprotocol] = subprotocolsOf(headers);
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
    `Sec-WebSocket-Accept: ${accept}\r\n` +
    `${subprotocol === undefined ? "" : `Sec-WebSocket-Protocol: ${subprotocol}\r\n`}\r\n`;
}

function subprotocolsOf(headers: IncomingHttpHeaders): readonly string[] {
  return headers["sec-websocket-protocol"]?.split(",").map((name) => name.trim()) ?? [];
}

/**
 * Whether the runtime is Deno before 2.8, on which Deno Deploy runs. There, `node:http` is served by the HTTP server of the
 * runtime, which hides the TCP connections: no `connection` event, no address of an upgraded socket, and no answer to an
 * upgrade but 101.
 */
export function hidesConnection({ complete }: { readonly complete?: boolean | undefined }): boolean {
  return complete === undefined;
}

/**
 * Refuses a handshake in plain HTTP, before the connection is upgraded. Where the runtime cannot, it accepts the WebSocket
 * and closes it at once with the reason, the text of the answer by default.
 */
export function refuseUpgrade(
  request: Pick<IncomingMessage, "headers"> & { readonly complete?: boolean },
  socket: Duplex,
  { reason, ...answer }: UpgradeAnswer & { readonly reason?: string },
): void {
  if (!hidesConnection(request)) return writeAnswer(socket, answer);
  socket.on("error", () => {});
  const close = Buffer.concat(buildClose(POLICY_VIOLATION, reason ?? answer.text));
  socket.write(acceptHandshake(request.headers), () => void socket.end(close));
}

export function refusePlainUpgrade(request: IncomingMessage, socket: Duplex): void {
  refuseUpgrade(request, socket, {
    status: 404,
    headers: { "content-type": "text/plain" },
    text: "Not found",
  });
}
