/** Values of commands that a screen shows, read again when an event or the time says that they have changed. */
import { useEffect, useState } from "preact/hooks";
import { type Asked, listen, messageOf, run } from "./client.ts";

/** How often one value is read at most, in milliseconds. */
const LEAST_INTERVAL_MS = 500;

/** How often a value is read of whose changes nothing tells, in milliseconds. */
const POLL_MS = 5_000;

interface Outcome<Value> {
  readonly value?: Value | undefined;
  readonly error?: string | undefined;
}

interface ReadingOptions extends Asked {
  /** The events at which it is read again. */
  readonly on?: readonly string[];
  /** Whether it is read every few seconds although nothing happens. */
  readonly isPolled?: boolean;
}

/**
 * Reads a value while the component is shown: once at a time and twice a second at most, however often something happens, and
 * not while the page is hidden.
 */
export function useReading<Value>(
  path: string,
  { on = [], isPolled = false, ...asked }: ReadingOptions = {},
): Outcome<Value> & { readonly again: () => void } {
  const key = JSON.stringify([path, asked]);
  const [state, setState] = useState<Outcome<Value> & { key: string }>({ key });
  const [reader] = useState({ again: () => {} });
  useEffect(() => {
    const over = new AbortController();
    let isWanted = false;
    let isBusy = false;
    const go = async () => {
      if (isBusy) return;
      isBusy = true;
      while (isWanted && !document.hidden && !over.signal.aborted) {
        isWanted = false;
        const outcome = await run<Value>(path, { ...asked, signal: over.signal })
          .then((value) => ({ value, error: undefined }), (error) => ({ error: messageOf(error) }));
        if (over.signal.aborted) return;
        setState((last) => ({ ...last.key === key ? last : {}, key, ...outcome }));
        await new Promise((resolve) => setTimeout(resolve, LEAST_INTERVAL_MS));
      }
      isBusy = false;
    };
    reader.again = () => {
      isWanted = true;
      void go();
    };
    const stop = listen(on, reader.again);
    const timer = isPolled ? setInterval(reader.again, POLL_MS) : undefined;
    document.addEventListener("visibilitychange", () => void go(), { signal: over.signal });
    reader.again();
    return () => {
      stop();
      clearInterval(timer);
      over.abort();
    };
  }, [key]);
  return { ...state.key === key ? state : {}, again: () => reader.again() };
}
