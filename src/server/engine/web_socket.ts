/**
 * A WebSocket on a TCP connection, with the members of `ws` that Engine.IO uses. All messages that are sent in one turn of
 * the event loop are written at once, and none is handed to the TCP connection before the last ones were written.
 */
import { EventEmitter } from "node:events";
import { Buffer } from "node:buffer";
import { nextTick } from "node:process";
import type { Socket } from "node:net";
import { giveBuffer, takeBuffer } from "./buffers.ts";
import { ABNORMAL, NO_STATUS, TOO_BIG } from "./close_codes.ts";
import { type FrameLimits, FrameReader } from "./frame_reader.ts";
import type { FrameSink, PlainMessage } from "./frame_sink.ts";
import {
  buildClose,
  buildPong,
  maxFrameBytes,
  MESSAGE_TYPE,
  type Outgoing,
  writeFrame,
} from "./frame_writer.ts";
import { LongPacket } from "./long_packet.ts";
import { deliverShort } from "./plain_text.ts";
import { toStandIn } from "./oversize.ts";
import type { IncompleteMessage } from "../message_shares.ts";

/** How long a peer may take to end its side of a closed WebSocket. */
const CLOSE_TIMEOUT_MS = 5_000;
/** Batches from this size on are written from a buffer that is used again. */
const MIN_POOLED_BYTES = 4 * 1024;
/** A write ends with the message that reaches this size. */
const MAX_WRITE_BYTES = 64 * 1024;

type SentCallback = (error?: Error) => void;

/** Emits `message` (data, whether it is binary), `error`, and once `close` (code, reason). */
export class BuiltinWebSocket extends EventEmitter implements FrameSink {
  readonly #socket: Socket;
  readonly #reader: FrameReader;
  readonly #message: IncompleteMessage;
  #isOpen = true;
  #isEmitted = false;
  #batch: Outgoing[] = [];
  #callbacks: (SentCallback | undefined)[] = [];
  /** The answer to the last ping, until it is sent. */
  #pong: Outgoing | undefined;
  #isFlushing = false;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  /** @param head What has arrived behind the handshake. */
  constructor(socket: Socket, { head, limits, message }: {
    readonly head: Uint8Array;
    readonly limits: Omit<FrameLimits, "memory">;
    readonly message: IncompleteMessage;
  }) {
    super();
    this.#socket = socket;
    this.#message = message;
    this.#reader = new FrameReader(this, { ...limits, memory: message });
    socket.setTimeout(0);
    socket.setNoDelay(true);
    if (head.byteLength > 0) this.#readLater(head);
    socket.on("data", (chunk: Buffer) => this.#reader.push(chunk));
    socket.on("end", () => this.#finish(ABNORMAL, ""));
    // "close" follows.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      clearTimeout(this.#closeTimer);
      this.#emitClose(ABNORMAL, "");
    });
  }

  /** The TCP connection: Engine.IO reads the address of the peer. */
  get _socket(): Socket {
    return this.#socket;
  }

  /** Engine.IO hands frames of broadcasts to `sendFrame` of this, so that they are built once. */
  get _sender(): Pick<BuiltinWebSocket, "sendFrame"> {
    return this;
  }

  belongTo(session: string): void {
    this.#message.belongTo(session);
  }

  send(message: string | Uint8Array, callback?: SentCallback): void {
    this.#push(message, callback);
  }

  sendFrame(frame: readonly Uint8Array[] | LongPacket, callback?: SentCallback): void {
    this.#push(frame, callback);
  }

  /** Sends all messages and a close frame, and waits for the peer to close. */
  close(code?: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#batch.push(buildClose(code));
    this.#callbacks.push(undefined);
    this.#schedule();
    this.#closeTimer ??= setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS);
  }

  terminate(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  onText(text: string): void {
    this.emit("message", text, false);
  }

  onPlainText(buffer: Buffer, message: PlainMessage): boolean {
    return deliverShort(buffer, message, (short) => this.emit("message", short, false));
  }

  onBinary(bytes: Buffer): void {
    this.emit("message", bytes, true);
  }

  onOversize(beginning: string, sizeBytes: number): void {
    if (!beginning.startsWith(MESSAGE_TYPE)) {
      this.#reader.end();
      return this.onFailure(TOO_BIG, "a message is too large");
    }
    this.emit("message", toStandIn({ beginning: beginning.slice(1), sizeBytes }), true);
  }

  /** A peer that sends pings and reads nothing gets one pong. */
  onPing(payload: Buffer): void {
    this.#pong = buildPong(payload);
    this.#schedule();
  }

  onClose(code: number, reason: string): void {
    this.close(code === NO_STATUS ? undefined : code);
    this.#finishLater({ code, reason });
  }

  onFailure(code: number, message: string): void {
    this.close(code);
    const error = new RangeError(`Cannot read a WebSocket frame: ${message}`);
    this.#finishLater({ code, reason: message, error });
  }

  #push(message: Outgoing, callback: SentCallback | undefined): void {
    if (!this.#isOpen) {
      return void queueMicrotask(() => callback?.(new RangeError("The WebSocket is closed")));
    }
    this.#batch.push(message);
    this.#callbacks.push(callback);
    this.#schedule();
  }

  /** Engine.IO listens to messages only some microtasks after the handshake, and loses those that are read before. */
  #readLater(head: Uint8Array): void {
    this.#socket.pause();
    this.#socket.unshift(head);
    setImmediate(() => this.#socket.resume());
  }

  /** Ends this side in the next tick: in this one, Socket.IO handles what arrived before, perhaps in the same segment. */
  #finishLater({ code, reason, error }: {
    readonly code: number;
    readonly reason: string;
    readonly error?: Error;
  }): void {
    this.#reader.end();
    nextTick(() => {
      if (error !== undefined && !this.#isEmitted) this.emit("error", error);
      this.#finish(code, reason);
    });
  }

  /** Ends this side when everything is written. */
  #finish(code: number, reason: string): void {
    this.#isOpen = false;
    this.#reader.end();
    this.#closeTimer ??= setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS);
    this.#emitClose(code, reason);
    this.#schedule();
  }

  #emitClose(code: number, reason: string): void {
    if (this.#isEmitted) return;
    this.#isEmitted = true;
    this.#isOpen = false;
    this.#reader.end();
    this.emit("close", code, Buffer.from(reason));
  }

  #schedule(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => this.#flush());
  }

  /** Writes the first messages of the batch; the others follow when these are written. */
  #flush(): void {
    if (this.#pong !== undefined && this.#isOpen) {
      this.#batch.push(this.#pong);
      this.#callbacks.push(undefined);
    }
    this.#pong = undefined;
    if (this.#batch.length === 0 || this.#socket.destroyed) return this.#endFlush();
    const { count, bytes } = this.#nextWrite();
    const batch = this.#batch.splice(0, count);
    const callbacks = this.#callbacks.splice(0, count);
    const buffer = bytes < MIN_POOLED_BYTES ? Buffer.allocUnsafe(bytes) : takeBuffer(bytes);
    let end = 0;
    for (const message of batch) end = writeFrame(buffer, end, message);
    const last = batch.at(-1);
    const plain = last instanceof LongPacket ? last.bytes : undefined;
    const onWritten: SentCallback = (error) => {
      giveBuffer(buffer);
      plain?.release();
      this.#isFlushing = false;
      for (const callback of callbacks) callback?.(error ?? undefined);
      if (this.#batch.length > 0 || this.#pong !== undefined || this.#isEmitted) this.#schedule();
    };
    const written = buffer.subarray(0, end);
    const whole = plain?.behind(written);
    if (plain !== undefined && whole === undefined) this.#socket.write(written);
    const rest = whole ?? plain?.view ?? written;
    this.#socket.write(rest, (error) => onWritten(error ?? undefined));
  }

  /** The messages of the next write: Node joins what waits, which would copy many large messages. */
  #nextWrite(): { readonly count: number; readonly bytes: number } {
    let bytes = 0;
    for (const [index, message] of this.#batch.entries()) {
      bytes += maxFrameBytes(message);
      const isPlain = message instanceof LongPacket && message.bytes !== undefined;
      if (isPlain || bytes >= MAX_WRITE_BYTES) return { count: index + 1, bytes };
    }
    return { count: this.#batch.length, bytes };
  }

  #endFlush(): void {
    this.#isFlushing = false;
    if (this.#isEmitted && this.#socket.writable) this.#socket.end();
  }
}
