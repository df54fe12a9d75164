/** Bounds the bytes that wait until the peer of a connection reads them. */
import { Buffer } from "node:buffer";
import { ErrorCode } from "../protocol/error_codes.ts";
import { SmcpError } from "../protocol/errors.ts";
import { type MemoryBudget, noMemory } from "./memory_budget.ts";
import { LongPacket } from "./engine/long_packet.ts";
import { currentBytes } from "./engine/plain_text.ts";
import type { Meter } from "./observe/meter.ts";
import type { Expirable, Scheduled, TimingWheel } from "./timing_wheel.ts";

/** The members of an Engine.IO packet that are used here. */
interface Packet {
  type: string;
  readonly data?: unknown;
  /** `wsPreEncodedFrame` goes to the `sendFrame` of the WebSocket as it is. */
  readonly options?: { wsPreEncodedFrame?: unknown };
}

/** The memory of a packet besides its data, measured: its options, and the frame of a broadcast. */
export const PACKET_BYTES = 2048;
/** The minimum of bytes that may wait, also when the largest message is smaller. */
const MIN_WAITING_BYTES = 1024 * 1024;
/** The number of small packets that may wait besides a message of the largest size. */
const FEW_PACKETS = 16;
/** This share of the limit counts as nothing, so that the largest message still passes. */
const NOTHING_SHARE = 1 / 256;
/** A relayed message may grow by this factor, since its JSON is written again. */
const WRITTEN_SHARE = 1.25;
/** With this multiple of the limit, answers and notifications included, the connection is closed. */
const END_SHARE = 1.5;
/** Texts up to this length count as two bytes per character, since measuring them would be slower. */
const SMALL_TEXT_LENGTH = 1024;

interface PollResponse {
  once(event: "close", listener: () => void): unknown;
  destroy(): unknown;
}

/** The members of an Engine.IO transport that are used here. */
export interface TransportLike {
  readonly name: string;
  on(event: "drain", listener: () => void): unknown;
}

/** The members of an Engine.IO connection that are used here. */
export interface EngineLike {
  readonly transport: TransportLike;
  on(event: "packet" | "packetCreate", listener: (packet: Packet) => void): unknown;
  on(event: "upgrade", listener: (transport: TransportLike) => void): unknown;
  on(event: "flush", listener: (packets: readonly Packet[]) => void): unknown;
  on(event: "close", listener: () => void): unknown;
  close(discard?: boolean): unknown;
}

export interface OutboxOptions {
  /**
   * The size of the largest message. As many bytes may wait, and 1 MiB in any case: a message beyond that is refused, and
   * one and a half times as many bytes close the connection.
   */
  readonly maxPayloadBytes: number;
  readonly memory: MemoryBudget;
  readonly pingIntervalMs: number;
  /** Together with the interval: how long a connection may read none of the bytes that wait. */
  readonly pingTimeoutMs: number;
  readonly timeouts: TimingWheel;
  readonly meter?: Pick<Meter, "received" | "sent"> | undefined;
  readonly onEnd: (end: {
    readonly sid: string;
    readonly reason: string;
    readonly waitingBytes: number;
  }) => void;
}

/**
 * Watches one connection. Engine.IO buffers without a bound what the peer does not read. It also accepts pongs without a
 * ping, so a peer that reads nothing could stay connected.
 */
export class Outbox implements Expirable {
  readonly #engine: EngineLike;
  readonly #options: OutboxOptions;
  readonly #sid: string;
  readonly #maxBytes: number;
  /** Bytes in the buffer of Engine.IO, and bytes that its transport has not written yet. */
  #bufferedBytes = 0;
  #handedOverBytes = 0;
  #totalBytes = 0;
  #countedBytes = 0;
  /** Whether the next packet is the first one of a message that may be refused. */
  #mayRefuse = false;
  /** Whether the peer has read anything since the last check. */
  #isReading = false;
  #stall: Scheduled | undefined;
  #isClosed = false;
  // A ping from before the construction may still be answered.
  #isPingOpen = true;
  #isPingHandedOver = true;
  /** The answers to polls that are being written; `undefined` for none. */
  #responses: Set<PollResponse> | undefined;

  /** @param options Shared by all connections: there may be thousands. */
  constructor(
    engine: EngineLike,
    { options, sid }: { readonly options: OutboxOptions; readonly sid: string },
  ) {
    this.#engine = engine;
    this.#options = options;
    this.#sid = sid;
    this.#maxBytes = Math.max(options.maxPayloadBytes, MIN_WAITING_BYTES);
    engine.on("packetCreate", (packet) => this.#add(packet));
    engine.on("flush", (packets) => this.#handOver(packets));
    engine.on("packet", (packet) => this.#receive(packet));
    engine.on("upgrade", (transport) => this.#follow(transport));
    engine.on("close", () => this.#stop());
    this.#follow(engine.transport);
  }

  get waitingBytes(): number {
    return this.#bufferedBytes + this.#handedOverBytes;
  }

  /**
   * Sends a message, and returns the bytes that it takes.
   *
   * @throws {SmcpError} 413 when the peer has too much to read; nothing is sent then.
   */
  push(send: () => void): number {
    const before = this.#totalBytes;
    this.#mayRefuse = true;
    try {
      send();
    } finally {
      this.#mayRefuse = false;
    }
    return this.#totalBytes - before;
  }

  /** Implements {@linkcode Expirable}: checks whether the peer has read anything. */
  expire(): void {
    this.#stall = undefined;
    if (this.#isClosed || this.waitingBytes === 0) return;
    if (!this.#isReading) return this.#end("it reads nothing");
    this.#watchStall();
  }

  #add(packet: Packet): void {
    const bytes = sizeOf(packet.data) + PACKET_BYTES;
    if (this.#mayRefuse) {
      // Only for the first packet of a message: the rest must follow it.
      this.#mayRefuse = false;
      this.#requireCapacity(bytes);
    }
    if (packet.type === "ping") {
      this.#isPingOpen = true;
      this.#isPingHandedOver = false;
    }
    if (packet.data instanceof LongPacket && packet.options) {
      packet.options.wsPreEncodedFrame = packet.data;
    }
    this.#options.meter?.sent(packet.data);
    this.#bufferedBytes += bytes;
    this.#totalBytes += bytes;
    this.#count();
    if (this.#stall === undefined) this.#watchStall();
    const excessBytes = this.waitingBytes - this.#maxBytes * END_SHARE;
    // Deferred, since the sender may be in the middle of a broadcast.
    if (excessBytes > 0 && excessBytes <= bytes) queueMicrotask(() => this.#end("it reads too slowly"));
  }

  #requireCapacity(bytes: number): void {
    const { maxPayloadBytes } = this.#options;
    const isTooLarge = bytes > maxPayloadBytes * WRITTEN_SHARE + PACKET_BYTES;
    if (isTooLarge) throw tooMuchUnread(bytes, maxPayloadBytes);
    const isAlone = this.waitingBytes <= this.#maxBytes * NOTHING_SHARE + FEW_PACKETS * PACKET_BYTES;
    const size = this.waitingBytes + bytes;
    if (size > this.#maxBytes && !isAlone) throw tooMuchUnread(size, this.#maxBytes);
    const { memory } = this.#options;
    if (!memory.hasCapacity(bytes)) throw noMemory(bytes, memory.maxBytes);
  }

  #count(): void {
    const bytes = this.#isClosed ? 0 : this.waitingBytes;
    this.#options.memory.change(bytes - this.#countedBytes);
    this.#countedBytes = bytes;
  }

  #handOver(packets: readonly Packet[]): void {
    if (!this.#isPingHandedOver) this.#isPingHandedOver = packets.some(({ type }) => type === "ping");
    const response = pollResponseOf(this.#engine.transport);
    if (response === undefined) {
      this.#handedOverBytes += this.#bufferedBytes;
      this.#bufferedBytes = 0;
      return;
    }
    // The polling transport drains when it has written the answer, however slowly the peer reads. The answer has a
    // bounded number of packets.
    let bytes = 0;
    for (const { data } of packets) bytes += sizeOf(data) + PACKET_BYTES;
    this.#handedOverBytes += bytes;
    this.#bufferedBytes = Math.max(0, this.#bufferedBytes - bytes);
    const responses = this.#responses ??= new Set();
    responses.add(response);
    response.once("close", () => {
      responses.delete(response);
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
    this.#count();
    this.#isReading = true;
  }

  /** Counts a packet, and ignores a pong without a ping: it would postpone the next ping. */
  #receive(packet: Packet): void {
    this.#options.meter?.received(currentBytes()?.view ?? packet.data);
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

  /** Closes the connection without a close packet, which would wait behind all other packets. */
  #end(reason: string): void {
    if (this.#isClosed) return;
    this.#options.onEnd({ sid: this.#sid, reason, waitingBytes: this.waitingBytes });
    const { transport } = this.#engine;
    const responses = [...this.#responses ?? []];
    this.#engine.close(true);
    terminateWebSocket(transport);
    for (const response of responses) response.destroy();
  }

  #stop(): void {
    this.#isClosed = true;
    if (this.#stall !== undefined) this.#options.timeouts.cancel(this.#stall);
    this.#bufferedBytes = this.#handedOverBytes = 0;
    this.#count();
  }
}

/** Estimates the bytes in memory. */
function sizeOf(data: unknown): number {
  if (typeof data === "string") {
    return data.length <= SMALL_TEXT_LENGTH
      ? data.length * 2
      : Math.max(data.length, Buffer.byteLength(data));
  }
  return ArrayBuffer.isView(data) || data instanceof LongPacket ? data.byteLength : 0;
}

function tooMuchUnread(size: number, limit: number): SmcpError {
  return new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot send a message: the receiver reads slowly, and ${size} of ${limit} bytes would wait for it`,
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

function terminateWebSocket(transport: object): void {
  const webSocket: unknown = Reflect.get(transport, "socket");
  if (canTerminate(webSocket)) webSocket.terminate();
}

function canTerminate(value: unknown): value is { terminate(): void } {
  return typeof value === "object" && value !== null && "terminate" in value;
}

/**
 * Returns a function that ends the WebSockets of all connections of an Engine.IO server at once. Private member of Engine.IO:
 * its connections by id. It throws now, and not only when the Server shuts down, if Engine.IO has changed.
 */
export function prepareTermination(engine: object): () => void {
  const clients: unknown = Reflect.get(engine, "clients");
  if (typeof clients !== "object" || clients === null) {
    throw new TypeError("Cannot find the connections: Engine.IO has changed");
  }
  return () => {
    for (const connection of Object.values(clients)) terminateWebSocket(Reflect.get(connection, "transport"));
  };
}
