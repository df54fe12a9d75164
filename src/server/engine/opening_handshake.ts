/** The opening handshake of a WebSocket (RFC 6455, section 4.2). */
import { createHash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** What a server appends to the key of a client (RFC 6455, section 1.3). */
const KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSIONS = ["13", "8"];
/** The name of a subprotocol is a token of HTTP. */
const SUBPROTOCOL = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;

/** The headers of a handshake that is answered with an error, and its text. */
export interface HandshakeProblem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Handshake {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Checks a handshake (RFC 6455, section 4.2.1); `undefined` when it can be accepted. */
export function problemOfHandshake({ method, headers }: Handshake): HandshakeProblem | undefined {
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
