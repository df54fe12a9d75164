/** The body of an HTTP response that tells how it ended. */

/** How a body ended: at its end, or broken on the way. A body that its reader gave up has not ended. */
export type BodyEnd = "complete" | "broken";

/**
 * Passes a body on.
 *
 * @param watch `onEnd` hears how it ended; a body that says nothing for `silenceMs` counts as broken.
 */
export function watchBody(
  body: ReadableStream<Uint8Array>,
  watch: { readonly silenceMs: number; readonly onEnd: (end: BodyEnd) => void },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isGivenUp = false;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await readWithin(reader, watch.silenceMs);
        if (isGivenUp) return;
        if (!done) return controller.enqueue(value);
        controller.close();
        watch.onEnd("complete");
      } catch (error) {
        controller.error(error);
        if (!isGivenUp) watch.onEnd("broken");
      }
    },
    async cancel(reason) {
      isGivenUp = true;
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
