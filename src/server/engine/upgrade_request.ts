/** WebSocket handshakes as Engine.IO sees them. */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** What a server appends to the key of a client (RFC 6455, section 1.3). */
const KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

export function acceptOf({ headers }: Pick<IncomingMessage, "headers">): string {
  return createHash("sha1").update(`${headers["sec-websocket-key"] ?? ""}${KEY_SUFFIX}`).digest("base64");
}

/**
 * The members of a request that Engine.IO and Socket.IO read. They keep the request as long as its connection, and an
 * `IncomingMessage` takes some kilobytes.
 */
export class UpgradeRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly socket: IncomingMessage["socket"];
  /** The same as `socket`, under its older name. */
  readonly connection: IncomingMessage["socket"];
  /** The Engine.IO session that it belongs to, if that began with polling. */
  readonly session: string | undefined;
  headers: IncomingMessage["headers"];

  constructor({ method, url, socket, headers }: IncomingMessage, session: string | undefined) {
    this.session = session;
    this.method = method;
    this.url = url;
    this.socket = socket;
    this.connection = socket;
    this.headers = headers;
  }

  forgetHeaders(): void {
    this.headers = {};
  }
}
