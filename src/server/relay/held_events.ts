/** The events of a connection that wait while its membership changes. */
import { approximateSizeBytes } from "../../protocol/size.ts";
import { RawRequest } from "../raw.ts";
import type { IncompleteMessage } from "../message_shares.ts";
import { CONSTANTS } from "../options/constants.ts";

export interface Incoming {
  readonly event: string;
  /** Its arguments; the last one is a function when the sender asked for an ack. */
  readonly args: readonly unknown[];
}

export class HeldEvents {
  readonly released: Promise<void>;
  readonly release: () => void;
  readonly #events: Incoming[] = [];
  readonly #counted: IncompleteMessage;
  #bytes = 0;

  /** @param counted Counts what waits: a change may last as long as Redis takes for it. */
  constructor(counted: IncompleteMessage) {
    this.#counted = counted;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.released = promise;
    this.release = resolve;
  }

  /**
   * Adds an event; `false` when the queue is full, or its principal has no memory left for it. The size of the event does
   * not count for the queue: below the limit, any size fits.
   */
  take(incoming: Incoming): boolean {
    if (this.#events.length >= CONSTANTS.maxHeldEvents.value || this.#bytes >= CONSTANTS.maxHeldBytes.value) {
      return false;
    }
    const [body] = incoming.args;
    const bytes = body instanceof RawRequest ? body.length : approximateSizeBytes(body);
    if (!this.count(bytes)) return false;
    this.#events.push(incoming);
    this.#bytes += bytes;
    return true;
  }

  /** Counts bytes of others that wait for the same change, until its end; `false` when there is no memory for them. */
  count(bytes: number): boolean {
    if (!this.#counted.hasCapacity(this.#counted.bytes + bytes)) return false;
    this.#counted.change(bytes);
    return true;
  }

  takeAll(): readonly Incoming[] {
    this.#counted.hold(0);
    return this.#events.splice(0);
  }
}
