/**
 * Another process: the requests to it and from it, and how much is under way to it. Redis keeps what a process has not read
 * yet, and closes the connection of one that is too far behind: all its requests would be lost. So each process confirms
 * what it has received, and what does not fit waits here: the messages of one office in order, and the offices in turns.
 */
import { Buffer } from "node:buffer";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { SMALL_MESSAGE_BYTES } from "../../engine/budget.ts";
import type { PendingRequest, RelayedRequest } from "../../relay/pending_requests.ts";
import { quoted } from "../../../text/text.ts";

/** The most bytes under way to one process; a larger message goes alone. Redis allows 32 MiB by default, for all senders. */
const MAX_UNDER_WAY_BYTES = 4 * 1024 * 1024;
/** A process confirms what it has received whenever it is as much as this. */
const RECEIPT_BYTES = 256 * 1024;
/** The bytes that wait for one process beyond which large messages to it are refused. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;
/** The bytes of small messages that may go beside large ones until one of those that wait goes. */
const MAX_BESIDE_BYTES = 4 * 1024 * 1024;

export type Routed = Pick<RelayedRequest, "event" | "computer" | "officeId">;

interface Waiting {
  readonly bytes: number;
  send(): void;
  reject(error: unknown): void;
}

/** A process by one of its fences. One that confirms nothing holds up only what is for it. */
export class Peer {
  /** The requests to it. */
  readonly outgoing = new Map<number, PendingRequest>();
  /** The requests that it has sent. */
  readonly incoming = new Map<number, PendingRequest>();
  readonly #publish: (message: string) => Promise<number>;
  /** The messages of each office in order, by key; the first office is next. */
  readonly #queues = new Map<string, Map<object, Waiting>>();
  #underWayBytes = 0;
  #waitingBytes = 0;
  #besideBytes = 0;
  #unconfirmedBytes = 0;

  /** @param publish Publishes a message to the process; resolves to the number of its receivers. */
  constructor(publish: (message: string) => Promise<number>) {
    this.#publish = publish;
  }

  /**
   * Throws a 413 when too much waits for the process of a Computer, or of those that asked it, to send it more. A small
   * message is refused only for what its own office has there.
   */
  requireRoom({ event, computer, officeId }: Routed, bytes: number): void {
    const size = this.#waitingBytes;
    if (size < MAX_WAITING_BYTES) return;
    let ofOffice = 0;
    for (const waiting of this.#queues.get(officeId)?.values() ?? []) ofOffice += waiting.bytes;
    if (ofOffice + bytes <= SMALL_MESSAGE_BYTES) return;
    throw new SmcpError(
      ErrorCode.PAYLOAD_TOO_LARGE,
      `Cannot relay "${quoted(event)}": ${size} bytes wait for another process of this Server; try again`,
      { details: { size, limit: MAX_WAITING_BYTES, computer_name: computer } },
    );
  }

  /**
   * Sends a message behind those of its office; resolves to the number of its receivers. The promise stays open when the
   * message is cancelled, and rejects when Redis or the process is lost.
   *
   * @param key Names the message for {@linkcode Peer.cancel}.
   */
  send(message: string, { officeId, key = {} }: {
    readonly officeId: string;
    readonly key?: object;
  }): Promise<number> {
    const bytes = Buffer.byteLength(message);
    const publish = async () => {
      this.#underWayBytes += bytes;
      let receivers = 0;
      try {
        return receivers = await this.#publish(message);
      } finally {
        // Nobody will confirm it.
        if (receivers === 0) this.onConfirmed(bytes);
      }
    };
    if (this.#passes(officeId, bytes)) return publish();
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(officeId) ?? new Map<object, Waiting>();
      this.#queues.set(officeId, queue.set(key, { bytes, send: () => resolve(publish()), reject }));
      this.#waitingBytes += bytes;
    });
  }

  /** Takes a message back; returns whether it still waited. */
  cancel(officeId: string, key: object): boolean {
    const isFound = this.#remove(officeId, key);
    if (isFound) this.#sendNext();
    return isFound;
  }

  onConfirmed(bytes: number): void {
    this.#underWayBytes = Math.max(0, this.#underWayBytes - bytes);
    this.#sendNext();
  }

  /** Counts a message of the process; returns how many bytes to confirm, if it is time. */
  onReceived(message: string): number | undefined {
    const bytes = this.#unconfirmedBytes + Buffer.byteLength(message);
    const isDue = bytes >= RECEIPT_BYTES;
    this.#unconfirmedBytes = isDue ? 0 : bytes;
    return isDue ? bytes : undefined;
  }

  /** Forgets what is under way, and fails what waits: Redis or the process is lost. */
  clear(): void {
    const error = new TypeError("Cannot send to a process: it is lost");
    for (const queue of this.#queues.values()) for (const { reject } of queue.values()) reject(error);
    this.#queues.clear();
    this.#underWayBytes =
      this.#waitingBytes =
      this.#besideBytes =
      this.#unconfirmedBytes =
        0;
  }

  /** Whether a message can go at once: none of its office waits, and it fits or is small. */
  #passes(officeId: string, bytes: number): boolean {
    if (this.#queues.has(officeId)) return false;
    if (this.#queues.size === 0 && this.#fits(bytes)) {
      this.#besideBytes = 0;
      return true;
    }
    if (bytes > SMALL_MESSAGE_BYTES || this.#besideBytes + bytes > MAX_BESIDE_BYTES) return false;
    this.#besideBytes += bytes;
    return true;
  }

  /** The last bytes are confirmed only with later ones, so they do not keep a large message waiting. */
  #fits(bytes: number): boolean {
    return this.#underWayBytes < RECEIPT_BYTES || this.#underWayBytes + bytes <= MAX_UNDER_WAY_BYTES;
  }

  /** Sends what fits now, one message of each office in turn. */
  #sendNext(): void {
    for (const [officeId, queue] of this.#queues) {
      const [[key, waiting] = []] = queue;
      if (key === undefined || waiting === undefined || !this.#fits(waiting.bytes)) return;
      this.#besideBytes = 0;
      this.#remove(officeId, key);
      // The loop comes to it again after the other offices.
      if (this.#queues.delete(officeId)) this.#queues.set(officeId, queue);
      waiting.send();
    }
  }

  #remove(officeId: string, key: object): boolean {
    const queue = this.#queues.get(officeId);
    const found = queue?.get(key);
    if (queue === undefined || found === undefined) return false;
    queue.delete(key);
    if (queue.size === 0) this.#queues.delete(officeId);
    this.#waitingBytes -= found.bytes;
    return true;
  }
}
