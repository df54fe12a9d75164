/**
 * The TCP connections of an HTTP server: bounded in total and, before admission, by address and in what they send at once. A
 * process without free open files cannot accept any more, and `node:http` parses all requests in a chunk, several hundred in
 * 64 KiB, even after the first one has closed the connection.
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Logger } from "../../log.ts";
import { type BoundName, optionLabel } from "../options/checks.ts";
import { CONSTANTS } from "../options/constants.ts";
import { AddressLedger } from "./address_ledger.ts";

/** TCP connections per session that is not admitted yet: a client that polls uses two. */
const SOCKETS_PER_SESSION = 2;
/** The most HTTP requests in one chunk before admission. Clients of Socket.IO do not pipeline. */
const MAX_HEADS_PER_CHUNK = CONSTANTS.maxHeadsPerRead.value;
/** The most TCP connections when the limit of the system cannot be read. */
const FALLBACK_MAX_SOCKETS = 16_384;
/** The share of the system's limit of open files that TCP connections may use. */
const SHARE_OF_FILES = 0.75;
/** Open files that are reserved for the rest of the program, in addition. */
const RESERVED_FILES = 32;

export interface TcpSocketsOptions {
  readonly maxSockets: number;
  readonly maxPendingConnections: number;
  readonly maxPendingConnectionsPerAddress: number;
  /** Whether connections of an address count in total only: a proxy carries many clients. */
  readonly isProxy?: (address: string | undefined) => boolean;
  /** Whether the server is an HTTPS server; `false` by default. */
  readonly isTls?: boolean;
  /** @param limits The options that set the limits that may have been reached. */
  readonly onRefused: (address: string | undefined, limits: readonly BoundName[]) => void;
  /** Called before a connection is closed that sent several requests at once. */
  readonly onPipelined: (address: string | undefined) => void;
}

const TOTAL_LIMITS: readonly BoundName[] = ["maxSockets"];
const PENDING_LIMITS: readonly BoundName[] = ["maxPendingConnectionsPerAddress", "maxPendingConnections"];

export class TcpSockets {
  readonly #server: HttpServer;
  readonly #options: TcpSocketsOptions;
  readonly #pending: AddressLedger<Duplex>;
  /** By the address and port of their peers: with TLS, an HTTP request has another socket over the same connection. */
  readonly #byPeer = new Map<string, Socket>();
  /** What reads the chunks of a connection. */
  readonly #readers = new WeakMap<Duplex, (data: Uint8Array) => void>();
  #open = 0;
  readonly #onConnection = (socket: Socket) => this.#accept(socket);
  readonly #onReadable = (socket: Socket) => this.#watch(socket);
  readonly #onUpgrade = (_request: IncomingMessage, socket: Duplex) => this.#release(socket);
  /** When the server has a connection whose data can be read. */
  readonly #readable: "connection" | "secureConnection";

  /** @param server Its other listeners must be added first: those of this class come before them. */
  constructor(server: HttpServer, options: TcpSocketsOptions) {
    this.#server = server;
    this.#options = options;
    this.#pending = new AddressLedger({
      max: Math.min(options.maxSockets, options.maxPendingConnections),
      maxPerAddress: options.maxPendingConnectionsPerAddress * SOCKETS_PER_SESSION,
      replaceableAfterMs: CONSTANTS.replaceableAfterMs.value,
      evict: (socket) => void socket.destroy(),
    });
    this.#readable = options.isTls ? "secureConnection" : "connection";
    server.on("connection", this.#onConnection);
    // Before the listener of the server, which gives the connection to its parser.
    server.prependListener(this.#readable, this.#onReadable);
    server.prependListener("upgrade", this.#onUpgrade);
  }

  /** Lifts the bounds from a connection of an admitted client. */
  adopt(socket: Duplex): void {
    const peer = peerOf(socket);
    this.#pending.delete(this.#byPeer.get(peer) ?? socket);
    this.#byPeer.delete(peer);
    this.#release(socket);
  }

  close(): void {
    this.#server.off("connection", this.#onConnection).off(this.#readable, this.#onReadable)
      .off("upgrade", this.#onUpgrade);
  }

  #accept(socket: Socket): void {
    const hasCapacity = this.#open < this.#options.maxSockets || this.#pending.evictOldest();
    const { remoteAddress: address } = socket;
    const isProxy = this.#options.isProxy?.(address) ?? false;
    if (!hasCapacity || !(isProxy || this.#pending.add(socket, address))) {
      this.#options.onRefused(address, hasCapacity ? PENDING_LIMITS : TOTAL_LIMITS);
      return void socket.destroy();
    }
    this.#open++;
    if (this.#options.isTls) this.#index(socket);
    // It occurs once, and a listener of "once" takes more memory.
    socket.on("close", () => {
      this.#open--;
      this.#pending.delete(socket);
    });
  }

  #index(socket: Socket): void {
    const peer = peerOf(socket);
    this.#byPeer.set(peer, socket);
    socket.once("close", () => {
      if (this.#byPeer.get(peer) === socket) this.#byPeer.delete(peer);
    });
  }

  #watch(socket: Socket): void {
    keepFromNativeParser(socket);
    const onData = (data: Uint8Array) => {
      if (!hasTooManyHeads(data)) return;
      this.#options.onPipelined(socket.remoteAddress);
      // The parser still receives this chunk, so it is emptied.
      data.fill(0);
      socket.destroy();
    };
    this.#readers.set(socket, onData);
    socket.on("data", onData);
  }

  #release(socket: Duplex): void {
    const onData = this.#readers.get(socket);
    if (onData === undefined) return;
    this.#readers.delete(socket);
    socket.off("data", onData);
  }
}

function peerOf(socket: Duplex): string {
  const address = "remoteAddress" in socket ? socket.remoteAddress : undefined;
  const port = "remotePort" in socket ? socket.remotePort : undefined;
  return `${address} ${port}`;
}

/**
 * Private member of `node:http` in Deno, whose parser reads a connection below JavaScript: "data" listeners receive nothing.
 * It skips a connection that is marked as consumed. In Node, the listener is enough.
 */
function keepFromNativeParser(socket: Socket): void {
  if (typeof Deno === "undefined") return;
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
      if (isLineEmpty && ++emptyLines > MAX_HEADS_PER_CHUNK) return true;
      isLineEmpty = true;
    } else if (byte !== CARRIAGE_RETURN) isLineEmpty = false;
  }
  return false;
}

/** What helps a process that has too few open files for its connections. */
export const OPEN_FILES_REMEDY = `raise the limit of open files (ulimit -n, LimitNOFILE), or lower ${
  optionLabel("maxSockets")
}`;

/** Returns a safe number of TCP connections, well below the system's limit of open files. */
export function defaultMaxSockets(): number {
  const files = readOpenFilesLimit();
  if (files === undefined) return FALLBACK_MAX_SOCKETS;
  return Math.max(1, Math.floor(files * SHARE_OF_FILES) - RESERVED_FILES);
}

/** Warns of a number of TCP connections for which this process has too few open files, if their limit is known. */
export function warnOfOpenFiles(maxSockets: number, logger: Pick<Logger, "warn">): void {
  const files = readOpenFilesLimit();
  if (files === undefined || maxSockets <= files - RESERVED_FILES) return;
  logger.warn(
    `more TCP connections are allowed than this process can open: ${OPEN_FILES_REMEDY}, ` +
      "or anybody who can reach the port can keep all others out",
    { option: optionLabel("maxSockets"), value: maxSockets, open_files: files, default: defaultMaxSockets() },
  );
}

const LIMITS_FILE = "/proc/self/limits";

function readOpenFilesLimit(): number | undefined {
  if (!hasPermission({ name: "read", path: LIMITS_FILE })) return undefined;
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS_FILE, "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

/** Whether this process has a permission without a prompt. Node has no such permissions. */
export function hasPermission(permission: Deno.PermissionDescriptor): boolean {
  return typeof Deno === "undefined" || Deno.permissions.querySync(permission).state === "granted";
}
