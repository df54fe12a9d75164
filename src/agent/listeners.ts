/** Telling each listener, whatever the others do. */
import type { Logger } from "../log.ts";
import { describeError } from "../text.ts";
import type { AgentEvent, AgentEventName, AgentEventOf, AgentListener } from "./events.ts";

/** Ends a subscription when it is called, or when a `using` block ends. Calling it again does nothing. */
export type Unsubscribe = (() => void) & Disposable;

/** What is called with every event of several names. */
export type AnyListener = (event: AgentEvent) => void | Promise<void>;

/** The listeners of an Agent, by event. */
export class Listeners {
  readonly #listeners = new Map<AgentEventName, Set<AnyListener>>();
  readonly #log: Logger;

  constructor(logger: Logger) {
    this.#log = logger;
  }

  /** Calls `listener` with each event `type`; the same function given twice is called twice. */
  on<Name extends AgentEventName>(type: Name, listener: AgentListener<Name>): Unsubscribe {
    return this.onEach([type], (event) => isOf(event, type) ? listener(event) : undefined);
  }

  /** Calls `listener` with each event of several names. */
  onEach(types: readonly AgentEventName[], listener: AnyListener): Unsubscribe {
    // A function of its own for each subscription, so that ending one does not end another.
    const entry: AnyListener = (event) => listener(event);
    for (const type of types) this.#of(type).add(entry);
    const unsubscribe = () => types.forEach((type) => this.#of(type).delete(entry));
    return Object.assign(unsubscribe, { [Symbol.dispose]: unsubscribe });
  }

  /** Whether anybody listens. */
  has(type: AgentEventName): boolean {
    return this.#of(type).size > 0;
  }

  /** Calls every listener of the event; those that are added or removed meanwhile do not matter to this event. */
  tell(event: AgentEvent): void {
    for (const listener of [...this.#of(event.type)]) {
      try {
        listener(event)?.catch((error: unknown) => this.#report(event, error));
      } catch (error) {
        this.#report(event, error);
      }
    }
  }

  #of(type: AgentEventName): Set<AnyListener> {
    const known = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, known);
    return known;
  }

  #report(event: AgentEvent, error: unknown): void {
    this.#log.error("a listener failed", { event: event.type, error: describeError(error) });
  }
}

function isOf<Name extends AgentEventName>(
  event: AgentEvent,
  type: Name,
): event is AgentEvent & AgentEventOf<Name> {
  return event.type === type;
}

/** Events that wait for a slow reader; the oldest is dropped for each one more. */
export const MAX_WAITING_EVENTS = 1_000;

/**
 * Yields events as they come, from the call on, until the signal is aborted or the reader leaves. At most
 * {@linkcode MAX_WAITING_EVENTS} wait for the reader; `onDrop` hears of each that is lost.
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
  let wake = Promise.withResolvers<void>();
  const receive = (event: AgentEvent) => {
    waiting.push(event);
    const dropped = waiting.length > MAX_WAITING_EVENTS ? waiting.shift() : undefined;
    if (dropped !== undefined) onDrop(dropped);
    wake.resolve();
  };
  let isEnded = false;
  const onAbort = () => wake.resolve();
  // Subscribed here and not at the first `next()`, so that nothing is missed in between.
  const unsubscribe = listeners.onEach(types, receive);
  signal.addEventListener("abort", onAbort, { once: true });
  const end = () => {
    signal.removeEventListener("abort", onAbort);
    unsubscribe();
    isEnded = true;
    wake.resolve();
  };

  async function* read(): AsyncGenerator<AgentEvent, void> {
    try {
      while (true) {
        const event = waiting.shift();
        if (event !== undefined) yield event;
        else if (signal.aborted || isEnded) return;
        else {
          await wake.promise;
          wake = Promise.withResolvers();
        }
      }
    } finally {
      end();
    }
  }

  const events = read();
  return {
    next: () => events.next(),
    // A generator that was never started does not run its `finally`.
    return: () => {
      end();
      return events.return();
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
