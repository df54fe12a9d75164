/**
 * Bounds pipelined requests, which `node:http` does not: it parses all requests in a chunk, several hundred in 64 KiB, even
 * after the first one has closed the connection, and each costs kilobytes.
 */
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { MAX_HEADS_PER_READ } from "../limits.ts";

/** Refuses pipelined requests on each TCP connection of an HTTP server until it is released. */
export class PipeliningGuard {
  readonly #server: HttpServer;
  readonly #onRefused: (address: string | undefined) => void;
  readonly #watched = new WeakMap<Duplex, (data: Uint8Array) => void>();
  readonly #onConnection = (socket: Socket) => this.#watch(socket);
  readonly #onUpgrade = (_request: IncomingMessage, socket: Duplex) => this.release(socket);
  /** When the server has a connection whose data can be read. */
  readonly #event: "connection" | "secureConnection";

  /**
   * @param server Its other "upgrade" listeners must be added first.
   * @param options `isTls`: whether it is an HTTPS server. `onRefused`: called before a connection is closed.
   */
  constructor(server: HttpServer, { isTls, onRefused }: {
    readonly isTls: boolean;
    readonly onRefused: (address: string | undefined) => void;
  }) {
    this.#server = server;
    this.#onRefused = onRefused;
    this.#event = isTls ? "secureConnection" : "connection";
    // First, since the listener of the server gives the connection to its parser.
    server.prependListener(this.#event, this.#onConnection);
    server.prependListener("upgrade", this.#onUpgrade);
  }

  /** Stops watching a connection: it belongs to a member, or was upgraded. */
  release(socket: Duplex): void {
    const onData = this.#watched.get(socket);
    if (onData === undefined) return;
    this.#watched.delete(socket);
    socket.off("data", onData);
  }

  close(): void {
    this.#server.off(this.#event, this.#onConnection).off("upgrade", this.#onUpgrade);
  }

  #watch(socket: Socket): void {
    keepFromNativeParser(socket);
    const onData = (data: Uint8Array) => {
      if (!hasTooManyHeads(data)) return;
      this.#onRefused(socket.remoteAddress);
      // The parser still receives this chunk, so it is emptied.
      data.fill(0);
      socket.destroy();
    };
    this.#watched.set(socket, onData);
    socket.on("data", onData);
  }
}

/**
 * Private member of Node and Deno. Their parser may read a connection below JavaScript, where "data" listeners receive
 * nothing. Node stops that when a listener is added, Deno does not; both skip a connection that is marked as consumed.
 */
function keepFromNativeParser(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle === "object" && handle !== null) Reflect.set(handle, "_consumed", true);
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The headers of each request end with an empty line. Bodies before admission contain none. */
function hasTooManyHeads(data: Uint8Array): boolean {
  let emptyLines = 0;
  let isLineEmpty = false;
  for (const byte of data) {
    if (byte === LINE_FEED) {
      if (isLineEmpty && ++emptyLines > MAX_HEADS_PER_READ) return true;
      isLineEmpty = true;
    } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false;
  }
  return false;
}
