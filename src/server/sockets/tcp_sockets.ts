/** Bounds TCP connections: a process without free open files cannot accept any more. */
import { readFileSync } from "node:fs";
import type { Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AddressLedger } from "../admission/address_ledger.ts";
import type { Logger } from "../../log.ts";
import {
  FALLBACK_MAX_SOCKETS,
  REPLACEABLE_AFTER_MS,
  RESERVED_FILES,
  SOCKET_SHARE_OF_FILES,
  SOCKETS_PER_PENDING_CONNECTION,
} from "../limits.ts";
import { type BoundName, optionLabel } from "../options/checks.ts";
import { isGranted, OPEN_FILES_REMEDY } from "./listening.ts";

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
}

const TOTAL_LIMITS: readonly BoundName[] = ["maxSockets"];
const PENDING_LIMITS: readonly BoundName[] = ["maxPendingConnectionsPerAddress", "maxPendingConnections"];

/** The TCP connections of an HTTP server: bounded in total and, before admission, also by address. */
export class TcpSockets {
  readonly #options: TcpSocketsOptions;
  readonly #pending: AddressLedger<Duplex>;
  readonly #onConnection = (socket: Socket) => this.#accept(socket);
  readonly #server: HttpServer;
  /** By the address and port of their peers: with TLS, an HTTP request has another socket over the same connection. */
  readonly #byPeer = new Map<string, Socket>();
  #open = 0;

  constructor(server: HttpServer, options: TcpSocketsOptions) {
    this.#server = server;
    this.#options = options;
    this.#pending = new AddressLedger({
      max: Math.min(options.maxSockets, options.maxPendingConnections),
      maxPerAddress: options.maxPendingConnectionsPerAddress * SOCKETS_PER_PENDING_CONNECTION,
      replaceableAfterMs: REPLACEABLE_AFTER_MS,
      evict: (socket) => void socket.destroy(),
    });
    server.on("connection", this.#onConnection);
  }

  /** Lifts the bound by address from a connection of an admitted client. */
  adopt(socket: Duplex): void {
    const peer = peerOf(socket);
    this.#pending.delete(this.#byPeer.get(peer) ?? socket);
    this.#byPeer.delete(peer);
  }

  close(): void {
    this.#server.off("connection", this.#onConnection);
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
}

function peerOf(socket: Duplex): string {
  const address = "remoteAddress" in socket ? socket.remoteAddress : undefined;
  const port = "remotePort" in socket ? socket.remotePort : undefined;
  return `${address} ${port}`;
}

/** Returns a safe number of TCP connections, well below the system's limit of open files. */
export function defaultMaxSockets(): number {
  const files = readOpenFilesLimit();
  if (files === undefined) return FALLBACK_MAX_SOCKETS;
  return Math.max(1, Math.floor(files * SOCKET_SHARE_OF_FILES) - RESERVED_FILES);
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
  if (!isGranted({ name: "read", path: LIMITS_FILE })) return undefined;
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync(LIMITS_FILE, "utf8"))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}
