/** WebSocket handshakes as Engine.IO sees them. */
import type { IncomingMessage } from "node:http";

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
  /** Whether it belongs to a session that began with polling. */
  readonly hasSession: boolean;
  headers: IncomingMessage["headers"];

  constructor({ method, url, socket, headers }: IncomingMessage, sid: string | undefined) {
    this.hasSession = sid !== undefined;
    this.method = method;
    this.url = url;
    this.socket = socket;
    this.connection = socket;
    this.headers = headers;
  }

  /** Frees the headers, credentials among them. */
  forgetHeaders(): void {
    this.headers = {};
  }
}
