/** An Agent's events as an async iterator. */
import type { AgentEvent, AgentEventName } from "./events.ts";
import type { Listeners } from "./listeners.ts";

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
