/** Reads the body of an HTTP response in bounded frames, and reports how it ended. */
import { Limiter } from "../../async/limiter.ts";
import type { Inflow } from "../inflow.ts";
import { LARGE_MESSAGE_BYTES, MAX_LARGE_MESSAGES } from "../limits.ts";
import type { BodyFrames } from "./body_frames.ts";

/** How a body ended. A body that its reader cancelled has not ended. */
export type BodyEnd = "complete" | "broken";

/** The turn of a large message; disposing of it ends the turn or the wait. */
interface Place extends Disposable {
  /** Resolves when the turn begins, or when it was disposed of. */
  readonly isThere: Promise<void>;
}

/** The large messages of one server: a few are read at the same time, the others wait in their sockets. */
export class LargeMessages {
  readonly #turns = new Limiter(MAX_LARGE_MESSAGES);

  enter(): Place {
    const begun = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    void this.#turns.run(() => {
      begun.resolve();
      return left.promise;
    });
    return {
      isThere: begun.promise,
      [Symbol.dispose]: () => {
        left.resolve();
        begun.resolve();
      },
    };
  }
}

export interface BodyWatch {
  /** A body that is silent for this time counts as broken, in milliseconds. */
  readonly silenceMs: number;
  /** Whether a silent body may stay silent for that time once more; never by default. */
  readonly mayBeSilent?: (() => boolean) | undefined;
  readonly frames: BodyFrames;
  /** The pace at which frames are passed on. */
  readonly inflow: Inflow;
  /** Shared by the bodies of one server. */
  readonly largeMessages: LargeMessages;
  /** Receives how the body ended, and the error of a broken one. */
  readonly onEnd: (end: BodyEnd, error?: unknown) => void;
  /**
   * Cancels the body. The signal of the request is not enough: after a garbage collection, Deno's `fetch` may ignore it,
   * and the socket would stay open.
   */
  readonly signal?: AbortSignal | null | undefined;
}

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
  #isGivenUp = false;
  /** The turn of the current message, if it is large. */
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
      const { frames, isOver } = await this.#read();
      if (this.#isGivenUp) return;
      for (const frame of frames) controller.enqueue(frame);
      if (!isOver) return;
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

  /** Reads until a frame is complete, or the body has ended. */
  async #read(): Promise<{ readonly frames: readonly Uint8Array[]; readonly isOver: boolean }> {
    const { frames, inflow, largeMessages } = this.#watch;
    while (!this.#isGivenUp) {
      if (frames.unfinishedBytes > LARGE_MESSAGE_BYTES) {
        await (this.#place ??= largeMessages.enter()).isThere;
        if (this.#isGivenUp) break;
      }
      const { done, value } = await readWithin(this.#reader, this.#watch);
      if (!inflow.isReady) await inflow.ready();
      if (this.#isGivenUp) break;
      const complete = done ? frames.end() : frames.push(value);
      inflow.take(0, frames.takeNoise());
      if (done) return { frames: complete, isOver: true };
      if (frames.unfinishedBytes <= LARGE_MESSAGE_BYTES) this.#leavePlace();
      if (complete.length > 0) return { frames: complete, isOver: false };
    }
    return { frames: [], isOver: false };
  }

  #leavePlace(): void {
    this.#place?.[Symbol.dispose]();
    this.#place = undefined;
  }

  #end(how: BodyEnd, error?: unknown): void {
    this.#forget();
    this.#watch.onEnd(how, error);
  }

  #forget(): void {
    const { signal, frames } = this.#watch;
    signal?.removeEventListener("abort", this.#onAbort);
    frames.close();
    this.#leavePlace();
  }
}

/** Reads the next chunk, and cancels the body after a long silence. */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { silenceMs, mayBeSilent = () => false }: Pick<BodyWatch, "silenceMs" | "mayBeSilent">,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  let isSilent = false;
  const onSilence = () => {
    if (mayBeSilent()) {
      timer = setTimeout(onSilence, silenceMs);
      return;
    }
    isSilent = true;
    reader.cancel().catch(() => {});
  };
  let timer = setTimeout(onSilence, silenceMs);
  try {
    const read = await reader.read();
    if (isSilent) throw new TypeError(`Cannot read the response: no data for ${silenceMs} ms`);
    return read;
  } finally {
    clearTimeout(timer);
  }
}
