/** The body of an HTTP response that tells how it ended. */

/** How a body ended: at its end, or broken on the way. A body that its reader gave up has not ended. */
export type BodyEnd = "complete" | "broken";

/** What is watched of a body. */
export interface BodyWatch {
  /** A body that says nothing for so long counts as broken, in milliseconds. */
  readonly silenceMs: number;
  /** Gives the body up when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Hears how the body ended. */
  readonly onEnd: (end: BodyEnd) => void;
}

/**
 * Passes a body on. It heeds the signal itself: the abort of a `fetch` does not reach the body of its response any
 * more once the request was garbage-collected (Deno 2.9), and an open body keeps its socket and the process.
 */
export function watchBody(body: ReadableStream<Uint8Array>, watch: BodyWatch): ReadableStream<Uint8Array> {
  const { silenceMs, signal, onEnd } = watch;
  const reader = body.getReader();
  let isGivenUp = false;
  const giveUp = async (reason: unknown) => {
    isGivenUp = true;
    signal?.removeEventListener("abort", onAbort);
    await reader.cancel(reason);
  };
  let onAbort = () => {};
  return new ReadableStream<Uint8Array>({
    start(controller) {
      onAbort = () => {
        controller.error(signal?.reason);
        giveUp(signal?.reason).catch(() => {});
      };
      if (signal?.aborted) onAbort();
      else signal?.addEventListener("abort", onAbort);
    },
    async pull(controller) {
      try {
        const { done, value } = await readWithin(reader, silenceMs);
        if (isGivenUp) return;
        if (!done) return controller.enqueue(value);
        controller.close();
        onEnd("complete");
      } catch (error) {
        if (isGivenUp) return;
        controller.error(error);
        onEnd("broken");
      }
      signal?.removeEventListener("abort", onAbort);
    },
    cancel: giveUp,
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
