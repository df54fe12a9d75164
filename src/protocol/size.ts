/** Measuring a message before it is sent: one over the limit drops the whole connection in Socket.IO. */
import { ErrorCode } from "./error_codes.ts";
import { SmcpError } from "./errors.ts";

/** What an event's name, packet type, namespace and ack id add to its JSON, with room to spare. */
const ENVELOPE_BYTES = 256;
/** The most bytes that one UTF-16 unit can take in JSON: `\u0000`. */
const MAX_BYTES_PER_UNIT = 6;
/** The most bytes of a number, a boolean or null, with its comma. */
const MAX_SCALAR_BYTES = 26;

const encoder = new TextEncoder();

/**
 * Throws a 413 when `message` would not fit into `limitBytes`. Small messages, nearly all, are settled by an upper
 * bound that serialises nothing.
 */
export function assertFits(message: unknown, limitBytes: number): void {
  const roomBytes = limitBytes - ENVELOPE_BYTES;
  if (sumBytes(message, { bytesPerUnit: MAX_BYTES_PER_UNIT, enough: roomBytes }) <= roomBytes) return;
  const size = jsonBytes(message) + ENVELOPE_BYTES;
  if (size <= limitBytes) return;
  throw new SmcpError(
    ErrorCode.PAYLOAD_TOO_LARGE,
    `Cannot send a message of ${size} bytes: the limit of this connection is ${limitBytes}`,
    { details: { size, limit: limitBytes } },
  );
}

function jsonBytes(message: unknown): number {
  return encoder.encode(JSON.stringify(message) ?? "").byteLength;
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
