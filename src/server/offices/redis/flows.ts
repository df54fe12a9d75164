/**
 * How much is under way to each other process. Redis keeps what a process has not read yet, and closes the connection of one
 * that is too far behind: all its requests would be lost. So each process confirms what it has received, and what does not
 * fit waits here: the messages of one office in order, and the offices in turns.
 */
import { Buffer } from "node:buffer";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { quoted, SMALL_MESSAGE_BYTES } from "../../limits.ts";
import type { RelayedRequest } from "../../relay/pending_requests.ts";

/** The most bytes under way to one process; a larger message goes alone. Redis allows 32 MiB by default, for all senders. */
const MAX_UNDER_WAY_BYTES = 4 * 1024 * 1024;
/** A process confirms what it has received whenever it is as much as this. */
const RECEIPT_BYTES = 256 * 1024;
/** The bytes that wait for one process beyond which large messages to it are refused. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** The bytes of small messages that may go beside large ones until one of those that wait goes. */
const MAX_BESIDE_BYTES = 4 * 1024 * 1024;

export type Routed = Pick<RelayedRequest, "event" | "computer" | "officeId">;

export interface SendOptions {
  readonly officeId: string;
  /** For {@linkcode Flows.cancel}. */
  readonly key?: object | undefined;
}

interface Waiting {
  readonly message: string;
  readonly bytes: number;
  readonly resolve: (receivers: Promise<number>) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  bytes: number;
  /** In order. The keys are what {@linkcode Flows.cancel} names a message by. */
  readonly messages: Map<object, Waiting>;
}

class Flow {
  underWayBytes = 0;
  waitingBytes = 0;
  #besideBytes = 0;
  /** By office; the first one is next. */
  readonly #queues = new Map<string, Queue>();

  /** Whether a message can go at once: none of its office waits, and it fits or is small. */
  passes(officeId: string, bytes: number): boolean {
    if (this.#queues.has(officeId)) return false;
    if (this.#queues.size === 0 && this.#fits(bytes)) {
      this.#besideBytes = 0;
      return true;
    }
    if (bytes > SMALL_MESSAGE_BYTES || this.#besideBytes + bytes > MAX_BESIDE_BYTES) return false;
    this.#besideBytes += bytes;
    return true;
  }

  bytesOf(officeId: string): number {
    return this.#queues.get(officeId)?.bytes ?? 0;
  }

  add(officeId: string, { key, waiting }: { readonly key: object; readonly waiting: Waiting }): void {
    const queue = this.#queues.get(officeId) ?? { bytes: 0, messages: new Map<object, Waiting>() };
    this.#queues.set(officeId, queue);
    queue.messages.set(key, waiting);
    queue.bytes += waiting.bytes;
    this.waitingBytes += waiting.bytes;
  }

  /** Takes a message that no longer waits out. */
  remove(officeId: string, key: object): Waiting | undefined {
    const queue = this.#queues.get(officeId);
    const found = queue?.messages.get(key);
    if (queue === undefined || found === undefined) return undefined;
    queue.messages.delete(key);
    queue.bytes -= found.bytes;
    this.waitingBytes -= found.bytes;
    if (queue.messages.size === 0) this.#queues.delete(officeId);
    return found;
  }

  /** Takes the next message out if it fits; then it is the turn of another office. */
  next(): Waiting | undefined {
    for (const [officeId, queue] of this.#queues) {
      for (const [key, { bytes }] of queue.messages) {
        if (!this.#fits(bytes)) return undefined;
        this.#besideBytes = 0;
        const found = this.remove(officeId, key);
        if (this.#queues.delete(officeId)) this.#queues.set(officeId, queue);
        return found;
      }
    }
    return undefined;
  }

  rejectAll(error: Error): void {
    for (const { messages } of this.#queues.values()) {
      for (const { reject } of messages.values()) reject(error);
    }
    this.#queues.clear();
    this.waitingBytes = 0;
  }

  /** The last bytes are confirmed only with later ones, so they do not keep a large message waiting. */
  #fits(bytes: number): boolean {
    return this.underWayBytes < RECEIPT_BYTES || this.underWayBytes + bytes <= MAX_UNDER_WAY_BYTES;
  }
}

/** The flows to and from all other processes, by fence. A process that confirms nothing holds up only what is for it. */
export class Flows {
  readonly #publish: (fence: string, message: string) => Promise<number>;
  readonly #outgoing = new Map<string, Flow>();
  readonly #unconfirmed = new Map<string, number>();

  /** @param publish Publishes a message to a process; resolves to the number of its receivers. */
  constructor(publish: (fence: string, message: string) => Promise<number>) {
    this.#publish = publish;
  }

  /** The fences of processes that something was sent to or received from. */
  fences(): readonly string[] {
    return [...this.#outgoing.keys(), ...this.#unconfirmed.keys()];
  }

  /**
   * Throws a 413 when too much waits for the process of a Computer, or of those that asked it, to send it more. A small
   * message is refused only for what its own office has there.
   */
  requireRoom(fence: string, { event, computer, officeId }: Routed, bytes: number): void {
    const flow = this.#outgoing.get(fence);
    if (flow === undefined || flow.waitingBytes < MAX_WAITING_BYTES) return;
    if (flow.bytesOf(officeId) + bytes <= SMALL_MESSAGE_BYTES) return;
    const size = flow.waitingBytes;
    throw new SmcpError(
      ErrorCode.PAYLOAD_TOO_LARGE,
      `Cannot relay "${quoted(event)}": ${size} bytes wait for another process of this Server; try again`,
      { details: { size, limit: MAX_WAITING_BYTES, computer_name: computer } },
    );
  }

  /**
   * Sends a message behind those of its office; resolves to the number of its receivers. The promise stays open when the
   * message is cancelled, and rejects when Redis or the process is lost.
   */
  send(fence: string, message: string, { officeId, key }: SendOptions): Promise<number> {
    const flow = this.#flowTo(fence);
    const bytes = Buffer.byteLength(message);
    if (flow.passes(officeId, bytes)) return this.#sendNow(flow, { fence, message, bytes });
    return new Promise((resolve, reject) => {
      const waiting = { message, bytes, resolve, reject };
      flow.add(officeId, { key: key ?? waiting, waiting });
    });
  }

  /** Takes a message back; returns whether it still waited. */
  cancel(fence: string, { officeId, key }: { readonly officeId: string; readonly key: object }): boolean {
    const flow = this.#outgoing.get(fence);
    if (flow?.remove(officeId, key) === undefined) return false;
    this.#sendNext(fence, flow);
    return true;
  }

  onConfirmed(fence: string, bytes: number): void {
    const flow = this.#outgoing.get(fence);
    if (flow !== undefined) this.#settle(flow, { fence, bytes });
  }

  /** Counts a message of another process; returns how many bytes to confirm, if it is time. */
  onReceived(fence: string, message: string): number | undefined {
    const bytes = (this.#unconfirmed.get(fence) ?? 0) + Buffer.byteLength(message);
    const isDue = bytes >= RECEIPT_BYTES;
    this.#unconfirmed.set(fence, isDue ? 0 : bytes);
    return isDue ? bytes : undefined;
  }

  /** Forgets a process; what waits for it is lost. */
  end(fence: string): void {
    this.#unconfirmed.delete(fence);
    const flow = this.#outgoing.get(fence);
    if (flow === undefined) return;
    this.#outgoing.delete(fence);
    flow.rejectAll(new TypeError("Cannot send to a process: it is lost"));
  }

  clear(): void {
    for (const fence of this.fences()) this.end(fence);
  }

  #flowTo(fence: string): Flow {
    const known = this.#outgoing.get(fence);
    if (known !== undefined) return known;
    const flow = new Flow();
    this.#outgoing.set(fence, flow);
    return flow;
  }

  #sendNext(fence: string, flow: Flow): void {
    for (let next = flow.next(); next !== undefined; next = flow.next()) {
      const { message, bytes, resolve } = next;
      resolve(this.#sendNow(flow, { fence, message, bytes }));
    }
  }

  async #sendNow(flow: Flow, { fence, message, bytes }: {
    readonly fence: string;
    readonly message: string;
    readonly bytes: number;
  }): Promise<number> {
    flow.underWayBytes += bytes;
    let receivers = 0;
    try {
      return receivers = await this.#publish(fence, message);
    } finally {
      // Nobody will confirm it.
      if (receivers === 0) this.#settle(flow, { fence, bytes });
    }
  }

  /** Counts bytes as under way no more, and sends what fits now. */
  #settle(flow: Flow, { fence, bytes }: { readonly fence: string; readonly bytes: number }): void {
    flow.underWayBytes = Math.max(0, flow.underWayBytes - bytes);
    this.#sendNext(fence, flow);
  }
}
