/** Measures a message before it is sent: Socket.IO closes the connection for a message over the limit. */
import { ErrorCode } from "./error_codes.ts";
import { SmcpError } from "./errors.ts";
import { LongText } from "./long_text.ts";

/** An upper bound for what the event name, packet type, namespace and ack id add to the JSON of a message. */
const ENVELOPE_BYTES = 256;
/** The most bytes that one UTF-16 unit can take in JSON: `\u0000`. */
const MAX_BYTES_PER_UNIT = 6;
/** The most bytes of a number, a boolean or null, with its comma. */
const MAX_SCALAR_BYTES = 26;

/** Objects and lists with at most this many members are measured member by member, this many levels deep: they hold the long texts. */
const MAX_MEASURED_MEMBERS = 16;
const MEASURED_LEVELS = 4;
/** How much of a text is measured at a time, in UTF-16 units. A unit has at most three bytes in UTF-8. */
const PIECE_LENGTH = 16_384;

const encoder = new TextEncoder();
const piece = new Uint8Array(3 * PIECE_LENGTH);

/**
 * Throws a 413 when `message` does not fit into `limitBytes`. For nearly all messages an upper bound is enough, which
 * needs no serialization.
 */
export function assertFits(message: unknown, limitBytes: number): void {
  const freeBytes = limitBytes - ENVELOPE_BYTES;
  if (sumBytes(message, { bytesPerUnit: MAX_BYTES_PER_UNIT, enough: freeBytes }) <= freeBytes) return;
  const size = jsonBytes(message) + ENVELOPE_BYTES;
  if (size <= limitBytes) return;
  throw payloadTooLarge({ size, limit: limitBytes });
}

/** A 413 with the size of the message and the limit of the connection. */
export function payloadTooLarge(
  { size, limit }: { readonly size: number; readonly limit: number },
): SmcpError {
  return new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot send a message of ${size} bytes: the limit of this connection is ${limit}`,
    { details: { size, limit } },
  );
}

/**
 * The size of a value as JSON, in bytes. Long texts are encoded piece by piece into one buffer, so that measuring needs
 * little memory.
 */
function jsonBytes(value: unknown, levels = MEASURED_LEVELS): number {
  if (typeof value === "string") return textBytes(value);
  if (levels === 0 || typeof value !== "object" || value === null) return wholeBytes(value);
  const members = Object.entries(value);
  if (members.length > MAX_MEASURED_MEMBERS) return wholeBytes(value);
  const sizes = members.map(([name, member]) => {
    const nameBytes = Array.isArray(value) ? 0 : textBytes(name) + 1;
    const size = jsonBytes(member, levels - 1);
    return size === 0 ? 0 : nameBytes + size + 1;
  });
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  // Two brackets, and one comma less than members.
  return bytes === 0 ? 2 : bytes + 1;
}

function textBytes(text: string): number {
  let bytes = 2;
  for (const part of piecesOf(text)) bytes += wholeBytes(part) - 2;
  return bytes;
}

/** The size of a value that is serialized as a whole; 0 for a value that JSON omits. */
function wholeBytes(value: unknown): number {
  let bytes = 0;
  for (const part of piecesOf(JSON.stringify(value) ?? "")) bytes += encoder.encodeInto(part, piece).written;
  return bytes;
}

/** Splits a text into pieces, never within a surrogate pair. */
function* piecesOf(text: string): Generator<string> {
  let start = 0;
  while (start < text.length) {
    const end = start + PIECE_LENGTH;
    const next = isHighSurrogate(text.charCodeAt(end - 1)) ? end - 1 : end;
    yield text.slice(start, next);
    start = next;
  }
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** The approximate size of `value` in memory or as JSON, in bytes, computed without serialization. */
export function approximateSizeBytes(value: unknown): number {
  return sumBytes(value, { bytesPerUnit: 1, enough: Infinity });
}

/** Whether the approximate size of `value` is at most `limitBytes`. Stops when it is larger. */
export function fitsApproximately(value: unknown, limitBytes: number): boolean {
  return sumBytes(value, { bytesPerUnit: 1, enough: limitBytes }) <= limitBytes;
}

/** Adds up the lengths of texts and keys; stops when the sum exceeds `enough`. */
function sumBytes(
  value: unknown,
  measure: { readonly bytesPerUnit: number; readonly enough: number },
): number {
  const { bytesPerUnit, enough } = measure;
  const add = (sum: number, member: unknown): number => {
    if (typeof member === "string") return sum + member.length * bytesPerUnit + 3;
    if (typeof member !== "object" || member === null) return sum + MAX_SCALAR_BYTES;
    if (member instanceof LongText) return sum + member.bytes.length * bytesPerUnit + 3;
    sum += 3;
    if (Array.isArray(member)) {
      for (let index = 0; index < member.length && sum <= enough; index++) sum = add(sum + 4, member[index]);
      return sum;
    }
    for (const key of Object.keys(member)) {
      if (sum > enough) break;
      sum = add(sum + key.length * bytesPerUnit + 4, Reflect.get(member, key));
    }
    return sum;
  };
  return add(0, value);
}
