/** The events of a connection that wait while its membership changes. */
import { approximateSizeBytes } from "../protocol/size.ts";
import { RawRequest } from "./raw.ts";
import { MAX_HELD_BYTES, MAX_HELD_EVENTS } from "./limits.ts";

/** An event as Socket.IO delivers it. */
export interface Incoming {
  readonly event: string;
  /** Its arguments; the last one is a function when the sender asked for an ack. */
  readonly args: readonly unknown[];
}

/** A bounded queue, in the order of arrival. */
export class HeldEvents implements Iterable<Incoming> {
  /** Resolves when the events are handled. */
  readonly released: Promise<void>;
  /** Says that the change has ended. */
  readonly release: () => void;
  readonly #events: Incoming[] = [];
  #bytes = 0;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.released = promise;
    this.release = resolve;
  }

  /** Adds an event; `false` when the queue is full. The size of the event does not count: below the limit, any size fits. */
  take(incoming: Incoming): boolean {
    if (this.#events.length >= MAX_HELD_EVENTS || this.#bytes >= MAX_HELD_BYTES) return false;
    this.#events.push(incoming);
    const [body] = incoming.args;
    this.#bytes += body instanceof RawRequest ? body.length : approximateSizeBytes(body);
    return true;
  }

  [Symbol.iterator](): Iterator<Incoming> {
    return this.#events.values();
  }
}
