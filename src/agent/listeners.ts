/** Calls the listeners of events; an error in one does not affect the others. */
import type { Logger } from "../log.ts";
import { describeError } from "../text/text.ts";
import type { AgentEvent, AgentEventName, AgentEventOf, AgentListener } from "./events.ts";

/** Removes a listener when it is called, or at the end of a `using` block. Idempotent. */
export type Unsubscribe = (() => void) & Disposable;

export type AnyListener = (event: AgentEvent) => void | Promise<void>;

export class Listeners {
  readonly #listeners = new Map<AgentEventName, Set<AnyListener>>();
  readonly #log: Logger;

  constructor(logger: Logger) {
    this.#log = logger;
  }

  /** Calls `listener` with each event `type`. A function that is added twice is called twice. */
  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe {
    return this.onEach([type], (event) => isOf(event, type) ? listener(event) : undefined);
  }

  onEach(types: readonly AgentEventName[], listener: AnyListener): Unsubscribe {
    // A new function for each call, so that removing one listener does not remove an equal one.
    const entry: AnyListener = (event) => listener(event);
    for (const type of types) this.#listenersOf(type).add(entry);
    const unsubscribe = () => types.forEach((type) => this.#listenersOf(type).delete(entry));
    return Object.assign(unsubscribe, { [Symbol.dispose]: unsubscribe });
  }

  has(type: AgentEventName): boolean {
    return this.#listenersOf(type).size > 0;
  }

  /** Calls every listener of the event. Listeners added or removed by a listener count from the next event on. */
  tell(event: AgentEvent): void {
    for (const listener of [...this.#listenersOf(event.type)]) {
      try {
        listener(event)?.catch((error: unknown) => this.#report(event, error));
      } catch (error) {
        this.#report(event, error);
      }
    }
  }

  #listenersOf(type: AgentEventName): Set<AnyListener> {
    const known = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, known);
    return known;
  }

  #report(event: AgentEvent, error: unknown): void {
    this.#log.error("listener failed", { event: event.type, error: describeError(error) });
  }
}

function isOf<Name extends AgentEventName>(
  event: AgentEvent,
  type: Name,
): event is AgentEvent & AgentEventOf<Name> {
  return event.type === type;
}

/** The most events that wait for a slow reader. For each further event, the oldest is dropped. */
export const MAX_WAITING_EVENTS = 1_000;

/**
 * Yields events from this call on, until the signal is aborted or the reader leaves the loop. At most
 * {@linkcode MAX_WAITING_EVENTS} wait for the reader; `onDrop` receives each dropped event.
 */
export function streamEvents(
  listeners: Listeners,
  options: {
    readonly types: readonly AgentEventName[];
    readonly signal: AbortSignal;
    readonly onDrop: (event: AgentEvent) => void;
  },
): AsyncIterableIterator<AgentEvent> {
  const { types, signal, onDrop } = options;
  const waiting: AgentEvent[] = [];
  let news = Promise.withResolvers<void>();
  const tell = () => {
    news.resolve();
    news = Promise.withResolvers();
  };
  // Listens from here and not from the first `next()`, so that no event in between is missed.
  const unsubscribe = listeners.onEach(types, (event) => {
    waiting.push(event);
    const dropped = waiting.length > MAX_WAITING_EVENTS ? waiting.shift() : undefined;
    if (dropped !== undefined) onDrop(dropped);
    tell();
  });
  let isEnded = false;
  const end = () => {
    signal.removeEventListener("abort", end);
    unsubscribe();
    isEnded = true;
    tell();
  };
  if (signal.aborted) end();
  else signal.addEventListener("abort", end, { once: true });
  return {
    async next() {
      while (waiting.length === 0 && !isEnded) await news.promise;
      const event = waiting.shift();
      return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
    },
    return() {
      end();
      waiting.length = 0;
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
