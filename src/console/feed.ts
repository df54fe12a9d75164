/** The stream of events of a console: server-sent events. */
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";

/** The most events that are kept for readers who read slowly. */
const MAX_KEPT_EVENTS = 2_000;
/** The most characters of them together. */
const MAX_KEPT_LENGTH = 4 * 1024 * 1024;
/** About how many characters a reader gets at a time. */
const PIECE_LENGTH = 64 * 1024;
/** The most readers at a time. */
const MAX_READERS = 32;

/** How events are merged with others. */
export interface MergeOptions {
  readonly key?: string;
  readonly isLast?: boolean;
}

/** When {@linkcode EventFeed} does what it does by the clock, in milliseconds. */
const TIMES = {
  /** How often what changes often is told. */
  mergeMs: 250,
  /** How often a reader hears something although nothing happens. */
  keepAliveMs: 15_000,
  /** A reader that has taken nothing for so long is gone. */
  silenceMs: 60_000,
};

export type FeedTimes = Readonly<Partial<typeof TIMES>>;

/**
 * Keeps the last events, and tells them to readers. A reader holds no events of its own: it takes from those that are
 * kept, so a slow one costs no memory, and is told by `reset` that it has missed some.
 */
export class EventFeed {
  readonly #times: Readonly<typeof TIMES>;
  /** The last events as texts, the last of which has the last number. */
  readonly #kept: string[] = [];
  /** By name and key: what was told since the last tick, with the newest of what came after that. */
  readonly #told = new Map<string, { readonly name: string; readonly value: object } | undefined>();
  /** Wakes the readers that have all. */
  readonly #waiting = new Set<() => void>();
  readonly #closing = new AbortController();
  #merging: ReturnType<typeof setInterval> | undefined;
  #keptLength = 0;
  #lastNumber = 0;
  #readers = 0;
  #watch: (() => Disposable) | undefined;
  #watching: Disposable | undefined;

  constructor(times: FeedTimes = {}) {
    this.#times = { ...TIMES, ...times };
  }

  /**
   * Tells an event to all readers.
   *
   * @param value What JSON can hold. An event without one only says what to read again.
   * @param merge `key`: of what changes often: of the events of one name and key, the newest is told about four times a
   *   second. By default, those of one name without a value are merged so, and each one with a value is told. `isLast`: it is
   *   told at once, and nothing that came before it is told any more.
   */
  publish(name: string, value?: object, { key, isLast = false }: MergeOptions = {}): void {
    if (this.#closing.signal.aborted) return;
    if (key === undefined && value !== undefined) return this.#append(name, value);
    const id = `${name} ${key ?? ""}`;
    if (!isLast && this.#told.has(id)) return void this.#told.set(id, { name, value: value ?? {} });
    this.#told.set(id, undefined);
    this.#append(name, value ?? {});
    this.#merging ??= setInterval(() => this.#merge(), this.#times.mergeMs);
  }

  /** Calls `watch` when somebody begins to read while nobody else does, and disposes of what it returns after the last. */
  whileRead(watch: () => Disposable): void {
    this.#watch = watch;
  }

  /**
   * The answer to a request for events, which follows them from now on until its signal is aborted; `undefined` when there
   * are too many readers.
   *
   * @param end `onEnd` is called when the answer is over, for whatever reason.
   */
  read(
    { signal, onEnd = () => {} }: { readonly signal: AbortSignal; readonly onEnd?: () => void },
  ): Response | undefined {
    if (this.#closing.signal.aborted || this.#readers >= MAX_READERS) return undefined;
    const over = new AbortController();
    const ended = AbortSignal.any([signal, over.signal, this.#closing.signal]);
    if (++this.#readers === 1) this.#watching = this.#watch?.();
    ended.addEventListener("abort", () => {
      if (--this.#readers === 0) this.#watching?.[Symbol.dispose]();
      for (const wake of this.#waiting) wake();
      onEnd();
    }, { once: true });
    const { silenceMs } = this.#times;
    return new Response(toStream(this.#pieces(this.#lastNumber, ended), { over, ended, silenceMs }), {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
  }

  /** Ends all streams. Idempotent. */
  close(): void {
    clearInterval(this.#merging);
    this.#closing.abort();
  }

  #merge(): void {
    for (const [id, event] of [...this.#told]) {
      if (event === undefined) this.#told.delete(id);
      else this.#told.set(id, undefined);
      if (event !== undefined) this.#append(event.name, event.value);
    }
    if (this.#told.size > 0) return;
    clearInterval(this.#merging);
    this.#merging = undefined;
  }

  #append(name: string, value: object): void {
    const text = textOf(name, value);
    this.#lastNumber++;
    this.#kept.push(text);
    this.#keptLength += text.length;
    while (this.#kept.length > MAX_KEPT_EVENTS || this.#keptLength > MAX_KEPT_LENGTH) {
      this.#keptLength -= this.#kept.shift()?.length ?? 0;
    }
    for (const wake of this.#waiting) wake();
  }

  /** What a reader gets that has the events up to `sent`. */
  async *#pieces(sent: number, ended: AbortSignal): AsyncGenerator<string> {
    // The head of the answer goes out with it, so that the reader knows that it misses nothing from now on.
    yield ": open\n\n";
    while (true) {
      if (sent === this.#lastNumber) await this.#news();
      if (ended.aborted) return;
      const missing = this.#lastNumber - sent;
      if (missing > this.#kept.length) {
        sent = this.#lastNumber;
        yield textOf("reset", {});
        continue;
      }
      let at = this.#kept.length - missing;
      let text = missing === 0 ? ": \n\n" : "";
      while (at < this.#kept.length && text.length < PIECE_LENGTH) text += this.#kept[at++] ?? "";
      sent = this.#lastNumber - (this.#kept.length - at);
      yield text;
    }
  }

  /** Resolves at the next event, when a reader ends, and when one has to hear something although nothing happens. */
  async #news(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#times.keepAliveMs);
    this.#waiting.add(resolve);
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(resolve);
  }
}

function textOf(name: string, value: object): string {
  return `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** Takes a piece when the client has room for it; a client that has no room for long is gone. */
function toStream(pieces: AsyncGenerator<string>, { over, ended, silenceMs }: {
  readonly over: AbortController;
  readonly ended: AbortSignal;
  readonly silenceMs: number;
}): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let silence: ReturnType<typeof setTimeout> | undefined;
  let isCancelled = false;
  return new ReadableStream({
    start(controller) {
      ended.addEventListener("abort", () => {
        clearTimeout(silence);
        if (!isCancelled) controller.close();
      }, { once: true });
    },
    async pull(controller) {
      clearTimeout(silence);
      const { value } = await pieces.next();
      if (value === undefined || ended.aborted) return;
      controller.enqueue(encoder.encode(value));
      silence = setTimeout(() => over.abort(), silenceMs);
    },
    cancel() {
      isCancelled = true;
      over.abort();
    },
  }, { highWaterMark: 1 });
}
