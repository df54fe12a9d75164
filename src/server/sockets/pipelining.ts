/**
 * A bound on pipelined requests, which `node:http` has not: it reads all the requests that one piece of data holds, several
 * hundred in 64 KiB, even when the first of them has ended the connection, and each costs kilobytes.
 */
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { MAX_HEADS_PER_READ } from "../limits.ts";

/** The TCP connections of an HTTP server on which pipelined requests are refused: each until it is released. */
export class PipeliningGuard {
  readonly #server: HttpServer;
  readonly #onRefused: (address: string | undefined) => void;
  readonly #watched = new WeakMap<Duplex, (data: Uint8Array) => void>();
  readonly #onConnection = (socket: Socket) => this.#watch(socket);
  readonly #onUpgrade = (_request: IncomingMessage, socket: Duplex) => this.release(socket);

  /** `server`: with its listeners for upgrades in place. `onRefused` is told before a connection is ended. */
  constructor(server: HttpServer, onRefused: (address: string | undefined) => void) {
    this.#server = server;
    this.#onRefused = onRefused;
    // First, since the server's own listener hands the connection to its parser.
    server.prependListener("connection", this.#onConnection);
    server.prependListener("upgrade", this.#onUpgrade);
  }

  /** Lets a connection send what it likes: it belongs to a member, or does not speak HTTP any longer. */
  release(socket: Duplex): void {
    const onData = this.#watched.get(socket);
    if (onData === undefined) return;
    this.#watched.delete(socket);
    socket.off("data", onData);
  }

  /** Watches no further connections. */
  close(): void {
    this.#server.off("connection", this.#onConnection).off("upgrade", this.#onUpgrade);
  }

  #watch(socket: Socket): void {
    keepFromNativeParser(socket);
    const onData = (data: Uint8Array) => {
      if (!hasTooManyHeads(data)) return;
      this.#onRefused(socket.remoteAddress);
      // The parser still gets this piece: it shall find nothing in it.
      data.fill(0);
      socket.destroy();
    };
    this.#watched.set(socket, onData);
    socket.on("data", onData);
  }
}

/**
 * Where the parser reads a connection below JavaScript, nobody else hears of what comes in. Node takes it away from there
 * by itself when somebody listens, Deno does not; both leave alone what is marked as taken.
 */
function keepFromNativeParser(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle === "object" && handle !== null) Reflect.set(handle, "_consumed", true);
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** The head of each request ends with an empty line; no body that a stranger may send has one. */
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
