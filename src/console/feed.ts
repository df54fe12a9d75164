/** The stream of events of a console: server-sent events with ids, from which a reader resumes. */
import { clearInterval, setInterval } from "node:timers";

/** The most events that are kept for readers who come back or read slowly. */
const MAX_KEPT_EVENTS = 2_000;
/** The most characters of them together. */
const MAX_KEPT_LENGTH = 4 * 1024 * 1024;
/** About how many characters a reader gets at a time. */
const PIECE_LENGTH = 64 * 1024;
/** The most readers at a time. */
const MAX_READERS = 32;
/** How often what changes often is told, in milliseconds. */
const MERGE_INTERVAL_MS = 250;
/** How often a reader hears something although nothing happens, in milliseconds. */
const KEEP_ALIVE_MS = 15_000;
/** A reader that has taken nothing for so long is gone, in milliseconds. */
const SILENCE_MS = 60_000;

/** How events are merged with others. */
export interface MergeOptions {
  readonly key?: string;
  readonly isLast?: boolean;
}

/** When {@linkcode EventFeed} does what it does by the clock, in milliseconds. */
export interface FeedTimes {
  readonly mergeMs?: number;
  readonly keepAliveMs?: number;
  readonly silenceMs?: number;
}

/**
 * Keeps the last events, and tells them to readers. A reader holds no events of its own: it takes from those that are
 * kept, so a slow one costs no memory, and is told by `reset` that it has missed some.
 */
export class EventFeed {
  /** Ids of another start, or of another feed, are not of this one. */
  readonly #start = crypto.randomUUID().slice(0, 8);
  readonly #times: Required<FeedTimes>;
  /** The last events as texts, the last of which has the last number. */
  readonly #kept: string[] = [];
  readonly #readers = new Set<FeedReader>();
  /** By name and key: what was told since the last tick, with the newest of what came after that. */
  readonly #told = new Map<string, { readonly name: string; readonly value: object } | undefined>();
  #merging: ReturnType<typeof setInterval> | undefined;
  #keptLength = 0;
  #lastNumber = 0;
  #watch: (() => Disposable) | undefined;
  #watching: Disposable | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #isClosed = false;

  constructor(
    { mergeMs = MERGE_INTERVAL_MS, keepAliveMs = KEEP_ALIVE_MS, silenceMs = SILENCE_MS }: FeedTimes = {},
  ) {
    this.#times = { mergeMs, keepAliveMs, silenceMs };
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
    if (this.#isClosed) return;
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
   * The answer to a request for events, which follows them until its signal is aborted; `undefined` when there are too many
   * readers.
   *
   * @param lastId The last event that the reader has; without it, it begins with the next one.
   * @param end `onEnd` is called when the answer is over, for whatever reason.
   */
  read(
    lastId: string | undefined,
    { signal, onEnd = () => {} }: { readonly signal: AbortSignal; readonly onEnd?: () => void },
  ): Response | undefined {
    if (this.#isClosed || this.#readers.size >= MAX_READERS) return undefined;
    const reader = new FeedReader({
      sent: lastId === undefined ? this.#lastNumber : this.#numberOf(lastId),
      onRoom: () => this.#send(reader),
      onEnd: () => {
        this.#leave(reader);
        onEnd();
      },
    });
    this.#readers.add(reader);
    if (this.#readers.size === 1) this.#begin();
    signal.addEventListener("abort", () => reader.end(), { once: true });
    return new Response(reader.stream, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
    });
  }

  /** Ends all streams. Idempotent. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#merging);
    for (const reader of [...this.#readers]) reader.end();
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
    const text = this.#textOf(++this.#lastNumber, { name, value });
    this.#kept.push(text);
    this.#keptLength += text.length;
    while (this.#kept.length > MAX_KEPT_EVENTS || this.#keptLength > MAX_KEPT_LENGTH) {
      this.#keptLength -= this.#kept.shift()?.length ?? 0;
    }
    for (const reader of this.#readers) this.#send(reader);
  }

  #textOf(number: number, { name, value }: { readonly name: string; readonly value: object }): string {
    return `id: ${this.#start}-${number}\nevent: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
  }

  /** The number of an event of this feed; `undefined` for an id of another one. */
  #numberOf(id: string): number | undefined {
    const [start, digits = ""] = id.split("-", 2);
    const number = Number(digits);
    const isOwn = start === this.#start && /^\d+$/.test(digits) && number <= this.#lastNumber;
    return isOwn ? number : undefined;
  }

  /** Sends a reader what it does not have, as much as one piece holds, if its client has room for it. */
  #send(reader: FeedReader): void {
    const { sent } = reader;
    if (!reader.hasRoom || sent === this.#lastNumber) return;
    const missing = sent === undefined ? Infinity : this.#lastNumber - sent;
    if (missing > this.#kept.length) {
      reader.sent = this.#lastNumber;
      return reader.send(this.#textOf(this.#lastNumber, { name: "reset", value: {} }));
    }
    let text = "";
    let at = this.#kept.length - missing;
    while (at < this.#kept.length && text.length < PIECE_LENGTH) text += this.#kept[at++] ?? "";
    reader.sent = this.#lastNumber - (this.#kept.length - at);
    reader.send(text);
  }

  #begin(): void {
    this.#timer = setInterval(() => {
      for (const reader of [...this.#readers]) {
        if (reader.hasRoom) reader.send(": \n\n");
        else if (performance.now() - reader.sentAtMs > this.#times.silenceMs) reader.end();
      }
    }, this.#times.keepAliveMs);
    this.#watching = this.#watch?.();
  }

  #leave(reader: FeedReader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
  }
}

interface FeedReaderOptions {
  readonly sent: number | undefined;
  /** Called when the client has room for a piece. */
  readonly onRoom: () => void;
  readonly onEnd: () => void;
}

/** One stream, which takes a piece when its client asks for one. */
class FeedReader {
  readonly stream: ReadableStream<Uint8Array>;
  /** The number of the last event that was sent; `undefined` while a `reset` is due. */
  sent: number | undefined;
  sentAtMs = performance.now();
  hasRoom = false;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #onEnd: (() => void) | undefined;

  constructor({ sent, onRoom, onEnd }: FeedReaderOptions) {
    this.sent = sent;
    this.#onEnd = onEnd;
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        // The head of the answer goes out with it, so that the reader knows that it misses nothing from now on.
        this.send(": open\n\n");
      },
      pull: () => {
        this.hasRoom = true;
        onRoom();
      },
      cancel: () => {
        this.#controller = undefined;
        this.end();
      },
    }, { highWaterMark: 1 });
  }

  send(text: string): void {
    this.hasRoom = false;
    this.sentAtMs = performance.now();
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  end(): void {
    this.hasRoom = false;
    this.#onEnd?.();
    this.#onEnd = undefined;
    this.#controller?.close();
    this.#controller = undefined;
  }
}
