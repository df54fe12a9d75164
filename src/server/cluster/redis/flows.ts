/**
 * How much is under way to each other process. Redis keeps what a process has not read yet, and closes the connection of one
 * that is too far behind: all its requests would be lost. So each process confirms what it has received, and what does not
 * fit waits here, in order.
 */
import { Buffer } from "node:buffer";
import { ErrorCode } from "../../../protocol/error_codes.ts";
import { SmcpError } from "../../../protocol/errors.ts";
import { quoted } from "../../limits.ts";
import type { RelayedRequest } from "../../pending_requests.ts";

/** The most bytes under way to one process; a larger message goes alone. Redis allows 32 MiB by default, for all senders. */
const MAX_UNDER_WAY_BYTES = 4 * 1024 * 1024;
/** A process confirms what it has received whenever it is as much as this. */
const RECEIPT_BYTES = 256 * 1024;
/** The bytes that wait for one process beyond which large messages to it are refused. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

interface Waiting {
  readonly message: string;
  readonly bytes: number;
  readonly resolve: (receivers: Promise<number>) => void;
  readonly reject: (error: unknown) => void;
}

/** What goes to one process. */
class Flow {
  underWayBytes = 0;
  waitingBytes = 0;
  /** In order. The keys are what {@linkcode Flows.cancel} names a message by. */
  readonly waiting = new Map<object, Waiting>();

  /** The last bytes are confirmed only with later ones, so they do not keep a large message waiting. */
  fits(bytes: number): boolean {
    return this.underWayBytes < RECEIPT_BYTES || this.underWayBytes + bytes <= MAX_UNDER_WAY_BYTES;
  }

  /** Takes a message that no longer waits out. */
  remove(key: object): Waiting | undefined {
    const found = this.waiting.get(key);
    if (found === undefined) return undefined;
    this.waiting.delete(key);
    this.waitingBytes -= found.bytes;
    return found;
  }
}

/** The flows to and from all other processes, by fence. A process that confirms nothing holds up only what is for it. */
export class Flows {
  readonly #publish: (fence: string, message: string) => Promise<number>;
  readonly #outgoing = new Map<string, Flow>();
  /** Bytes that were received and not confirmed yet. */
  readonly #unconfirmed = new Map<string, number>();

  /** @param publish Publishes a message to a process; resolves to the number of its receivers. */
  constructor(publish: (fence: string, message: string) => Promise<number>) {
    this.#publish = publish;
  }

  /** The fences of processes that something was sent to or received from. */
  fences(): readonly string[] {
    return [...this.#outgoing.keys(), ...this.#unconfirmed.keys()];
  }

  /** Throws a 413 when too much waits for the process of a Computer, or of those that asked it, to send it more. */
  requireRoom(fence: string, { event, computer }: Pick<RelayedRequest, "event" | "computer">): void {
    const size = this.#outgoing.get(fence)?.waitingBytes ?? 0;
    if (size < MAX_WAITING_BYTES) return;
    throw new SmcpError(
      ErrorCode.PAYLOAD_TOO_LARGE,
      `Cannot relay "${quoted(event)}": ${size} bytes wait for another process of this Server; try again`,
      { details: { size, limit: MAX_WAITING_BYTES, computer_name: computer } },
    );
  }

  /**
   * Sends a message behind those before it; resolves to the number of its receivers. The promise stays open when the
   * message is cancelled, and rejects when Redis or the process is lost.
   *
   * @param key For {@linkcode Flows.cancel}.
   */
  send(fence: string, message: string, key?: object): Promise<number> {
    const flow = this.#flowTo(fence);
    const bytes = Buffer.byteLength(message);
    if (flow.waiting.size === 0 && flow.fits(bytes)) return this.#sendNow(flow, { fence, message, bytes });
    return new Promise((resolve, reject) => {
      const waiting = { message, bytes, resolve, reject };
      flow.waiting.set(key ?? waiting, waiting);
      flow.waitingBytes += bytes;
    });
  }

  /** Takes a message back; returns whether it still waited. */
  cancel(fence: string, key: object): boolean {
    const flow = this.#outgoing.get(fence);
    if (flow?.remove(key) === undefined) return false;
    this.#sendNext(fence, flow);
    return true;
  }

  /** Another process has received so many bytes from this one. */
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
    for (const { reject } of flow.waiting.values()) {
      reject(new TypeError("Cannot send to a process: it is lost"));
    }
    flow.waiting.clear();
  }

  /** Forgets all processes. */
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
    for (const [key, { message, bytes, resolve }] of flow.waiting) {
      if (!flow.fits(bytes)) return;
      flow.remove(key);
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
