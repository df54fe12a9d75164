/**
 * Parses a large JSON message without making one string of it: its long texts are found, checked and unescaped in place,
 * and only the rest is parsed.
 */
import { runInTurns } from "../async/turns.ts";
import { isRecord, LongText, parseJson, visitTextPlaces } from "./json.ts";

/** A shorter message is parsed as one string, in bytes. */
export const LARGE_MESSAGE_BYTES = 1_048_576;
/** A shorter text is parsed with the rest, in bytes. */
const LONG_TEXT_BYTES = 65_536;
/** The most bytes of the rest, without the long texts. */
const MAX_REST_BYTES = 1_048_576;
/** The bytes and the texts that are scanned before other work gets its turn. */
const PIECE_BYTES = 262_144;
const PIECE_TEXTS = 10_000;

const SPACE = 0x20;
const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** The character of each one-letter escape; 0 for others. */
const ESCAPED = new Uint8Array(256);
for (const [index, letter] of [...'"\\/bfnrt'].entries()) {
  ESCAPED[letter.charCodeAt(0)] = '"\\/\b\f\n\r\t'.charCodeAt(index);
}
const HEX_DIGITS = new Int8Array(256).fill(-1);
for (const digit of "0123456789abcdefABCDEF") HEX_DIGITS[digit.charCodeAt(0)] = Number.parseInt(digit, 16);

const encoder = new TextEncoder();

/** The place of a text in the bytes of a message, without its quotes. */
interface Span {
  readonly start: number;
  end: number;
}

/**
 * Parses the message. Its result may have a {@linkcode LongText} as the text or the base64 of an item of content.
 *
 * @return `undefined` when the message must be parsed as one string: it has no long text, too large a rest, or an error.
 * Otherwise `bytes` must not be used any more.
 */
export function readLargeMessage(
  bytes: Uint8Array<ArrayBuffer>,
): Promise<Record<string, unknown> | undefined> {
  return runInTurns(reading(bytes));
}

function* reading(bytes: Uint8Array<ArrayBuffer>): Generator<void, Record<string, unknown> | undefined> {
  const spans = yield* findLongTexts(bytes);
  if (spans === undefined || spans.length === 0) return undefined;
  // Random, so that the server cannot write it.
  const mark = `${crypto.randomUUID()}:`;
  const rest = restOf(bytes, spans, mark);
  const message = rest === undefined ? undefined : parseJson(rest);
  if (!isRecord(message)) return undefined;
  for (const span of spans) yield* unescape(bytes, span);
  restore(message, { bytes, spans, mark });
  return message;
}

/** Finds the long texts; `undefined` when the rest is too large, or the message is not JSON in UTF-8. */
function* findLongTexts(bytes: Uint8Array): Generator<void, Span[] | undefined> {
  const spans: Span[] = [];
  let restBytes = 0;
  let texts = 0;
  for (let position = 0; position < bytes.length;) {
    if (++texts % PIECE_TEXTS === 0) yield;
    const opening = bytes.indexOf(QUOTE, position);
    if (opening === -1) return restBytes + bytes.length - position > MAX_REST_BYTES ? undefined : spans;
    const span: Span = { start: opening + 1, end: opening + 1 };
    for (let state = scan(bytes, span); state !== "whole"; state = scan(bytes, span)) {
      if (state === "flawed") return undefined;
      yield;
    }
    const isLong = span.end - span.start >= LONG_TEXT_BYTES && !isName(bytes, span);
    if (isLong) spans.push(span);
    restBytes += isLong ? opening - position : span.end + 1 - position;
    if (restBytes > MAX_REST_BYTES) return undefined;
    position = span.end + 1;
  }
  return spans;
}

/** Searches one piece for the end of a text. */
function scan(bytes: Uint8Array, span: Span): "whole" | "unfinished" | "flawed" {
  const stop = Math.min(bytes.length, span.end + PIECE_BYTES);
  let index = span.end;
  let isWhole = false;
  while (index < stop) {
    const byte = bytes[index] ?? 0;
    if (byte === QUOTE) {
      isWhole = true;
      break;
    }
    if (byte < SPACE) return "flawed";
    const length = byte === BACKSLASH
      ? escapeLength(bytes, index)
      : byte < 0x80
      ? 1
      : characterLength(bytes, index);
    if (length === 0) return "flawed";
    index += length;
  }
  span.end = index;
  if (isWhole) return "whole";
  return index < bytes.length ? "unfinished" : "flawed";
}

/** Returns the length of an escape; 0 for an invalid one, and for half a surrogate pair, which has no UTF-8. */
function escapeLength(bytes: Uint8Array, index: number): number {
  const letter = bytes[index + 1] ?? 0;
  if (letter !== LETTER_U) return ESCAPED[letter] === 0 ? 0 : 2;
  const unit = unitAt(bytes, index);
  if (unit < 0xd800 || unit > 0xdfff) return unit === -1 ? 0 : 6;
  const next = unit < 0xdc00 && bytes[index + 6] === BACKSLASH && bytes[index + 7] === LETTER_U
    ? unitAt(bytes, index + 6)
    : -1;
  return next >= 0xdc00 && next <= 0xdfff ? 12 : 0;
}

/** Returns the length of a UTF-8 character that is not ASCII; 0 for invalid bytes. */
function characterLength(bytes: Uint8Array, index: number): number {
  const lead = bytes[index] ?? 0;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  const second = bytes[index + 1] ?? 0;
  // No longer form than needed, no half of a surrogate pair, nothing above U+10FFFF
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  if (length === 0 || second < least || second > most) return 0;
  for (let place = index + 2; place < index + length; place++) {
    if (((bytes[place] ?? 0) & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/** Returns the UTF-16 unit of `\uXXXX`, or -1. */
function unitAt(bytes: Uint8Array, index: number): number {
  let unit = 0;
  for (let place = index + 2; place < index + 6; place++) {
    const digit = HEX_DIGITS[bytes[place] ?? 0] ?? -1;
    if (digit === -1) return -1;
    unit = unit << 4 | digit;
  }
  return unit;
}

/** Returns whether the text is the name of a member, which stays in the rest. */
function isName(bytes: Uint8Array, { end }: Span): boolean {
  let index = end + 1;
  while (index < bytes.length && (bytes[index] ?? 0) <= SPACE) index++;
  return bytes[index] === COLON;
}

/** Returns the message with marks in place of its long texts; `undefined` when it is not UTF-8. */
function restOf(bytes: Uint8Array, spans: readonly Span[], mark: string): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let position = 0;
  try {
    for (const [index, { start, end }] of spans.entries()) {
      rest += `${decoder.decode(bytes.subarray(position, start))}${mark}${index}`;
      position = end;
    }
    return rest + decoder.decode(bytes.subarray(position));
  } catch {
    return undefined;
  }
}

interface Progress {
  from: number;
  to: number;
}

/** Unescapes a valid text in place. */
function* unescape(bytes: Uint8Array, span: Span): Generator<void, void> {
  const progress: Progress = { from: span.start, to: span.start };
  while (progress.from < span.end) {
    unescapePiece(bytes, progress, Math.min(span.end, progress.from + PIECE_BYTES));
    yield;
  }
  span.end = progress.to;
}

function unescapePiece(bytes: Uint8Array, progress: Progress, stop: number): void {
  let { from, to } = progress;
  while (from < stop) {
    const byte = bytes[from] ?? 0;
    if (byte !== BACKSLASH) {
      bytes[to++] = byte;
      from++;
      continue;
    }
    const length = escapeLength(bytes, from);
    if (length === 2) bytes[to++] = ESCAPED[bytes[from + 1] ?? 0] ?? 0;
    else to += encoder.encodeInto(characterAt(bytes, from, length), bytes.subarray(to)).written;
    from += length;
  }
  progress.from = from;
  progress.to = to;
}

function characterAt(bytes: Uint8Array, index: number, length: number): string {
  const units = length === 12 ? [unitAt(bytes, index), unitAt(bytes, index + 6)] : [unitAt(bytes, index)];
  return String.fromCharCode(...units);
}

/** A member of the message that gets a long text. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly member: string;
  readonly span: Span;
}

/** Replaces the marks by the long texts. */
function restore(
  message: Record<string, unknown>,
  { bytes, spans, mark }: {
    readonly bytes: Uint8Array<ArrayBuffer>;
    readonly spans: readonly Span[];
    readonly mark: string;
  },
): void {
  const spanOf = (value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? spans[Number(value.slice(mark.length))] : undefined;
  const places: Place[] = [];
  const { result } = message;
  if (isRecord(result)) {
    visitTextPlaces(result, (holder, member) => {
      const span = spanOf(holder[member]);
      if (span === undefined) return;
      holder[member] = undefined;
      places.push({ holder, member, span });
    });
  }
  const toStrings = (value: unknown): unknown => {
    const span = spanOf(value);
    if (span !== undefined) return new LongText(bytes.subarray(span.start, span.end)).toString();
    if (typeof value !== "object" || value === null) return value;
    for (const [name, member] of Object.entries(value)) {
      const own = toStrings(member);
      if (own !== member) Reflect.set(value, name, own);
    }
    return value;
  };
  toStrings(message);
  own(bytes, places);
}

/** Gives each text its own bytes; a text that is most of the message gets the memory of the message. */
function own(bytes: Uint8Array<ArrayBuffer>, places: readonly Place[]): void {
  const lengthOf = ({ span }: Place) => span.end - span.start;
  const largest = places.find((place) => lengthOf(place) > bytes.length / 2);
  for (const place of places) {
    const { holder, member, span } = place;
    if (place !== largest) holder[member] = new LongText(bytes.slice(span.start, span.end));
  }
  if (largest === undefined) return void bytes.buffer.transfer(0);
  const { holder, member, span } = largest;
  bytes.copyWithin(0, span.start, span.end);
  holder[member] = new LongText(shortened(bytes.buffer, lengthOf(largest)));
}

/** Shortens a buffer, and frees the memory of the rest. */
function shortened(buffer: ArrayBuffer, length: number): Uint8Array<ArrayBuffer> {
  if (!buffer.resizable) return new Uint8Array(buffer.transfer(length));
  buffer.resize(length);
  return new Uint8Array(buffer, 0, length);
}
