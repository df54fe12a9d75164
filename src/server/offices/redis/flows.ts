/**
 * How much is under way to each other process. Redis keeps what a process has not read yet, and closes the connection of one
 * that is too far behind: all its requests would be lost. So each process confirms what it has received, and what does not
 * fit waits here: the messages of one office in order, and the offices in turns.
 */
import { Buffer } from "node:buffer";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { SMALL_MESSAGE_BYTES } from "../../engine/budget.ts";
import type { RelayedRequest } from "../../relay/pending_requests.ts";
import { quoted } from "../../../text.ts";

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
  /** Names the message for {@linkcode Flows.cancel}. */
  readonly key?: object | undefined;
}

interface Waiting {
  readonly bytes: number;
  send(): void;
  reject(error: unknown): void;
}

/** What is under way to one process, and what waits for it. */
class Flow {
  underWayBytes = 0;
  waitingBytes = 0;
  #besideBytes = 0;
  /** The messages of each office in order, by key; the first office is next. */
  readonly #queues = new Map<string, Map<object, Waiting>>();

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
    let sum = 0;
    for (const { bytes } of this.#queues.get(officeId)?.values() ?? []) sum += bytes;
    return sum;
  }

  add(officeId: string, { key, waiting }: { readonly key: object; readonly waiting: Waiting }): void {
    const queue = this.#queues.get(officeId) ?? new Map<object, Waiting>();
    this.#queues.set(officeId, queue.set(key, waiting));
    this.waitingBytes += waiting.bytes;
  }

  /** Takes a message that no longer waits out; returns whether it did wait. */
  remove(officeId: string, key: object): boolean {
    const queue = this.#queues.get(officeId);
    const found = queue?.get(key);
    if (queue === undefined || found === undefined) return false;
    queue.delete(key);
    if (queue.size === 0) this.#queues.delete(officeId);
    this.waitingBytes -= found.bytes;
    return true;
  }

  /** Counts bytes as under way no more, and sends what fits now, one message of each office in turn. */
  settle(bytes: number): void {
    this.underWayBytes = Math.max(0, this.underWayBytes - bytes);
    for (let next = this.#next(); next !== undefined; next = this.#next()) next.send();
  }

  rejectAll(error: Error): void {
    for (const queue of this.#queues.values()) for (const { reject } of queue.values()) reject(error);
    this.#queues.clear();
    this.waitingBytes = 0;
  }

  #next(): Waiting | undefined {
    const [first] = this.#queues;
    const [entry] = first?.[1] ?? [];
    if (first === undefined || entry === undefined || !this.#fits(entry[1].bytes)) return undefined;
    const [officeId, queue] = first;
    this.#besideBytes = 0;
    this.remove(officeId, entry[0]);
    // Now it is the turn of another office.
    if (this.#queues.delete(officeId)) this.#queues.set(officeId, queue);
    return entry[1];
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
  send(fence: string, message: string, { officeId, key = {} }: SendOptions): Promise<number> {
    const flow = this.#outgoing.get(fence) ?? new Flow();
    this.#outgoing.set(fence, flow);
    const bytes = Buffer.byteLength(message);
    const publish = async () => {
      flow.underWayBytes += bytes;
      let receivers = 0;
      try {
        return receivers = await this.#publish(fence, message);
      } finally {
        // Nobody will confirm it.
        if (receivers === 0) flow.settle(bytes);
      }
    };
    if (flow.passes(officeId, bytes)) return publish();
    return new Promise((resolve, reject) =>
      flow.add(officeId, { key, waiting: { bytes, send: () => resolve(publish()), reject } })
    );
  }

  /** Takes a message back; returns whether it still waited. */
  cancel(fence: string, { officeId, key }: { readonly officeId: string; readonly key: object }): boolean {
    const flow = this.#outgoing.get(fence);
    if (flow === undefined || !flow.remove(officeId, key)) return false;
    flow.settle(0);
    return true;
  }

  onConfirmed(fence: string, bytes: number): void {
    this.#outgoing.get(fence)?.settle(bytes);
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
    this.#outgoing.get(fence)?.rejectAll(new TypeError("Cannot send to a process: it is lost"));
    this.#outgoing.delete(fence);
  }

  clear(): void {
    for (const fence of this.fences()) this.end(fence);
  }
}
