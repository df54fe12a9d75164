/** Measures values without writing them as JSON: their depth, and about how many bytes they take. */
import { LongText } from "./long_text.ts";

/** The most levels in a member of a request's body, and in an entry of a list of an MCP server. JSON readers of some languages accept at most 1,000. */
export const MAX_REQUEST_DEPTH = 200;

/** The most levels of a whole message of an MCP server. Much deeper values exhaust the stack of recursive functions. */
export const MAX_MESSAGE_DEPTH = 1_000;

/**
 * The most levels of an event or an ack that a Server passes on, its list of arguments included. The Socket.IO client of
 * Python loses packets of about 500 levels when it writes them, and of 1,000 when it reads them.
 */
export const MAX_RELAYED_DEPTH = 256;

/** The most bytes that one UTF-16 unit can take in JSON: `\u0000`. */
const MAX_BYTES_PER_UNIT = 6;
/** The most bytes of a number, a boolean or null, with its comma. */
const MAX_SCALAR_BYTES = 26;

/**
 * Whether a value has more than `levels` levels of lists and objects. Bytes are one level: an object takes their place in the
 * JSON. Looks no deeper, and not into bytes.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const key in value) {
    if (isDeeperThan(Reflect.get(value, key), levels - 1)) return true;
  }
  return false;
}

/** The approximate size of `value` in memory or as JSON, in bytes, computed without serialization. */
export function approximateSizeBytes(value: unknown): number {
  return sumBytes(value, { bytesPerUnit: 1, enough: Infinity });
}

/** Whether the approximate size of `value` is at most `limitBytes`. Stops when it is larger. */
export function fitsApproximately(value: unknown, limitBytes: number): boolean {
  return sumBytes(value, { bytesPerUnit: 1, enough: limitBytes }) <= limitBytes;
}

/** Whether the JSON of `value` surely has at most `limitBytes`, whatever its texts are. Stops when it may have more. */
export function surelyFits(value: unknown, limitBytes: number): boolean {
  return sumBytes(value, { bytesPerUnit: MAX_BYTES_PER_UNIT, enough: limitBytes }) <= limitBytes;
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
