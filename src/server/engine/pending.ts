/**
 * The beginning of a session, until it is admitted. Everybody who can reach the port can begin sessions, so what each may
 * send and how long it may take is bounded here, and their number by the {@linkcode AddressLedger}.
 */
import { Buffer } from "node:buffer";
import { SMCP_NAMESPACE } from "../../protocol/events.ts";
import { CONSTANTS } from "../options/constants.ts";
import { REFUSAL_LINGER_MS } from "../../http/refusals.ts";
import { type Incoming, sizeOf } from "./incoming.ts";
import type { Expirable, Scheduled, Timeouts } from "../../async/timeouts.ts";

/** A session must send less than this before its CONNECT packet. */
const MAX_PENDING_BYTES = CONSTANTS.maxPendingBytes.value;
const MAX_UNDECIDED_BYTES = CONSTANTS.maxUndecidedBytes.value;
/** The most chunks of a WebSocket in which those bytes may arrive: each chunk costs more than its bytes. */
const MAX_CHUNKS = 256;
const MAX_PACKETS = CONSTANTS.maxPendingPackets.value;
/** The most members and items in the JSON of a CONNECT packet: as objects they cost far more than as text. */
const MAX_CONNECT_MEMBERS = 1024;

export interface PendingOptions {
  readonly connectTimeoutMs: number;
  readonly authTimeoutMs: number;
  readonly timeouts: Timeouts;
}

/** What the beginning of a session asks of it. */
export interface PendingSession {
  /** Its CONNECT packet has arrived: its place counts from now. */
  onConnecting(): void;
  /** Ends the session; without a reason, nothing is logged. */
  dropPending(reason: string | undefined): void;
}

const SENT_TOO_MUCH = "it sent too much before it was admitted";

export class Pending implements Expirable {
  readonly #session: PendingSession;
  readonly #options: PendingOptions;
  /** `connecting` until its CONNECT packet, `deciding` until the auth provider decides, `refused` until it ends. */
  #phase: "connecting" | "deciding" | "refused" = "connecting";
  /** The messages since its CONNECT packet. The clients of some languages send them without waiting. */
  #early: Incoming[] = [];
  #rawBytes = 0;
  #chunks = 0;
  #packets = 0;
  #packetBytes = 0;
  #timeoutReason: string | undefined = "it sent no CONNECT packet in time";
  #scheduled: Scheduled;
  #isOver = false;

  constructor(session: PendingSession, options: PendingOptions) {
    this.#session = session;
    this.#options = options;
    this.#scheduled = options.timeouts.add(this, options.connectTimeoutMs);
  }

  /** Counts bytes of a WebSocket, incomplete packets included; `false` when they are too many. */
  countChunk(bytes: number): boolean {
    this.#rawBytes += bytes;
    if (this.#rawBytes < MAX_PENDING_BYTES && ++this.#chunks <= MAX_CHUNKS) return true;
    this.#session.dropPending(SENT_TOO_MUCH);
    return false;
  }

  /** Counts a packet of any transport; `false` when it is one too many. */
  countPacket(content: Incoming): boolean {
    this.#packetBytes += sizeOf(content);
    const maxBytes = this.#phase === "connecting" ? MAX_PENDING_BYTES : MAX_UNDECIDED_BYTES;
    const problem = this.#packetBytes >= maxBytes
      ? SENT_TOO_MUCH
      : ++this.#packets > MAX_PACKETS
      ? "it sent too many packets"
      : undefined;
    if (problem !== undefined) this.#session.dropPending(problem);
    return problem === undefined;
  }

  /** Returns whether a message goes on to Socket.IO now. */
  passes(message: Incoming): boolean {
    if (this.#phase === "refused") return false;
    if (this.#phase === "connecting") return this.#readConnect(message);
    if (typeof message === "string" && isConnectTo(message, SMCP_NAMESPACE)) {
      this.#session.dropPending("it sent a second CONNECT packet");
    } else this.#early.push(copyOf(message));
    return false;
  }

  /** Keeps the session for a moment, so that its client can read why it was refused. */
  refuse(): void {
    // It may have ended while it was decided.
    if (this.#isOver) return;
    this.#phase = "refused";
    this.#early = [];
    this.#wait(REFUSAL_LINGER_MS, undefined);
  }

  /** Ends the waiting, and returns the messages that were held back. */
  end(): readonly Incoming[] {
    this.#options.timeouts.cancel(this.#scheduled);
    this.#isOver = true;
    return this.#early.splice(0);
  }

  /** Implements {@linkcode Expirable}. After a stall of the event loop, packets that arrived meanwhile are handled first. */
  expire(): void {
    const scheduled = this.#scheduled;
    setTimeout(() => {
      if (scheduled === this.#scheduled && !this.#isOver) this.#session.dropPending(this.#timeoutReason);
    }, 0);
  }

  #readConnect(message: Incoming): boolean {
    if (typeof message !== "string" || !message.startsWith("0")) {
      this.#session.dropPending("its first packet is not a CONNECT packet");
      return false;
    }
    // Socket.IO refuses any other namespace.
    if (!isConnectTo(message, SMCP_NAMESPACE)) return true;
    if (hasTooManyMembers(message)) {
      this.#session.dropPending("its CONNECT packet has too many members");
      return false;
    }
    this.#phase = "deciding";
    this.#packetBytes = 0;
    this.#session.onConnecting();
    // Only a safeguard: the auth provider's time limit ends first and refuses the client.
    const timeoutMs = this.#options.authTimeoutMs + REFUSAL_LINGER_MS;
    this.#wait(timeoutMs, "the auth provider did not decide in time");
    return true;
  }

  #wait(timeoutMs: number, reason: string | undefined): void {
    const { timeouts } = this.#options;
    timeouts.cancel(this.#scheduled);
    this.#timeoutReason = reason;
    this.#scheduled = timeouts.add(this, timeoutMs);
  }
}

/** Copies bytes, since they may be a small part of a large buffer that they would keep in memory. */
function copyOf(message: Incoming): Incoming {
  return message instanceof Uint8Array ? Buffer.from(Uint8Array.from(message).buffer) : message;
}

function isConnectTo(packet: string, namespace: string): boolean {
  if (!packet.startsWith(`0${namespace}`)) return false;
  const next = packet.charAt(namespace.length + 1);
  return next === "" || next === ",";
}

/** The characters before a member of an object or a list. Those inside texts count too. */
const BEFORE_A_MEMBER = /[[{,]/g;

function hasTooManyMembers(packet: string): boolean {
  let count = 0;
  for (const _ of packet.matchAll(BEFORE_A_MEMBER)) if (++count > MAX_CONNECT_MEMBERS) return true;
  return false;
}
