/**
 * Pending connections: those that are not admitted yet. Everybody who can reach the port can open them, so their memory, their
 * time and their number are bounded. Of an admitted connection, only its id and its one WebSocket are kept here.
 */
import { Buffer } from "node:buffer";
import type { Duplex } from "node:stream";
import { SMCP_NAMESPACE } from "../../protocol/events.ts";
import { UpgradeRequest } from "../engine/upgrade_request.ts";
import { addressOf, type ProxiedRequest, type TrustedProxies } from "./proxies.ts";
import type { MessageOwner } from "../message_shares.ts";
import { AddressLedger } from "./address_ledger.ts";
import { HeldMessages, type MessageSource } from "./held_messages.ts";
import {
  MAX_CONNECT_MEMBERS,
  MAX_PENDING_BYTES,
  MAX_PENDING_CHUNKS,
  MAX_PENDING_PACKETS,
  MAX_UNDECIDED_BYTES,
  REFUSAL_LINGER_MS,
  REPLACEABLE_AFTER_MS,
} from "../limits.ts";

interface RequestEnd {
  once(event: "close", listener: () => void): unknown;
  off(event: "close", listener: () => void): unknown;
}

/** The properties of an Engine.IO connection that are used here. */
export interface EngineConnection extends MessageSource {
  readonly id: string;
  readonly request: ProxiedRequest;
  readonly transport: object;
  on(event: "packet", listener: (packet: EnginePacket) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  on(...data: Parameters<MessageSource["on"]>): unknown;
  off(event: "packet", listener: (packet: EnginePacket) => void): unknown;
  off(...data: Parameters<MessageSource["off"]>): unknown;
  close(discard?: boolean): unknown;
}

export interface EnginePacket {
  readonly type: string;
  readonly data?: unknown;
}

export interface PendingConnectionsOptions {
  readonly maxPendingConnections: number;
  readonly maxPendingConnectionsPerAddress: number;
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly maxPayloadBytes: number;
  readonly proxies?: TrustedProxies | undefined;
  readonly onDropped: (reason: string, address: string | undefined) => void;
  readonly onAdopted: (socket: Duplex) => void;
}

interface PendingConnection {
  readonly address: string | undefined;
  /** `connecting` until its CONNECT packet, `deciding` until the auth provider decides, `refused` until it is closed. */
  phase: "connecting" | "deciding" | "refused";
  connection: EngineConnection | undefined;
  /** Its messages since the CONNECT packet, if any. */
  held: HeldMessages | undefined;
  /** The bytes that arrived over WebSockets, incomplete packets included. */
  bytes: number;
  chunks: number;
  /** Packets of all transports. */
  packets: number;
  /** The bytes of packets; set back to 0 by the CONNECT packet. */
  packetBytes: number;
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Its WebSockets, each with a function that stops the counting of its bytes. */
  readonly sockets: Map<Duplex, () => void>;
  stopReading: () => void;
  /** Ends the waiting for the end of its first request. */
  stopWaiting: () => void;
}

export class PendingConnections {
  readonly #options: PendingConnectionsOptions;
  readonly #places: AddressLedger<PendingConnection>;
  readonly #byRequest = new WeakMap<ProxiedRequest, PendingConnection>();
  readonly #byConnection = new WeakMap<object, PendingConnection>();
  readonly #bySid = new Map<string, PendingConnection>();
  readonly #upgrades = new WeakMap<ProxiedRequest, Duplex>();
  /** Those that are admitted, and whom their messages count for. */
  readonly #admitted = new Map<string, MessageOwner>();
  /** The WebSockets of all Engine.IO sessions, admitted or not. */
  readonly #webSockets = new Map<string, Duplex>();

  constructor(options: PendingConnectionsOptions) {
    this.#options = options;
    this.#places = new AddressLedger({
      max: options.maxPendingConnections,
      maxPerAddress: options.maxPendingConnectionsPerAddress,
      replaceableAfterMs: REPLACEABLE_AFTER_MS,
      evict: (pending) => this.#drop(pending, "a newer connection took its place"),
    });
  }

  /** Reserves a place for the connection that this request opens until it ends; `false` when no place is free. */
  reserve(request: ProxiedRequest, end: RequestEnd): boolean {
    const address = addressOf(request, this.#options.proxies);
    const pending: PendingConnection = {
      address,
      phase: "connecting",
      connection: undefined,
      held: undefined,
      bytes: 0,
      chunks: 0,
      packets: 0,
      packetBytes: 0,
      timer: undefined,
      sockets: new Map(),
      stopReading: noop,
      stopWaiting: noop,
    };
    if (!this.#places.add(pending, address)) return false;
    this.#byRequest.set(request, pending);
    const onEnd = () => {
      if (pending.connection === undefined) this.#forget(pending);
    };
    end.once("close", onEnd);
    pending.stopWaiting = () => void end.off("close", onEnd);
    // The time limit starts here, because a request may never become a connection.
    this.#wait(pending, this.#options.connectTimeoutMs, "it sent no CONNECT packet in time");
    return true;
  }

  addressOf(key: object): string | undefined {
    return this.#byConnection.get(key)?.address;
  }

  isAdmitted(sid: string): boolean {
    return this.#admitted.has(sid);
  }

  /** Returns whom the messages of a connection count for; `undefined` before its admission. */
  ownerOf(sid: string): MessageOwner | undefined {
    return this.#admitted.get(sid);
  }

  /**
   * Claims the only WebSocket that a session may have at a time; `false` when the session has one. Each WebSocket
   * could hold a message of the largest size, and Engine.IO keeps a superfluous WebSocket open for half a minute.
   */
  claimWebSocket(sid: string, socket: Duplex): boolean {
    if (this.#webSockets.get(sid)?.destroyed === false) return false;
    // Engine.IO refuses an unknown session.
    if (this.#bySid.has(sid) || this.#admitted.has(sid)) this.#webSockets.set(sid, socket);
    return true;
  }

  expectUpgrade(request: ProxiedRequest, socket: Duplex, sid: string | undefined): void {
    this.#upgrades.set(request, socket);
    const pending = sid === undefined ? undefined : this.#bySid.get(sid);
    if (pending !== undefined) this.#byRequest.set(request, pending);
  }

  /**
   * Counts the bytes of a WebSocket. Call it only after the handshake was answered: an earlier listener would consume
   * bytes of the WebSocket.
   */
  startCounting(request: ProxiedRequest): void {
    const socket = this.#upgrades.get(request);
    const pending = this.#byRequest.get(request);
    if (socket === undefined || pending === undefined || !this.#places.has(pending)) return;
    const onData = (chunk: { readonly length: number }) => {
      pending.bytes += chunk.length;
      const isTooMuch = pending.bytes >= MAX_PENDING_BYTES ||
        ++pending.chunks > MAX_PENDING_CHUNKS;
      if (isTooMuch) this.#drop(pending, SENT_TOO_MUCH);
    };
    const onClose = () => pending.sockets.delete(socket);
    socket.on("data", onData).on("close", onClose);
    // A listener that stays would keep the pending connection, and with it the first request, in memory.
    pending.sockets.set(socket, () => void socket.off("data", onData).off("close", onClose));
    if (request instanceof UpgradeRequest && request.session !== undefined) this.#forgetUpgrade(request);
  }

  #forgetUpgrade(request: ProxiedRequest): void {
    this.#upgrades.delete(request);
    this.#byRequest.delete(request);
  }

  welcome(connection: EngineConnection): void {
    const pending = this.#byRequest.get(connection.request);
    if (pending === undefined || !this.#places.has(pending)) return void connection.close(true);
    pending.stopWaiting();
    pending.connection = connection;
    this.#byConnection.set(connection, pending);
    this.#bySid.set(connection.id, pending);
    const socket = this.#upgrades.get(connection.request);
    if (socket !== undefined) this.claimWebSocket(connection.id, socket);
    limitPolling(connection, MAX_PENDING_BYTES);
    const onPacket = (packet: EnginePacket) => this.#readPacket(pending, packet);
    connection.on("packet", onPacket);
    pending.stopReading = () => void connection.off("packet", onPacket);
    this.#watchClose(connection);
  }

  /** A separate method, so that its closure does not keep the pending connection in memory. */
  #watchClose(connection: EngineConnection): void {
    connection.on("close", () => {
      this.#admitted.delete(connection.id);
      this.#webSockets.delete(connection.id);
      const pending = this.#byConnection.get(connection);
      if (pending !== undefined) this.#forget(pending);
    });
  }

  /**
   * Lifts the limits of a connection, and delivers its messages since the CONNECT packet.
   *
   * @param key The Engine.IO connection; `object`, because Socket.IO's types do not describe it.
   * @param owner Whom its messages count for.
   */
  admit(key: object, owner: MessageOwner): void {
    const pending = this.#byConnection.get(key);
    const connection = pending?.connection;
    if (pending === undefined || connection === undefined || !this.#places.has(pending)) return;
    for (const socket of pending.sockets.keys()) this.#options.onAdopted(socket);
    this.#forget(pending);
    // Until the next collection of all garbage, a WeakMap keeps the value of a key that is gone, and what it refers to.
    this.#byConnection.delete(connection);
    this.#forgetUpgrade(connection.request);
    this.#admitted.set(connection.id, owner);
    limitPolling(connection, this.#options.maxPayloadBytes);
    forgetRequest(connection);
    pending.held?.deliver();
  }

  /** Closes a refused connection after its client has had time to read the reason. */
  refuse(key: object): void {
    const pending = this.#byConnection.get(key);
    const connection = pending?.connection;
    if (pending === undefined || connection === undefined || !this.#places.has(pending)) return;
    pending.phase = "refused";
    pending.held ??= new HeldMessages(connection);
    pending.held.discard();
    this.#wait(pending, REFUSAL_LINGER_MS, undefined);
  }

  close(): void {
    for (const pending of this.#places) this.#drop(pending, undefined);
  }

  #readPacket(pending: PendingConnection, { type, data }: EnginePacket): void {
    const maxBytes = pending.phase === "connecting" ? MAX_PENDING_BYTES : MAX_UNDECIDED_BYTES;
    pending.packetBytes += sizeOf(data);
    if (pending.packetBytes >= maxBytes) return this.#drop(pending, SENT_TOO_MUCH);
    if (++pending.packets > MAX_PENDING_PACKETS) return this.#drop(pending, "it sent too many packets");
    if (type !== "message") return;
    if (pending.phase === "connecting") this.#readConnect(pending, data);
    else this.#keep(pending, data);
  }

  #readConnect(pending: PendingConnection, data: unknown): void {
    if (typeof data !== "string" || !data.startsWith("0")) {
      return this.#drop(pending, "its first packet is not a CONNECT packet");
    }
    if (!isConnectTo(data, SMCP_NAMESPACE)) return;
    if (hasTooManyMembers(data)) return this.#drop(pending, "its CONNECT packet has too many members");
    pending.phase = "deciding";
    pending.packetBytes = 0;
    this.#places.renew(pending);
    // Only a safeguard: the auth provider's time limit ends first and refuses the client.
    this.#wait(
      pending,
      this.#options.authTimeoutMs + REFUSAL_LINGER_MS,
      "the auth provider did not decide in time",
    );
  }

  #keep(pending: PendingConnection, data: unknown): void {
    if (typeof data === "string" && isConnectTo(data, SMCP_NAMESPACE)) {
      return this.#drop(pending, "it sent a second CONNECT packet");
    }
    if (pending.connection !== undefined) pending.held ??= new HeldMessages(pending.connection);
  }

  /** @param reason The reason for the log; without one, nothing is logged. */
  #wait(pending: PendingConnection, ms: number, reason: string | undefined): void {
    clearTimeout(pending.timer);
    pending.timer = setTimeout(() => {
      // After a stall of the event loop, packets that arrived meanwhile are handled first.
      pending.timer = setTimeout(() => this.#drop(pending, reason), 0);
    }, ms);
  }

  #drop(pending: PendingConnection, reason: string | undefined): void {
    const sockets = [...pending.sockets.keys()];
    const { connection } = pending;
    this.#forget(pending);
    if (reason !== undefined) this.#options.onDropped(reason, pending.address);
    connection?.close(true);
    // The closing handshake of a WebSocket could take another half minute.
    for (const socket of sockets) socket.destroy();
  }

  #forget(pending: PendingConnection): void {
    clearTimeout(pending.timer);
    this.#places.delete(pending);
    pending.stopReading();
    pending.stopWaiting();
    pending.stopReading = pending.stopWaiting = noop;
    for (const stopCounting of pending.sockets.values()) stopCounting();
    pending.sockets.clear();
    if (pending.connection !== undefined) this.#bySid.delete(pending.connection.id);
  }
}

function noop(): void {}

/** Private member of Engine.IO: the limit of a polling body. */
function limitPolling({ transport }: EngineConnection, maxBytes: number): void {
  if ("maxHttpBufferSize" in transport) transport.maxHttpBufferSize = maxBytes;
}

/**
 * Private use of Engine.IO, which keeps the first request with its headers as long as the connection. Deno keeps a request
 * until the next collection of all garbage, so what Engine.IO has put into it goes at once.
 */
function forgetRequest(connection: EngineConnection): void {
  const { request, transport } = connection;
  const isPolling = Reflect.get(transport, "req") === request;
  if (request instanceof UpgradeRequest) request.forgetHeaders();
  else if (!isPolling) Reflect.set(request, "cleanup", undefined);
  Reflect.set(connection, "request", null);
}

const SENT_TOO_MUCH = "it sent too much before it was admitted";

function sizeOf(data: unknown): number {
  if (typeof data === "string") return Buffer.byteLength(data);
  return data instanceof Uint8Array ? data.byteLength : 0;
}

function isConnectTo(packet: string, namespace: string): boolean {
  if (!packet.startsWith("0")) return false;
  const nsp = packet.slice(1, namespace.length + 1);
  const next = packet.charAt(namespace.length + 1);
  return nsp === namespace && (next === "" || next === ",");
}

/** The characters before a member of an object or a list. Those inside texts count too. */
const BEFORE_A_MEMBER = /[[{,]/g;

function hasTooManyMembers(packet: string): boolean {
  let count = 0;
  for (const _ of packet.matchAll(BEFORE_A_MEMBER)) if (++count > MAX_CONNECT_MEMBERS) return true;
  return false;
}
