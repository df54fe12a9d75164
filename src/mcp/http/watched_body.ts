/** The body of an HTTP response, read in bounded frames, that tells how it ended. */
import type { BodyFrames } from "./body_frames.ts";
import type { Inflow } from "../inflow.ts";
import { joinBytes } from "../message_bytes.ts";
import {
  LARGE_MESSAGE_BYTES,
  MAX_EVENT_BATCH_BYTES,
  MAX_LARGE_MESSAGES,
  NOISE_LINES_PER_UNIT,
} from "../limits.ts";

/** How a body ended: at its end, or broken on the way. A body that its reader gave up has not ended. */
export type BodyEnd = "complete" | "broken";

/** A large message's place among those that are read; given back when it is disposed of, also while it waits. */
interface Place extends Disposable {
  /** Resolves when it is there, or was given back. */
  readonly isThere: Promise<void>;
}

/** The large messages of one server: a few are read at a time, the rest waits in its sockets. */
export class LargeMessages {
  #free = MAX_LARGE_MESSAGES;
  readonly #waiting = new Set<() => void>();

  enter(): Place {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    this.#admit();
    return {
      isThere: promise,
      [Symbol.dispose]: () => {
        if (!this.#waiting.delete(resolve)) this.#free++;
        resolve();
        this.#admit();
      },
    };
  }

  #admit(): void {
    for (const resolve of this.#waiting) {
      if (this.#free === 0) return;
      this.#free--;
      this.#waiting.delete(resolve);
      resolve();
    }
  }
}

/** What is asked of a watched body. */
export interface BodyWatch {
  /** A body that says nothing for so long counts as broken, in milliseconds. */
  readonly silenceMs: number;
  /** What the body is cut into; it throws at what is too long. */
  readonly frames: BodyFrames;
  /** The pace at which frames are handed on. */
  readonly inflow: Inflow;
  /** Shared by the bodies of one server. */
  readonly largeMessages: LargeMessages;
  /** Hears how it ended, and of a broken one why. */
  readonly onEnd: (end: BodyEnd, error?: unknown) => void;
  /**
   * Ends the body, which then has not ended by itself. The signal of its request does not do for that: once garbage was
   * collected, Deno's `fetch` may not hear it any more, and the socket would stay open for good.
   */
  readonly signal?: AbortSignal | null | undefined;
}

/** Passes a body on, frame by frame. */
export function watchBody(body: ReadableStream<Uint8Array>, watch: BodyWatch): ReadableStream<Uint8Array> {
  const watched = new WatchedBody(body.getReader(), watch);
  return new ReadableStream<Uint8Array>({
    start: (controller) => watched.start(controller),
    pull: (controller) => watched.pull(controller),
    cancel: (reason) => watched.cancel(reason),
  });
}

class WatchedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #watch: BodyWatch;
  /** Frames that were read and not handed on yet, the next one last. */
  #waiting: Uint8Array[] = [];
  #isGivenUp = false;
  /** Of the message that is being read, if it is a large one. */
  #place: Place | undefined;
  #onAbort = () => {};

  constructor(reader: ReadableStreamDefaultReader<Uint8Array>, watch: BodyWatch) {
    this.#reader = reader;
    this.#watch = watch;
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#watch;
    this.#onAbort = () => {
      controller.error(signal?.reason);
      this.cancel(signal?.reason).catch(() => {});
    };
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const isOver = this.#waiting.length === 0 && await this.#read();
      const { inflow } = this.#watch;
      if (!inflow.isReady) await inflow.ready();
      if (this.#isGivenUp) return;
      const batch = this.#nextBatch();
      if (batch !== undefined) controller.enqueue(batch);
      if (!isOver || this.#waiting.length > 0) return;
      controller.close();
      this.#end("complete");
    } catch (error) {
      if (this.#isGivenUp) return;
      controller.error(error);
      this.#reader.cancel(error).catch(() => {});
      this.#end("broken", error);
    }
  }

  async cancel(reason: unknown): Promise<void> {
    this.#isGivenUp = true;
    this.#forget();
    await this.#reader.cancel(reason);
  }

  /** Reads until there is a frame; tells whether the body is at its end. */
  async #read(): Promise<boolean> {
    const { frames, silenceMs, inflow, largeMessages } = this.#watch;
    while (!this.#isGivenUp && this.#waiting.length === 0) {
      if (frames.unfinishedBytes > LARGE_MESSAGE_BYTES) {
        await (this.#place ??= largeMessages.enter()).isThere;
        if (this.#isGivenUp) break;
      }
      const { done, value } = await readWithin(this.#reader, silenceMs);
      if (!inflow.isReady) await inflow.ready();
      if (this.#isGivenUp) break;
      this.#waiting = (done ? frames.end() : frames.push(value)).reverse();
      const noise = frames.takeNoise();
      inflow.take(noise.bytes, noise.lines / NOISE_LINES_PER_UNIT);
      if (done) return true;
      if (frames.unfinishedBytes <= LARGE_MESSAGE_BYTES) this.#leavePlace();
    }
    return false;
  }

  #leavePlace(): void {
    this.#place?.[Symbol.dispose]();
    this.#place = undefined;
  }

  /** Several small frames as one chunk, so that a reader has no more to do than for one. */
  #nextBatch(): Uint8Array | undefined {
    const first = this.#waiting.pop();
    if (first === undefined) return undefined;
    const batch = [first];
    let sizeBytes = first.length;
    for (let next = this.#waiting.at(-1); next !== undefined; next = this.#waiting.at(-1)) {
      sizeBytes += next.length;
      if (sizeBytes > MAX_EVENT_BATCH_BYTES) break;
      batch.push(next);
      this.#waiting.pop();
    }
    return batch.length === 1 ? first : joinBytes(batch);
  }

  #end(how: BodyEnd, error?: unknown): void {
    this.#forget();
    this.#watch.onEnd(how, error);
  }

  #forget(): void {
    const { signal, frames } = this.#watch;
    signal?.removeEventListener("abort", this.#onAbort);
    this.#waiting = [];
    frames.close();
    this.#leavePlace();
  }
}

/** Reads the next chunk; silence for too long cancels the body. */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  silenceMs: number,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  let isSilent = false;
  const timer = setTimeout(() => {
    isSilent = true;
    reader.cancel().catch(() => {});
  }, silenceMs);
  try {
    const read = await reader.read();
    if (isSilent) throw new TypeError(`Cannot read the response: nothing came for ${silenceMs} ms`);
    return read;
  } finally {
    clearTimeout(timer);
  }
}
