/** Splits an HTTP body into frames: whole events of an event stream, or one JSON message. */
import { MAX_EVENT_LINES, type MessageLimits, NOISE_LINES_PER_UNIT, UNASKED_UNIT_BYTES } from "../limits.ts";
import { MessageBytes, type Oversized } from "../message_bytes.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const COLON = 0x3a;
const NEWLINE = Uint8Array.of(LINE_FEED);
const ID_FIELD = new TextEncoder().encode("id");
const RETRY_FIELD = new TextEncoder().encode("retry");
/** A longer line asks to wait for more than 11 days. Timers count to 24 days, and fire at once for more. */
const MAX_RETRY_LINE_BYTES = "retry: 999999999".length;

/** Collects the chunks of a body; throws a `RangeError` for a body that is one frame above a limit, or an event without end. */
export interface BodyFrames {
  /** Returns the frames that `piece` completes. */
  push(piece: Uint8Array): Uint8Array[];
  /** The bytes of the incomplete frame. */
  readonly unfinishedBytes: number;
  /** Returns the last frame at the end of the body. */
  end(): Uint8Array[];
  /** Returns what the comments and empty lines since the last call weigh, as unrequested messages. */
  takeNoise(): number;
  close(): void;
}

/**
 * A body of Server-Sent Events, or of one JSON message. Comments are dropped, since they may arrive for hours without an event, and so are waits
 * that no timer can count. Lines end with CR, LF or both.
 */
export class EventFrames implements BodyFrames {
  /** Whether the whole body is one frame of JSON. */
  readonly isJson: boolean;
  readonly #event: MessageBytes;
  #lineStart = 0;
  #lines = 0;
  #isAfterReturn = false;
  #isAtLineStart = true;
  /** Whether the current line is a comment. */
  #isComment = false;
  #hasIds = false;
  #noise = 0;

  /** @param options `onOversized` receives what is left of an event above a limit. */
  constructor(
    limits: MessageLimits,
    { isJson = false, onOversized }: {
      readonly isJson?: boolean;
      readonly onOversized?: (event: Oversized) => void;
    } = {},
  ) {
    this.isJson = isJson;
    this.#event = new MessageBytes(limits, isJson ? undefined : onOversized);
  }

  /** Whether an event had an id, so that the stream can be resumed after it. */
  get hasIds(): boolean {
    return this.#hasIds;
  }

  push(piece: Uint8Array): Uint8Array[] {
    const events: Uint8Array[] = [];
    if (this.isJson) {
      this.#event.push(piece);
      return events;
    }
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
        this.#append(piece.subarray(start, index));
        if (this.#endLine()) this.#endEvent(events);
      }
      start = index + 1;
    }
    this.#append(piece.subarray(start));
    return events;
  }

  get unfinishedBytes(): number {
    return this.#event.length;
  }

  /** Some servers leave out the empty line after the last event. */
  end(): Uint8Array[] {
    const isThere = this.isJson || this.#event.length > 0;
    return isThere && this.#event.settle() ? [this.#event.take()] : [];
  }

  takeNoise(): number {
    const noise = this.#noise;
    this.#noise = 0;
    return noise;
  }

  close(): void {
    this.#event.close();
  }

  /** Ends an event; an empty line without an event counts as noise. */
  #endEvent(events: Uint8Array[]): void {
    if (!this.#event.settle()) return;
    if (this.#event.length > NEWLINE.length) return void events.push(this.#event.take());
    this.#event.clear();
    this.#noise += 1 / NOISE_LINES_PER_UNIT;
  }

  #append(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.#isAtLineStart) this.#isComment = bytes[0] === COLON;
    this.#isAtLineStart = false;
    if (this.#isComment) this.#noise += bytes.length / UNASKED_UNIT_BYTES;
    else this.#event.push(bytes);
  }

  /** Returns whether the line was empty, which ends the event. */
  #endLine(): boolean {
    const isComment = this.#isComment;
    this.#isComment = false;
    this.#isAtLineStart = true;
    if (isComment) {
      this.#noise += 1 / NOISE_LINES_PER_UNIT;
      return false;
    }
    const lineBytes = this.#event.length - this.#lineStart;
    const isEmpty = lineBytes === 0;
    const isLongWait = lineBytes > MAX_RETRY_LINE_BYTES &&
      this.#event.startsWith(RETRY_FIELD, this.#lineStart);
    if (!isEmpty && this.#event.startsWith(ID_FIELD, this.#lineStart)) this.#hasIds = true;
    this.#event.push(NEWLINE);
    if (isLongWait) this.#event.truncate(this.#lineStart);
    this.#lineStart = isEmpty ? 0 : this.#event.length;
    this.#lines = isEmpty ? 0 : this.#lines + 1;
    // Once: an event without end may have hundreds of thousands of lines.
    if (this.#lines === MAX_EVENT_LINES + 1) {
      this.#event.fail(new RangeError(`Cannot read an event with more than ${MAX_EVENT_LINES} lines`));
    }
    return isEmpty;
  }
}
