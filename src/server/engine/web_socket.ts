/**
 * A WebSocket as the transport of a session (RFC 6455). All messages that are sent in one turn of the event loop are written
 * at once, and none is handed to the TCP connection before the last ones were written.
 */
import { Buffer } from "node:buffer";
import type { Socket } from "node:net";
import { nextTick } from "node:process";
import { type Account, Holding } from "./budget.ts";
import { giveBuffer, takeBuffer } from "./buffers.ts";
import { FrameReader, type FrameSink } from "./frame_reader.ts";
import {
  buildClose,
  buildPong,
  maxFrameBytes,
  NO_STATUS,
  type Outgoing,
  writeFrame,
} from "./frame_writer.ts";
import { CONSTANTS } from "../options/constants.ts";
import { LongPacket, type RelayedText } from "./long_text.ts";
import type { EngineOutbox } from "./outbox.ts";
import type { Incoming, OversizeText } from "./incoming.ts";
import type { Transport } from "./session.ts";

/** How long a peer may take to end its side of a closed WebSocket. */
const CLOSE_TIMEOUT_MS = 5_000;
/** Batches from this size on are written from a buffer that is used again. */
const MIN_POOLED_BYTES = 4 * 1024;
/** A write ends with the message that reaches this size: Node joins what waits, which would copy many large messages. */
const MAX_WRITE_BYTES = 64 * 1024;

/** What a WebSocket tells: a session, or the upgrade of one. */
export interface Receiver {
  /** Before the bytes are read; `false` when they end the session. */
  countChunk(bytes: number): boolean;
  onText(text: string): void;
  onMessage(message: Incoming): void;
  /** Nothing more is read. */
  fail(reason: "transport close" | "transport error", why?: string): void;
  /** The TCP connection is closed. */
  onGone(): void;
}

export class WebSocket implements FrameSink, Transport {
  readonly name = "websocket";
  readonly socket: Socket;
  readonly #reader: FrameReader;
  #receiver: Receiver | undefined;
  /** What the session sends; `undefined` during an upgrade. */
  #outbox: EngineOutbox | undefined;
  /** What goes before it: control frames, and the answer to a probe. */
  #own: Outgoing[] = [];
  /** The answer to the last ping, until it is sent. */
  #pong: Outgoing | undefined;
  #isFlushing = false;
  /** `closing` sends what waits and a close frame; `closed` has sent it. */
  #state: "open" | "closing" | "closed" = "open";
  #closeCode: number | undefined;
  /** Whether the peer sends nothing more. */
  #isEnded = false;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param socket Its handshake was answered. */
  constructor(socket: Socket, { account, maxPayloadBytes }: {
    readonly account: Account;
    readonly maxPayloadBytes: number;
  }) {
    this.socket = socket;
    this.#reader = new FrameReader(this, {
      maxPayloadBytes,
      maxSkippedBytes: CONSTANTS.skippedFactor.value * maxPayloadBytes,
      memory: new Holding(account),
    });
    socket.setTimeout(0);
    socket.setNoDelay(true);
  }

  /** Whether a message would be sent at once. */
  get writable(): boolean {
    return this.#state === "open" && !this.#isFlushing;
  }

  /** Begins to read. @param head What has arrived behind the handshake. */
  open(receiver: Receiver, head: Buffer): void {
    this.#receiver = receiver;
    const { socket } = this;
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("end", () => this.#end("transport close"));
    // "close" follows.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#onClosed());
    if (head.byteLength > 0) this.#read(head);
  }

  /** Goes on as the transport of a session. */
  serve(receiver: Receiver, outbox: EngineOutbox): void {
    this.#receiver = receiver;
    this.#outbox = outbox;
  }

  flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  /** Sends an Engine.IO packet before what waits. */
  sendFirst(packet: string): void {
    this.#own.push(packet);
    this.flush();
  }

  /** Sends what waits and a close frame, and waits for the peer to close. */
  close(code?: number): void {
    if (this.#state !== "open") return;
    this.#state = "closing";
    this.#closeCode = code;
    this.#closeTimer ??= setTimeout(() => this.socket.destroy(), CLOSE_TIMEOUT_MS);
    this.flush();
  }

  end(): void {
    this.close();
  }

  destroy(): void {
    this.#state = "closed";
    clearTimeout(this.#closeTimer);
    this.socket.destroy();
  }

  onText(text: string): void {
    this.#receiver?.onText(text);
  }

  onMessage(message: RelayedText | OversizeText): void {
    this.#receiver?.onMessage(message);
  }

  onBinary(bytes: Buffer): void {
    this.#receiver?.onMessage(bytes);
  }

  /** A peer that sends pings and reads nothing gets one pong. */
  onPing(payload: Buffer): void {
    this.#pong = buildPong(payload);
    this.flush();
  }

  onClose(code: number): void {
    this.close(code === NO_STATUS ? undefined : code);
    this.#endLater("transport close");
  }

  onFailure(code: number, message: string): void {
    this.close(code);
    this.#endLater("transport error", message);
  }

  #read(chunk: Buffer): void {
    if (this.#receiver?.countChunk(chunk.length) === true) this.#reader.push(chunk);
  }

  /** Ends this side in the next tick: in this one, Socket.IO handles what arrived before, perhaps in the same segment. */
  #endLater(reason: "transport close" | "transport error", why?: string): void {
    this.#reader.end();
    nextTick(() => this.#end(reason, why));
  }

  /** Nothing more is read: this side ends when everything is written. */
  #end(reason: "transport close" | "transport error", why?: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#reader.end();
    this.#closeTimer ??= setTimeout(() => this.socket.destroy(), CLOSE_TIMEOUT_MS);
    this.#receiver?.fail(reason, why);
    this.flush();
  }

  #onClosed(): void {
    this.#state = "closed";
    this.#end("transport close");
    clearTimeout(this.#closeTimer);
    this.#receiver?.onGone();
    this.#receiver = this.#outbox = undefined;
  }

  #flush(): void {
    const own = this.#takeOwn();
    let bytes = 0;
    for (const message of own) bytes += maxFrameBytes(message);
    let count = 0;
    for (const message of this.#outbox?.messages ?? []) {
      count++;
      bytes += maxFrameBytes(message);
      if (bytes >= MAX_WRITE_BYTES || bytesOf(message) !== undefined) break;
    }
    if (own.length + count === 0 || this.socket.destroyed) return this.#endFlush();
    const taken = count === 0 ? undefined : this.#outbox?.take(count);
    const messages = own.length === 0 ? taken?.messages ?? [] : [...own, ...taken?.messages ?? []];
    this.#write(messages, bytes, () => {
      if (taken !== undefined) this.#outbox?.release(taken.bytes);
      this.#isFlushing = false;
      if (this.#hasMore()) this.flush();
    });
  }

  #takeOwn(): Outgoing[] {
    if (this.#pong !== undefined && this.#state === "open") this.#own.push(this.#pong);
    this.#pong = undefined;
    return this.#own.length === 0 ? this.#own : this.#own.splice(0);
  }

  #hasMore(): boolean {
    return this.#own.length > 0 || this.#pong !== undefined || (this.#outbox?.messages.length ?? 0) > 0 ||
      this.#state === "closing" || this.#isEnded;
  }

  /** Writes messages that take at most `bytes`; only the last one may have bytes of its own. */
  #write(messages: readonly Outgoing[], bytes: number, onWritten: () => void): void {
    const isPooled = bytes >= MIN_POOLED_BYTES;
    const buffer = isPooled ? takeBuffer(bytes) : Buffer.allocUnsafe(bytes);
    let end = 0;
    for (const message of messages) end = writeFrame(buffer, end, message);
    const plain = bytesOf(messages.at(-1));
    const written = buffer.subarray(0, end);
    const whole = plain?.behind(written);
    if (plain !== undefined && whole === undefined) this.socket.write(written);
    this.socket.write(whole ?? plain?.view ?? written, () => {
      if (isPooled) giveBuffer(buffer);
      plain?.release();
      onWritten();
    });
  }

  /** Everything is written: a close frame follows, and after that of the peer the end of the TCP connection. */
  #endFlush(): void {
    this.#isFlushing = false;
    if (this.socket.destroyed) return;
    if (this.#state === "closing") {
      this.#state = "closed";
      this.#own.push(buildClose(this.#closeCode));
      return this.flush();
    }
    if (this.#isEnded && this.socket.writable) this.socket.end();
  }
}

/** The bytes that are written behind the frame of a message, and not copied into it. */
function bytesOf(message: Outgoing | undefined): RelayedText | undefined {
  return message instanceof LongPacket ? message.bytes : undefined;
}
