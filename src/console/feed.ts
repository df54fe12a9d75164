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

interface KeptEvent {
  readonly number: number;
  readonly text: string;
}

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
  readonly #kept: KeptEvent[] = [];
  readonly #readers = new Set<FeedReader>();
  /** By name and key: what was told since the last tick, and the newest of what came after that. */
  readonly #told = new Set<string>();
  readonly #due = new Map<string, { readonly name: string; readonly value: object }>();
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
    const event = { name, value: value ?? {} };
    if (isLast) this.#due.delete(id);
    else if (this.#told.has(id)) return void this.#due.set(id, event);
    this.#tell(id, event);
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
    const after = lastId === undefined ? this.#lastNumber : this.#numberOf(lastId);
    const reader = new FeedReader({
      next: (number) => this.#textAfter(number),
      after,
      onEnd: () => {
        this.#end(reader);
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
    this.#told.clear();
    const due = [...this.#due];
    this.#due.clear();
    for (const [id, event] of due) this.#tell(id, event);
    if (due.length > 0) return;
    clearInterval(this.#merging);
    this.#merging = undefined;
  }

  #tell(id: string, { name, value }: { readonly name: string; readonly value: object }): void {
    this.#told.add(id);
    this.#append(name, value);
  }

  #append(name: string, value: object): void {
    const number = ++this.#lastNumber;
    const text = eventText({ id: `${this.#start}-${number}`, name, value });
    this.#kept.push({ number, text });
    this.#keptLength += text.length;
    while (this.#kept.length > MAX_KEPT_EVENTS || this.#keptLength > MAX_KEPT_LENGTH) {
      this.#keptLength -= this.#kept.shift()?.text.length ?? 0;
    }
    for (const reader of this.#readers) reader.wake();
  }

  /** The number of an event of this feed; `undefined` for an id of another one. */
  #numberOf(id: string): number | undefined {
    const [start, digits = ""] = id.split("-", 2);
    const number = Number(digits);
    const isOwn = start === this.#start && /^\d+$/.test(digits) && number <= this.#lastNumber;
    return isOwn ? number : undefined;
  }

  /** What a reader gets that has the events up to a number; `undefined` when there is nothing new. */
  #textAfter(number: number | undefined): FeedPiece | undefined {
    const upTo = this.#lastNumber;
    if (number === upTo) return undefined;
    const first = this.#kept[0]?.number ?? upTo + 1;
    if (number === undefined || number + 1 < first) {
      return { upTo, text: eventText({ id: `${this.#start}-${upTo}`, name: "reset", value: {} }) };
    }
    const next: string[] = [];
    let length = 0;
    for (let i = number + 1 - first; i < this.#kept.length && length < PIECE_LENGTH; i++) {
      const { text = "" } = this.#kept[i] ?? {};
      next.push(text);
      length += text.length;
    }
    return { upTo: number + next.length, text: next.join("") };
  }

  #begin(): void {
    this.#timer = setInterval(() => {
      for (const reader of [...this.#readers]) reader.tick(this.#times.silenceMs);
    }, this.#times.keepAliveMs);
    this.#watching = this.#watch?.();
  }

  #end(reader: FeedReader): void {
    if (!this.#readers.delete(reader) || this.#readers.size > 0) return;
    clearInterval(this.#timer);
    this.#watching?.[Symbol.dispose]();
    this.#watching = undefined;
  }
}

interface FeedPiece {
  /** The number of the last event that the reader has then. */
  readonly upTo: number;
  readonly text: string;
}

interface FeedReaderOptions {
  readonly next: (number: number | undefined) => FeedPiece | undefined;
  readonly after: number | undefined;
  readonly onEnd: () => void;
}

/** One stream, which takes a piece when its client asks for one. */
class FeedReader {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #options: FeedReaderOptions;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The number of the last event that was sent; `undefined` while a `reset` is due. */
  #sent: number | undefined;
  /** Whether the client has room for a piece, and since when it has none. */
  #wants = false;
  #silentSinceMs = performance.now();
  #isOver = false;

  constructor(options: FeedReaderOptions) {
    this.#options = options;
    this.#sent = options.after;
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
        // The head of the answer goes out with it, so that the reader knows that it misses nothing from now on.
        controller.enqueue(this.#encoder.encode(": open\n\n"));
      },
      pull: () => {
        this.#wants = true;
        this.wake();
      },
      cancel: () => this.#finish(),
    }, { highWaterMark: 1 });
  }

  /** Sends the next piece, if the client has room for it. */
  wake(): void {
    if (!this.#wants || this.#isOver) return;
    const piece = this.#options.next(this.#sent);
    if (piece === undefined) return;
    this.#sent = piece.upTo;
    this.#send(piece.text);
  }

  /** Keeps the connection alive; ends it when the client has read nothing for so long. */
  tick(silenceMs: number): void {
    if (this.#wants) this.#send(": \n\n");
    else if (performance.now() - this.#silentSinceMs > silenceMs) this.end();
  }

  end(): void {
    if (this.#isOver) return;
    this.#finish();
    this.#controller?.close();
  }

  #send(text: string): void {
    this.#wants = false;
    this.#silentSinceMs = performance.now();
    this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.onEnd();
  }
}

function eventText(
  { id, name, value }: { readonly id: string; readonly name: string; readonly value: object },
): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(value)}\n\n`;
}
