/** The events of a connection that wait while its membership changes. */
import { approximateSizeBytes } from "../protocol/size.ts";
import { MAX_HELD_BYTES, MAX_HELD_EVENTS } from "./limits.ts";

/** An event as Socket.IO delivers it. */
export interface Incoming {
  readonly event: string;
  /** Its arguments; the last one is a function when the sender asked for an ack. */
  readonly args: readonly unknown[];
}

/** A bounded queue, in the order of arrival. */
export class HeldEvents implements Iterable<Incoming> {
  /** Called before the events are handled. */
  onReleased: (() => void) | undefined;
  readonly #events: Incoming[] = [];
  #bytes = 0;

  /** Adds an event; `false` when the queue is full. The size of the event does not count: below the limit, any size fits. */
  take(incoming: Incoming): boolean {
    if (this.#events.length >= MAX_HELD_EVENTS || this.#bytes >= MAX_HELD_BYTES) return false;
    this.#events.push(incoming);
    this.#bytes += approximateSizeBytes(incoming.args[0]);
    return true;
  }

  [Symbol.iterator](): Iterator<Incoming> {
    return this.#events.values();
  }
}
