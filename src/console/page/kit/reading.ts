/** Values of commands that a screen shows, read again when an event says that they have changed. */
import { useEffect, useState } from "preact/hooks";
import { ApiError, type Asked, listen, read } from "./client.ts";

/** How often one value is read at most, in milliseconds. */
const LEAST_INTERVAL_MS = 500;
/** Values that are kept, so that a screen that is opened again shows something at once. */
const MAX_KEPT = 40;

const kept = new Map<string, unknown>();

export interface Reading<Value> {
  readonly value: Value | undefined;
  readonly error: string | undefined;
  readonly again: () => void;
}

/** Reads a value while the component is shown, and again at each of these events; `undefined` as path reads nothing. */
export function useReading<Value>(
  path: string | undefined,
  { on = [], ...asked }: Asked & { readonly on?: readonly string[] } = {},
): Reading<Value> {
  const key = JSON.stringify([path, asked]);
  const [state, setState] = useState<{ key: string; value?: Value; error?: string }>({ key });
  const [reader] = useState<{ request: () => void }>({ request() {} });
  useEffect(() => {
    if (path === undefined) return;
    const own = new Reader<Value>(
      (signal) => read<Value>(path, { ...asked, signal }),
      (outcome) => {
        if (outcome.value !== undefined) keep(key, outcome.value);
        setState({ key, value: kept.get(key) as Value, ...outcome });
      },
    );
    reader.request = () => own.request();
    const stop = listen(on, () => own.request());
    own.request();
    return () => {
      stop();
      own.end();
    };
  }, [key]);
  const value = state.key === key
    ? state.value ?? kept.get(key) as Value
    : kept.get(key) as Value | undefined;
  return { value, error: state.key === key ? state.error : undefined, again: () => reader.request() };
}

function keep(key: string, value: unknown): void {
  kept.delete(key);
  kept.set(key, value);
  const [oldest = ""] = kept.keys();
  if (kept.size > MAX_KEPT) kept.delete(oldest);
}

interface Outcome<Value> {
  readonly value?: Value;
  readonly error?: string;
}

/** Reads once at a time, and twice a second at most, however often it is asked to; not while the page is hidden. */
class Reader<Value> {
  readonly #read: (signal: AbortSignal) => Promise<Value>;
  readonly #tell: (outcome: Outcome<Value>) => void;
  readonly #over = new AbortController();
  #readAtMs = -Infinity;
  #isReading = false;
  #isWanted = false;
  #timer: number | undefined;

  constructor(read: (signal: AbortSignal) => Promise<Value>, tell: (outcome: Outcome<Value>) => void) {
    this.#read = read;
    this.#tell = tell;
    document.addEventListener("visibilitychange", () => this.#go(), { signal: this.#over.signal });
  }

  request(): void {
    this.#isWanted = true;
    this.#go();
  }

  end(): void {
    this.#over.abort();
    clearTimeout(this.#timer);
  }

  #go(): void {
    if (!this.#isWanted || this.#isReading || document.hidden || this.#over.signal.aborted) return;
    clearTimeout(this.#timer);
    const leftMs = this.#readAtMs + LEAST_INTERVAL_MS - performance.now();
    if (leftMs > 0) this.#timer = setTimeout(() => this.#go(), leftMs);
    else void this.#run();
  }

  async #run(): Promise<void> {
    this.#isWanted = false;
    this.#isReading = true;
    this.#readAtMs = performance.now();
    const outcome = await this.#read(this.#over.signal).then(
      (value) => ({ value }),
      (error) => ({ error: error instanceof ApiError ? error.message : String(error) }),
    );
    this.#isReading = false;
    if (this.#over.signal.aborted) return;
    this.#tell(outcome);
    this.#go();
  }
}
