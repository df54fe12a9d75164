/** Notices the end of an answer, and ends one that its client does not read. */

/** The most bytes of an answer that wait for its client: changes go on while a client reads nothing. */
export const MAX_UNREAD_BYTES = 32 * 1024 * 1024;

/**
 * The same answer; `done` is called once, when its body has been sent, its reader is gone, or more than
 * {@linkcode MAX_UNREAD_BYTES} wait to be read.
 */
export function whenDone(response: Response, done: () => void): Response {
  if (response.body === null) {
    done();
    return response;
  }
  const reader = response.body.getReader();
  let isDone = false;
  const end = () => {
    if (!isDone) done();
    isDone = true;
  };
  const passOn = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
      if ((controller.desiredSize ?? 0) <= 0) {
        const message =
          `Cannot go on with the answer: more than ${MAX_UNREAD_BYTES} bytes of it wait to be read`;
        throw new DOMException(message, "AbortError");
      }
      controller.enqueue(piece.value);
    }
    controller.close();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      passOn(controller).catch((error) => {
        controller.error(error);
        // The sender stops; an error of its own is this one.
        reader.cancel(error).catch(() => undefined);
      }).finally(end);
    },
    async cancel(reason) {
      end();
      await reader.cancel(reason);
    },
  }, new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }));
  return new Response(body, response);
}
