/**
 * A session of Engine.IO v4 (https://socket.io/docs/v4/engine-io-protocol/): the packets between one client and Socket.IO,
 * over polling, over a WebSocket, or over the one after the other. It is the `conn` of Socket.IO's clients.
 */
import { randomBytes } from "node:crypto";
import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import type { BoundedLog } from "../../bounded_log.ts";
import type { AddressLedger } from "./address_ledger.ts";
import type { Meter } from "../observe/meter.ts";
import { Account, type MessageOwner } from "./budget.ts";
import type { Incoming } from "./incoming.ts";
import type { Frame, Outgoing } from "./frame_writer.ts";
import { EngineOutbox, type OutboxOptions } from "./outbox.ts";
import { Pending, type PendingOptions } from "./pending.ts";
import type { Expirable, Scheduled } from "../../async/timeouts.ts";
import { turnStartMs } from "../../async/turn_clock.ts";
import { shorten } from "../../text/text.ts";

/** The types of Engine.IO packets, as they are written. */
export const EnginePacketType = {
  open: "0",
  close: "1",
  ping: "2",
  pong: "3",
  message: "4",
  upgrade: "5",
  noop: "6",
} as const;
const { open: OPEN, ping: PING, pong: PONG, message: MESSAGE } = EnginePacketType;
const TYPES: ReadonlySet<string> = new Set(Object.values(EnginePacketType));

const ID_BYTES = 15;
const MAX_CLIENT_LENGTH = 100;

/** A random id: a counter in it would tell a member how busy other offices are. */
export function randomId(): string {
  return randomBytes(ID_BYTES).toString("base64url");
}

/** The way between a session and its client. */
export interface Transport {
  readonly name: "polling" | "websocket" | "memory";
  /** Its TCP connection, if it has one of its own. */
  readonly socket?: Duplex;
  /** Sends what waits in the outbox, now or when the client asks for it. */
  flush(): void;
  /** Sends what waits, and ends. */
  close(): void;
  /** Tells the client that the session ends, if that is possible now, and ends. `onGone()` of the session follows. */
  end(): void;
  /** Ends at once. */
  destroy(): void;
}

/** A WebSocket that may take the place of polling. */
export interface Probe {
  readonly socket: Duplex;
  /** Ends at once. */
  destroy(): void;
}

/** The members of the first request that Socket.IO reads until the session is admitted. */
export interface SessionRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly url: string | undefined;
  readonly _query: Readonly<Record<string, string>>;
  readonly connection: object;
}

export interface EngineOptions extends PendingOptions {
  readonly maxPayloadBytes: number;
  readonly maxMessageMemoryBytes: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
  readonly maxPendingConnections: number;
  readonly maxPendingConnectionsPerAddress: number;
  /** Whether sessions that poll may go on over a WebSocket. */
  readonly allowsUpgrades: boolean;
  readonly refusals: BoundedLog;
  readonly meter?: Pick<Meter, "sent" | "received" | "refused"> | undefined;
  /** The TCP connection belongs to an admitted client. */
  readonly onAdopted: (socket: Duplex) => void;
}

export type SessionState = EngineSession["state"];

/** What all sessions of an engine share. */
export interface SessionContext extends EngineOptions, OutboxOptions {
  /** The places of sessions that are not admitted. */
  readonly places: Pick<AddressLedger<EngineSession>, "renew" | "delete">;
  /** Nothing of the session is left. */
  readonly onGone: (session: EngineSession) => void;
}

/** The account of the session that is being announced, for the decoder that Socket.IO makes for it. */
let announced: Account | undefined;

export function accountOfNewSession(): Account {
  if (announced !== undefined) return announced;
  throw new TypeError("Cannot open a decoder: no session is being announced");
}

/** Emits `data` (a message) and, once, `close` (the reason, and more of it). */
export class EngineSession extends EventEmitter implements Expirable {
  readonly id = randomId();
  readonly protocol = 4;
  readonly remoteAddress: string;
  readonly account: Account;
  readonly outbox: EngineOutbox;
  request: SessionRequest | null;
  readyState: "open" | "closing" | "closed" = "open";
  transport: Transport;
  /** The upgrade to a WebSocket that is under way. */
  probe: Probe | undefined;
  /** Names the member for log lines, after its admission. */
  member: { readonly sid: string; readonly principal: string } | undefined;
  /** `undefined` after its admission. */
  #pending: Pending | undefined;
  readonly #options: SessionContext;
  #beat: Scheduled;
  #awaitsPong = false;
  #pingedAtMs = 0;
  #readAtMs = turnStartMs();
  #onRead: (() => void) | undefined;
  #roundTripMs: number | undefined;
  #client: string | undefined;
  /** Whether a packet has extended the time for the present pong, which happens once: a long upload may delay it. */
  #isExtended = false;
  /** Whether Socket.IO was told that the session has ended. */
  #isEnded = false;
  #isGone = false;

  constructor(
    { request, address, transport }: {
      readonly request: SessionRequest;
      readonly address: string | undefined;
      readonly transport: (session: EngineSession) => Transport;
    },
    options: SessionContext,
  ) {
    super();
    this.#options = options;
    this.request = request;
    this.remoteAddress = address ?? "";
    this.account = new Account(options.budget);
    this.outbox = new EngineOutbox(options, (reason) => {
      options.meter?.refused("slow_reader");
      const fields = { sid: this.member?.sid, waiting_bytes: this.outbox.waitingBytes };
      options.refusals.write("warn", `dropped a connection: ${reason}`, fields);
      this.terminate();
    });
    this.#pending = new Pending(this, options);
    this.#beat = options.timeouts.add(this, options.pingIntervalMs);
    this.transport = transport(this);
  }

  get isAdmitted(): boolean {
    return this.#pending === undefined && this.readyState === "open";
  }

  /** When anything of its client was last read, by `turnStartMs()`. */
  get readAtMs(): number {
    return this.#readAtMs;
  }

  /** For operators: `client` is what it calls itself in `User-Agent`; the round trip is that of its last heartbeat. */
  get state() {
    return {
      address: this.remoteAddress,
      transport: this.transport.name,
      client: this.#client,
      roundTripMs: this.#roundTripMs,
      waitingBytes: this.outbox.waitingBytes,
      isWriting: this.outbox.isWriting,
    };
  }

  /** Calls `announce` as long as {@linkcode accountOfNewSession} is the account of this session. */
  announce(announce: () => void): void {
    announced = this.account;
    try {
      announce();
    } finally {
      announced = undefined;
    }
  }

  /** Sends the first packet. */
  start(handshake: Readonly<Record<string, unknown>>): void {
    this.#send(OPEN + JSON.stringify({ sid: this.id, ...handshake }));
  }

  /** Sends a packet of Socket.IO. */
  write(
    content: Outgoing,
    options: { readonly wsPreEncodedFrame?: Frame | undefined } = {},
  ): void {
    if (this.readyState !== "open") return;
    const message = typeof content === "string" ? options.wsPreEncodedFrame ?? MESSAGE + content : content;
    this.#send(message);
  }

  /** Ends the session for Socket.IO, which calls this too, at once, and for the client after what waits was sent. */
  close(reason = "forced close"): void {
    if (this.readyState !== "open") return;
    this.readyState = "closing";
    this.transport.close();
    this.#emitClose(reason);
  }

  /** Ends a session that broke the protocol or whose transport ended: what waits is dropped. */
  fail(reason: "parse error" | "ping timeout" | "transport close" | "transport error", why?: string): void {
    if (this.readyState === "closed") return;
    this.outbox.close();
    this.readyState = "closed";
    this.transport.end();
    this.#emitClose(reason, why);
  }

  /** Ends the session and its TCP connections at once. */
  terminate(): void {
    this.outbox.close();
    this.readyState = "closed";
    this.transport.destroy();
    this.#emitClose("forced close");
    this.onGone();
  }

  /** Its transport has ended: nothing of the session is left. */
  onGone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    if (this.readyState === "open") this.#emitClose("transport close");
    this.readyState = "closed";
    this.probe?.destroy();
    this.outbox.close();
    this.#options.places.delete(this);
    this.#options.onGone(this);
  }

  /** Lifts the bounds of a session that is not admitted, and delivers what was held back. */
  admit(owner: MessageOwner, member: { readonly sid: string; readonly principal: string }): void {
    const held = this.#pending?.end() ?? [];
    this.#pending = undefined;
    this.member = member;
    this.account.assignTo(owner);
    this.#options.places.delete(this);
    for (const socket of [this.transport.socket, this.probe?.socket]) {
      if (socket !== undefined) this.#options.onAdopted(socket);
    }
    // Socket.IO's client refers to it as long as it lives.
    this.#client = shorten(String(this.request?.headers["user-agent"] ?? ""), MAX_CLIENT_LENGTH) || undefined;
    if (this.request !== null) this.request.headers = {};
    this.request = null;
    for (const message of held) if (this.readyState === "open") this.emit("data", message);
  }

  /** Ends a session that Socket.IO has refused, after its client has had time to read the reason. */
  refuse(): void {
    this.#pending?.refuse();
  }

  /** Ends a session that is not admitted, because it broke a rule or was too slow; without a reason, nothing is wrong. */
  dropPending(reason: string | undefined): void {
    if (this.readyState === "closed") return;
    if (reason !== undefined) {
      this.#options.meter?.refused("before_admission");
      const fields = { address: this.remoteAddress };
      this.#options.refusals.write("warn", `dropped a connection: ${reason}`, fields);
    }
    this.terminate();
  }

  onConnecting(): void {
    this.#options.places.renew(this);
  }

  /** Something of its client has arrived. */
  onRead(): void {
    this.#readAtMs = turnStartMs();
    const onRead = this.#onRead;
    this.#onRead = undefined;
    onRead?.();
  }

  /** Sends a ping now, unless a pong is awaited, and calls `onRead` once, when anything of the client has arrived. */
  ping(onRead: () => void): void {
    this.#onRead = onRead;
    if (this.readyState === "open" && !this.#awaitsPong) this.expire();
  }

  /** Counts a chunk of a WebSocket of the session; `false` when it ended the session. */
  countChunk(bytes: number): boolean {
    this.onRead();
    return this.#pending?.countChunk(bytes) ?? true;
  }

  /** Reads a packet that came as text. */
  onText(text: string): void {
    const type = text.charAt(0);
    const content = text.slice(1);
    if (type === MESSAGE) return this.onMessage(content);
    if (!this.#accepts(content)) return;
    if (type === PONG) this.#onPong();
    else if (type === PING) this.fail("transport error");
    else if (!TYPES.has(type)) this.fail("parse error");
  }

  /** Reads the content of a message. */
  onMessage(message: Incoming): void {
    if (!this.#accepts(message)) return;
    if (this.#pending?.passes(message) ?? true) this.emit("data", message);
  }

  /** Goes on over another transport, with a heartbeat of its own. */
  upgradeTo(transport: Transport): void {
    this.transport = transport;
    this.probe = undefined;
    transport.flush();
    // A session that ends could not tell it to its client, who polls no more.
    if (this.readyState !== "open") return transport.close();
    this.#awaitsPong = false;
    this.#wait(this.#options.pingIntervalMs);
  }

  /** Implements {@linkcode Expirable}: sends a ping, or ends the session that has not answered one. */
  expire(): void {
    const { pingTimeoutMs } = this.#options;
    if (!this.#awaitsPong) {
      this.#awaitsPong = true;
      this.#isExtended = false;
      this.#pingedAtMs = performance.now();
      this.#wait(pingTimeoutMs);
      return this.#send(PING);
    }
    const beat = this.#beat;
    // After a stall of the event loop, the pong may have arrived meanwhile.
    setTimeout(() => {
      if (this.#awaitsPong && beat === this.#beat) this.fail("ping timeout");
    }, 0);
  }

  #accepts(content: Incoming): boolean {
    if (this.readyState !== "open") return false;
    if (this.#awaitsPong && !this.#isExtended) {
      this.#isExtended = true;
      this.#wait(this.#options.pingTimeoutMs);
    }
    return this.#pending?.countPacket(content) ?? true;
  }

  /** A pong without a ping is ignored: it would postpone the next ping. */
  #onPong(): void {
    if (!this.#awaitsPong) return;
    this.#awaitsPong = false;
    this.#roundTripMs = performance.now() - this.#pingedAtMs;
    this.#wait(this.#options.pingIntervalMs);
  }

  #send(message: Outgoing): void {
    this.outbox.add(message);
    this.transport.flush();
  }

  #wait(timeoutMs: number): void {
    const { timeouts } = this.#options;
    timeouts.cancel(this.#beat);
    this.#beat = timeouts.add(this, timeoutMs);
  }

  #emitClose(reason: string, why?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#options.timeouts.cancel(this.#beat);
    this.#pending?.end();
    this.emit("close", reason, why);
  }
}
