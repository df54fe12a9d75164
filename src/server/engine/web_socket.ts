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
  type Frame,
  frameBytesOf,
  isFrame,
  maxFrameBytes,
  NO_STATUS,
  type Outgoing,
  writeFrame,
} from "./frame_writer.ts";
import { CONSTANTS } from "../options/constants.ts";
import type { EngineOutbox } from "./outbox.ts";
import type { Incoming } from "./incoming.ts";
import type { SessionContext, Transport } from "./session.ts";

/** How long a peer may take to end its side of a closed WebSocket. */
const CLOSE_TIMEOUT_MS = 5_000;
/**
 * A batch ends with the message that reaches this size: Node joins what waits, which would copy many large messages. Frames
 * of this size are written alone.
 */
const MAX_BATCH_BYTES = 64 * 1024;
/** Smaller batches are not worth a buffer that is used again. */
const MIN_POOLED_BYTES = 4 * 1024;
const NOTHING = new Uint8Array(0);

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
  readonly #meter: SessionContext["meter"];
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
  constructor(
    socket: Socket,
    account: Account,
    { maxPayloadBytes, meter }: Pick<SessionContext, "maxPayloadBytes" | "meter">,
  ) {
    this.socket = socket;
    this.#meter = meter;
    this.#reader = new FrameReader(this, {
      maxPayloadBytes,
      maxSkippedBytes: CONSTANTS.skippedFactor.value * maxPayloadBytes,
      memory: new Holding(account),
    });
    socket.setTimeout(0);
    socket.setNoDelay(true);
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

  onMessage(message: Incoming): void {
    this.#receiver?.onMessage(message);
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
    this.#meter?.received(chunk.length);
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
    const messages = this.#takeOwn();
    let bytes = 0;
    for (const message of messages) bytes += maxFrameBytes(message);
    let count = 0;
    for (const message of this.#outbox?.messages ?? []) {
      if (messages.length > 0 && isWrittenAlone(message)) break;
      count++;
      messages.push(message);
      bytes += maxFrameBytes(message);
      if (bytes >= MAX_BATCH_BYTES) break;
    }
    if (messages.length === 0 || this.socket.destroyed) return this.#endFlush();
    const taken = count === 0 ? undefined : this.#outbox?.take(count);
    const pieces = toPieces(messages, bytes);
    this.#meter?.sent(frameBytesOf(pieces));
    const [first = NOTHING, second] = pieces;
    if (second !== undefined) this.socket.write(first);
    this.socket.write(second ?? first, () => {
      giveBuffer(first);
      if (taken !== undefined) this.#outbox?.release(taken.bytes);
      this.#isFlushing = false;
      if (this.#hasMore()) this.flush();
    });
  }

  #takeOwn(): Outgoing[] {
    if (this.#pong !== undefined && this.#state === "open") this.#own.push(this.#pong);
    this.#pong = undefined;
    return this.#own.splice(0);
  }

  #hasMore(): boolean {
    return this.#own.length > 0 || this.#pong !== undefined || (this.#outbox?.messages.length ?? 0) > 0 ||
      this.#state === "closing" || this.#isEnded;
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

function isWrittenAlone(message: Outgoing): message is Frame {
  return isFrame(message) && frameBytesOf(message) >= MAX_BATCH_BYTES;
}

/** Joins messages whose frames take at most `bytes`. */
function toPieces(messages: readonly Outgoing[], bytes: number): readonly Uint8Array[] {
  const [first] = messages;
  if (first !== undefined && isWrittenAlone(first)) return first;
  const batch = bytes < MIN_POOLED_BYTES ? Buffer.allocUnsafe(bytes) : takeBuffer(bytes);
  let end = 0;
  for (const message of messages) {
    end = writeFrame(batch, end, message);
    if (isFrame(message)) message.forEach(giveBuffer);
  }
  return [batch.subarray(0, end)];
}
