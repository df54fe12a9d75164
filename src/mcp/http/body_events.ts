/** Splits an HTTP body into events: those of an event stream, or the one JSON text that it is. */
import { onAbort } from "../../async/abortable.ts";
import { MAX_TIMER_MS } from "../../async/backoff.ts";
import { parseJson } from "../../json/json.ts";
import { type Inflow, readMessages, readUnparsable, type RpcMessage } from "../json_rpc.ts";
import {
  MAX_EVENT_LINES,
  MAX_UNQUEUED_BYTES,
  type MessageLimits,
  NOISE_LINES_PER_UNIT,
  UNASKED_UNIT_BYTES,
} from "../limits.ts";
import { MessageBytes, type Oversized } from "../message_bytes.ts";
import type { Limiter } from "../../async/limiter.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const NEWLINE = Uint8Array.of(LINE_FEED);
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** The signs that JSON messages begin with; no event does. */
const JSON_BEGIN: readonly (number | undefined)[] = [0x7b, 0x5b];
/** An id that can be sent back in a header. */
const ID = /^[\x20-\x7e]{1,1024}$/;

/** An event of a stream; a body of JSON is one event. */
export interface BodyEvent {
  /** What it is, where it says so. */
  readonly name?: string | undefined;
  readonly data: string;
  /** What to name when the stream is opened again. */
  readonly id?: string | undefined;
  /** How long to wait before the stream is opened again, in milliseconds. */
  readonly retryMs?: number | undefined;
}

/** Returns the messages in an event, which may have any name. */
export function messagesIn({ data }: BodyEvent): readonly RpcMessage[] {
  const value = parseJson(data);
  return value === undefined ? readUnparsable(data) : readMessages(value);
}

export interface BodyForm {
  /** Whether the body claims to be an event stream. Its beginning says what it is: some servers name the wrong type. */
  readonly isEventStream: boolean;
  /** Receives what is left of an event above a limit. */
  readonly onOversized?: (event: Oversized) => void;
}

/**
 * Collects the pieces of a body; throws a `RangeError` for a JSON text above a limit, or an event without end. Comments
 * are dropped, since they may arrive for hours without an event. Lines end with CR, LF or both.
 */
export class BodyEvents {
  readonly #limits: MessageLimits;
  readonly #form: BodyForm;
  readonly #decoder = new TextDecoder();
  /** The bytes of the current event; `undefined` before the first piece. */
  #event: MessageBytes | undefined;
  #isJson = false;
  #lines = 0;
  #lineBytes = 0;
  #isAfterReturn = false;
  #isAtLineStart = true;
  /** Whether the current line is a comment. */
  #isComment = false;
  #noise = 0;

  constructor(limits: MessageLimits, form: BodyForm) {
    this.#limits = limits;
    this.#form = form;
  }

  /** Whether the whole body is one JSON text. */
  get isJson(): boolean {
    return this.#isJson;
  }

  /** The bytes of the incomplete event. */
  get unfinishedBytes(): number {
    return this.#event?.length ?? 0;
  }

  /** Returns the events that `piece` completes. */
  push(piece: Uint8Array): BodyEvent[] {
    if (this.#event === undefined && BYTE_ORDER_MARK.every((byte, index) => piece[index] === byte)) {
      piece = piece.subarray(BYTE_ORDER_MARK.length);
    }
    const event = this.#event ??= this.#begin(piece.find((byte) => byte > 0x20));
    if (!this.#isJson) return this.#readLines(event, piece);
    event.push(piece);
    return [];
  }

  /** Returns the last event at the end of the body. Some servers leave out the empty line after it. */
  end(): BodyEvent[] {
    const event = this.#event ??= this.#begin(undefined);
    const isThere = this.#isJson || event.length > 0;
    return isThere && event.settle() ? [this.#take(event)] : [];
  }

  /** Returns what the comments and empty lines since the last call weigh, as unrequested messages. */
  takeNoise(): number {
    const noise = this.#noise;
    this.#noise = 0;
    return noise;
  }

  close(): void {
    this.#event?.close();
  }

  /** A body of white space alone, so far, is what it claims to be. */
  #begin(first: number | undefined): MessageBytes {
    const { isEventStream, onOversized } = this.#form;
    this.#isJson = first === undefined
      ? !isEventStream
      : JSON_BEGIN.includes(first) || !isEventStream && !/[a-z:]/.test(String.fromCharCode(first));
    return new MessageBytes(this.#limits, this.#isJson ? undefined : onOversized);
  }

  #readLines(event: MessageBytes, piece: Uint8Array): BodyEvent[] {
    const events: BodyEvent[] = [];
    let start = 0;
    for (let index = 0; index < piece.length; index++) {
      const byte = piece[index];
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) {
        this.#isAfterReturn = false;
        continue;
      }
      const isSecondOfPair = byte === LINE_FEED && this.#isAfterReturn;
      this.#isAfterReturn = byte === CARRIAGE_RETURN;
      if (!isSecondOfPair) {
        this.#append(event, piece.subarray(start, index));
        if (this.#endLine(event)) this.#endEvent(event, events);
      }
      start = index + 1;
    }
    this.#append(event, piece.subarray(start));
    return events;
  }

  #append(event: MessageBytes, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#isAtLineStart) this.#isComment = bytes[0] === COLON;
    this.#isAtLineStart = false;
    if (this.#isComment) {
      this.#noise += bytes.length / UNASKED_UNIT_BYTES;
      return;
    }
    this.#lineBytes += bytes.length;
    event.push(bytes);
  }

  /** Returns whether the line was empty, which ends the event. */
  #endLine(event: MessageBytes): boolean {
    const [isComment, isEmpty] = [this.#isComment, this.#lineBytes === 0];
    this.#isComment = false;
    this.#isAtLineStart = true;
    this.#lineBytes = 0;
    if (isComment) {
      this.#noise += 1 / NOISE_LINES_PER_UNIT;
      return false;
    }
    event.push(NEWLINE);
    this.#lines = isEmpty ? 0 : this.#lines + 1;
    // Once: an event without end may have hundreds of thousands of lines.
    if (this.#lines === MAX_EVENT_LINES + 1) {
      event.fail(new RangeError(`Cannot read an event with more than ${MAX_EVENT_LINES} lines`));
    }
    return isEmpty;
  }

  /** Ends an event; an empty line without an event counts as noise. */
  #endEvent(event: MessageBytes, events: BodyEvent[]): void {
    if (!event.settle()) return;
    if (event.length > NEWLINE.length) return void events.push(this.#take(event));
    event.clear();
    this.#noise += 1 / NOISE_LINES_PER_UNIT;
  }

  #take(event: MessageBytes): BodyEvent {
    const text = this.#decoder.decode(event.take());
    return this.#isJson ? { data: text } : readFields(text);
  }
}

function readFields(text: string): BodyEvent {
  const data: string[] = [];
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const nameEnd = line.indexOf(":");
    const name = nameEnd < 0 ? line : line.slice(0, nameEnd);
    const value = nameEnd < 0 ? "" : line.slice(nameEnd + (line[nameEnd + 1] === " " ? 2 : 1));
    if (name === "data") data.push(value);
    else fields.set(name, value);
  }
  const [id, retry] = [fields.get("id"), fields.get("retry")];
  return {
    name: fields.get("event"),
    data: data.join("\n"),
    id: id !== undefined && ID.test(id) ? id : undefined,
    retryMs: retry !== undefined && /^\d+$/.test(retry) && Number(retry) <= MAX_TIMER_MS
      ? Number(retry)
      : undefined,
  };
}

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
  using _ = onAbort(signal, () => void reader.cancel(signal.reason).catch(() => {}));
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
