/** Reads the body of an HTTP response in bounded events. */
import type { Limiter } from "../../async/limiter.ts";
import type { Inflow } from "../json_rpc.ts";
import { MAX_UNQUEUED_BYTES } from "../limits.ts";
import type { BodyEvent, BodyEvents } from "./body_events.ts";

export interface BodyReading {
  readonly events: BodyEvents;
  readonly onEvent: (event: BodyEvent) => void;
  /** The pace at which events are passed on. */
  readonly inflow: Inflow;
  /** A body that is silent for this time counts as broken, in milliseconds. */
  readonly silenceMs: number;
  /** Whether a silent body may stay silent for that time once more. */
  readonly mayBeSilent: () => boolean;
  /** The turns of large messages, shared by the bodies of one server: the others wait in their sockets. */
  readonly turns: Limiter;
  /**
   * Cancels the body. The signal of the request is not enough: after a garbage collection, Deno's `fetch` may ignore it,
   * and the socket would stay open.
   */
  readonly signal: AbortSignal;
}

/**
 * Reads a body to its end.
 *
 * @throws {RangeError} when it exceeds a limit; the reason of its signal; or why it broke.
 */
export async function readBody(body: ReadableStream<Uint8Array>, reading: BodyReading): Promise<void> {
  const { events, turns, signal } = reading;
  const reader = body.getReader();
  const onAbort = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", onAbort, { once: true });
  const isLarge = () => events.unfinishedBytes > MAX_UNQUEUED_BYTES;
  const readLarge = async () => {
    while (isLarge()) if (await readPiece(reader, reading)) return true;
    return false;
  };
  try {
    signal.throwIfAborted();
    while (!(isLarge() ? await turns.run(readLarge, signal) : await readPiece(reader, reading)));
  } catch (error) {
    reader.cancel(error).catch(() => {});
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    events.close();
  }
}

/** Reads the next piece, and passes on the events that it completes; resolves to whether the body has ended. */
async function readPiece(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  reading: BodyReading,
): Promise<boolean> {
  const { events, inflow, onEvent, signal } = reading;
  const { done, value } = await readWithin(reader, reading);
  if (!inflow.isReady) await inflow.ready();
  signal.throwIfAborted();
  for (const event of done ? events.end() : events.push(value)) onEvent(event);
  inflow.take(0, events.takeNoise());
  return done;
}

/** Reads the next piece, and cancels the body after a long silence. */
async function readWithin(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { silenceMs, mayBeSilent }: BodyReading,
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
