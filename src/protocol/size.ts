/** Measuring a message before it is sent: one over the limit drops the whole connection in Socket.IO. */
import { ErrorCode } from "./error_codes.ts";
import { SmcpError } from "./errors.ts";
import { LongText } from "./long_text.ts";

/** What an event's name, packet type, namespace and ack id add to its JSON, with room to spare. */
const ENVELOPE_BYTES = 256;
/** The most bytes that one UTF-16 unit can take in JSON: `\u0000`. */
const MAX_BYTES_PER_UNIT = 6;
/** The most bytes of a number, a boolean or null, with its comma. */
const MAX_SCALAR_BYTES = 26;

/** An object or a list of so few members is measured member by member, down to so many levels: there stand long texts. */
const MAX_MEASURED_MEMBERS = 16;
const MEASURED_LEVELS = 4;
/** How much of a text is measured at a time, in UTF-16 units; each has at most three bytes of UTF-8. */
const PIECE_LENGTH = 16_384;

const encoder = new TextEncoder();
const piece = new Uint8Array(3 * PIECE_LENGTH);

/**
 * Throws a 413 when `message` would not fit into `limitBytes`. Small messages, nearly all, are settled by an upper
 * bound that serialises nothing.
 */
export function assertFits(message: unknown, limitBytes: number): void {
  const roomBytes = limitBytes - ENVELOPE_BYTES;
  if (sumBytes(message, { bytesPerUnit: MAX_BYTES_PER_UNIT, enough: roomBytes }) <= roomBytes) return;
  const size = jsonBytes(message) + ENVELOPE_BYTES;
  if (size <= limitBytes) return;
  throw payloadTooLarge({ size, limit: limitBytes });
}

/** A 413 that tells how large the message is, and what the connection takes. */
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
 * The bytes of a value as JSON. Long texts are written in pieces that are thrown away at once: the message itself is
 * written when it is sent.
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
  // Two brackets, and one comma less than there are members.
  return bytes === 0 ? 2 : bytes + 1;
}

function textBytes(text: string): number {
  let bytes = 2;
  for (const part of piecesOf(text)) bytes += wholeBytes(part) - 2;
  return bytes;
}

/** Nothing for what JSON leaves out. */
function wholeBytes(value: unknown): number {
  let bytes = 0;
  for (const part of piecesOf(JSON.stringify(value) ?? "")) bytes += encoder.encodeInto(part, piece).written;
  return bytes;
}

/** A text in pieces, none of which ends within a character. */
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

/** About how many bytes `value` takes in memory or as JSON, without serialising it. */
export function approximateSizeBytes(value: unknown): number {
  return sumBytes(value, { bytesPerUnit: 1, enough: Infinity });
}

/** Whether `value` takes at most about so many bytes; a value that takes far more costs no more to measure. */
export function fitsApproximately(value: unknown, limitBytes: number): boolean {
  return sumBytes(value, { bytesPerUnit: 1, enough: limitBytes }) <= limitBytes;
}

/** Adds up texts and keys by their length; stops once the sum is over `enough`. */
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
