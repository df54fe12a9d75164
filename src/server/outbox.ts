/** A bound on the bytes that wait until a connection reads them. */
import { Buffer } from "node:buffer";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import type { Expirable, Scheduled, TimingWheel } from "./timing_wheel.ts";

/** A packet of Engine.IO, as far as this looks. */
interface Packet {
  type: string;
  readonly data?: unknown;
}

/** What a packet takes in memory beside its data: its options, and the frame that is made for all of an office. Measured. */
export const PACKET_BYTES = 2048;
/** So many bytes may wait, also where the largest message is smaller. */
const MIN_WAITING_BYTES = 1024 * 1024;
/** This many small packets may wait beside a message of the largest size. */
const FEW_PACKETS = 16;
/** This share of the bytes that may wait counts as nothing, so that the largest message passes beside it. */
const NOTHING_SHARE = 1 / 256;
/** A relayed message may be this much larger than the largest message: its JSON is written anew. */
const WRITTEN_SHARE = 1.25;
/** This share of the bytes that may wait, answers and notifications included, ends the connection. */
const END_SHARE = 1.5;
/** A text up to this length counts as two bytes a character, since measuring it would take longer. */
const SMALL_TEXT_LENGTH = 1024;

/** The HTTP response to a poll. */
interface PollResponse {
  once(event: "close", listener: () => void): unknown;
  destroy(): unknown;
}

/** As much of an Engine.IO transport as this needs. */
export interface TransportLike {
  readonly name: string;
  on(event: "drain", listener: () => void): unknown;
}

/** As much of an Engine.IO connection as this needs. */
export interface EngineLike {
  readonly transport: TransportLike;
  on(event: "packet" | "packetCreate", listener: (packet: Packet) => void): unknown;
  on(event: "upgrade", listener: (transport: TransportLike) => void): unknown;
  on(event: "flush", listener: (packets: readonly Packet[]) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  close(discard?: boolean): unknown;
}

/** The bounds of an outbox. */
export interface OutboxOptions {
  /**
   * The largest message. As many bytes may wait, and 1 MiB in any case: a message that would exceed them is refused, and
   * half as much again ends the connection.
   */
  readonly maxPayloadBytes: number;
  readonly pingIntervalMs: number;
  /** With the interval: how long a connection may read nothing of what waits. */
  readonly pingTimeoutMs: number;
  readonly timeouts: TimingWheel;
  /** Called with the reason before the connection is ended. */
  readonly onEnd: (reason: string, waitingBytes: number) => void;
}

/**
 * Watches one connection: Engine.IO buffers what its peer does not read without a bound, and accepts pongs that answer no
 * ping, so that a peer that reads nothing stays connected.
 */
export class Outbox implements Expirable {
  readonly #engine: EngineLike;
  readonly #options: OutboxOptions;
  readonly #maxBytes: number;
  /** Engine.IO's own buffer, and what its transport has taken but not written yet. */
  #bufferedBytes = 0;
  #handedOverBytes = 0;
  #totalBytes = 0;
  #isRefusing = false;
  /** Whether something was read since the stall was last looked at. */
  #isReading = false;
  #stall: Scheduled | undefined;
  #isClosed = false;
  // A ping that was sent before this began to watch may still be answered.
  #isPingOpen = true;
  #isPingHandedOver = true;
  readonly #responses = new Set<PollResponse>();

  constructor(engine: EngineLike, options: OutboxOptions) {
    this.#engine = engine;
    this.#options = options;
    this.#maxBytes = Math.max(options.maxPayloadBytes, MIN_WAITING_BYTES);
    engine.on("packetCreate", (packet) => this.#add(packet));
    engine.on("flush", (packets) => this.#handOver(packets));
    engine.on("packet", (packet) => this.#receive(packet));
    engine.on("upgrade", (transport) => this.#follow(transport));
    engine.on("close", () => this.#stop());
    this.#follow(engine.transport);
  }

  /** Bytes that wait. */
  get waitingBytes(): number {
    return this.#bufferedBytes + this.#handedOverBytes;
  }

  /**
   * Sends one message, if there is room.
   *
   * @param send Hands the message to Socket.IO.
   * @return How many bytes it takes.
   * @throws {SmcpError} 413 when there is none, and before anything is sent.
   */
  push(send: () => void): number {
    const before = this.#totalBytes;
    this.#isRefusing = true;
    try {
      send();
    } finally {
      this.#isRefusing = false;
    }
    return this.#totalBytes - before;
  }

  /** Looks whether the peer has read anything: implements {@linkcode Expirable}. */
  expire(): void {
    this.#stall = undefined;
    if (this.#isClosed || this.waitingBytes === 0) return;
    if (!this.#isReading) return this.#end("it reads nothing");
    this.#watchStall();
  }

  #add(packet: Packet): void {
    const bytes = sizeOf(packet.data) + PACKET_BYTES;
    if (this.#isRefusing) {
      // Once: what belongs to a message whose first packet has left must follow it.
      this.#isRefusing = false;
      this.#requireRoom(bytes);
    }
    if (packet.type === "ping") {
      this.#isPingOpen = true;
      this.#isPingHandedOver = false;
    }
    this.#bufferedBytes += bytes;
    this.#totalBytes += bytes;
    if (this.#stall === undefined) this.#watchStall();
    const excessBytes = this.waitingBytes - this.#maxBytes * END_SHARE;
    // Not at once: the sender may be in the middle of a broadcast.
    if (excessBytes > 0 && excessBytes <= bytes) queueMicrotask(() => this.#end("it reads too slowly"));
  }

  #requireRoom(bytes: number): void {
    const { maxPayloadBytes } = this.#options;
    const isTooLarge = bytes > maxPayloadBytes * WRITTEN_SHARE + PACKET_BYTES;
    if (isTooLarge) throw noRoom(bytes, maxPayloadBytes);
    const isAlone = this.waitingBytes <= this.#maxBytes * NOTHING_SHARE + FEW_PACKETS * PACKET_BYTES;
    const size = this.waitingBytes + bytes;
    if (size > this.#maxBytes && !isAlone) throw noRoom(size, this.#maxBytes);
  }

  #handOver(packets: readonly Packet[]): void {
    if (!this.#isPingHandedOver) this.#isPingHandedOver = packets.some(({ type }) => type === "ping");
    const response = pollResponseOf(this.#engine.transport);
    if (response === undefined) {
      this.#handedOverBytes += this.#bufferedBytes;
      this.#bufferedBytes = 0;
      return;
    }
    // A polling answer takes a bounded number of packets, and its transport is done with it as soon as it can write it,
    // however slowly its peer reads.
    let bytes = 0;
    for (const { data } of packets) bytes += sizeOf(data) + PACKET_BYTES;
    this.#handedOverBytes += bytes;
    this.#bufferedBytes = Math.max(0, this.#bufferedBytes - bytes);
    this.#responses.add(response);
    response.once("close", () => {
      this.#responses.delete(response);
      this.#release(bytes);
    });
  }

  #follow(transport: TransportLike): void {
    if (transport.name === "polling") return;
    transport.on("drain", () => {
      if (transport === this.#engine.transport) this.#release(this.#handedOverBytes);
    });
  }

  #release(bytes: number): void {
    this.#handedOverBytes = Math.max(0, this.#handedOverBytes - bytes);
    this.#isReading = true;
  }

  /** Ignores a pong that answers no ping: it would postpone the next ping. */
  #receive(packet: Packet): void {
    if (packet.type !== "pong") return;
    if (!this.#isPingOpen || !this.#isPingHandedOver) packet.type = "noop";
    else this.#isPingOpen = false;
  }

  #watchStall(): void {
    if (this.#isClosed) return;
    this.#isReading = false;
    const { timeouts, pingIntervalMs, pingTimeoutMs } = this.#options;
    this.#stall = timeouts.add(this, pingIntervalMs + pingTimeoutMs);
  }

  /** Closes without a close packet, which would wait behind everything else. */
  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#options.onEnd(reason, this.waitingBytes);
    const webSocket: unknown = Reflect.get(this.#engine.transport, "socket");
    const responses = [...this.#responses];
    this.#engine.close(true);
    if (canTerminate(webSocket)) webSocket.terminate();
    for (const response of responses) response.destroy();
  }

  #stop(): void {
    this.#isClosed = true;
    if (this.#stall !== undefined) this.#options.timeouts.cancel(this.#stall);
    this.#bufferedBytes = this.#handedOverBytes = 0;
  }
}

/** About how many bytes of memory it takes. */
function sizeOf(data: unknown): number {
  if (typeof data === "string") {
    return data.length <= SMALL_TEXT_LENGTH
      ? data.length * 2
      : Math.max(data.length, Buffer.byteLength(data));
  }
  return ArrayBuffer.isView(data) ? data.byteLength : 0;
}

function noRoom(size: number, limit: number): SmcpError {
  return new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot send a message: with it ${size} bytes would wait for a peer that reads slowly, and the limit is ${limit}`,
    { details: { size, limit } },
  );
}

function pollResponseOf(transport: TransportLike): PollResponse | undefined {
  const response = "res" in transport ? transport.res : undefined;
  return isPollResponse(response) ? response : undefined;
}

function isPollResponse(value: unknown): value is PollResponse {
  return typeof value === "object" && value !== null && "once" in value && "destroy" in value;
}

function canTerminate(value: unknown): value is { terminate(): void } {
  return typeof value === "object" && value !== null && "terminate" in value;
}
