/** The body of an HTTP response that tells how it ended. */

/** How a body ended: at its end, or broken on the way. A body that its reader gave up has not ended. */
export type BodyEnd = "complete" | "broken";

/** What is asked of a watched body. */
export interface BodyWatch {
  /** A body that says nothing for so long counts as broken, in milliseconds. */
  readonly silenceMs: number;
  /** Hears how it ended. */
  readonly onEnd: (end: BodyEnd) => void;
  /**
   * Ends the body, which then has not ended by itself. The signal of its request does not do for that: once garbage was
   * collected, Deno's `fetch` may not hear it any more, and the socket would stay open for good.
   */
  readonly signal?: AbortSignal | null | undefined;
}

/** Passes a body on. */
export function watchBody(body: ReadableStream<Uint8Array>, watch: BodyWatch): ReadableStream<Uint8Array> {
  const { silenceMs, onEnd, signal } = watch;
  const reader = body.getReader();
  let isGivenUp = false;
  let onAbort = () => {};
  const end = (how: BodyEnd) => {
    signal?.removeEventListener("abort", onAbort);
    if (!isGivenUp) onEnd(how);
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      onAbort = () => {
        isGivenUp = true;
        controller.error(signal?.reason);
        reader.cancel(signal?.reason).catch(() => {});
      };
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort, { once: true });
    },
    async pull(controller) {
      try {
        const { done, value } = await readWithin(reader, silenceMs);
        if (isGivenUp) return;
        if (!done) return controller.enqueue(value);
        controller.close();
        end("complete");
      } catch (error) {
        controller.error(error);
        end("broken");
      }
    },
    async cancel(reason) {
      isGivenUp = true;
      signal?.removeEventListener("abort", onAbort);
      await reader.cancel(reason);
    },
  });
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
