/** The payloads of WebSocket frames: a client combines the bytes with four bytes, in turn, and a text must be UTF-8. */
import { isUtf8 } from "node:buffer";
import { endianness } from "node:os";

const BYTES_PER_WORD = 4;
const BITS_PER_WORD = 32;
/** From this length on, words are faster than bytes. */
const MIN_WORDS_LENGTH = 256;
const IS_LITTLE_ENDIAN = endianness() === "LE";
/** What stands for a byte that is not UTF-8, and may also be sent. */
const REPLACEMENT = "\ufffd";

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

export interface MaskedRange {
  readonly start: number;
  readonly end: number;
  /** The four bytes for the first four of the range, the first one lowest. */
  readonly mask: number;
}

/** Removes the mask. */
export function unmask(bytes: Uint8Array, { start, end, mask }: MaskedRange): void {
  if (!IS_LITTLE_ENDIAN || end - start < MIN_WORDS_LENGTH) return unmaskBytes(bytes, { start, end, mask });
  const misaligned = (bytes.byteOffset + start) % BYTES_PER_WORD;
  const first = misaligned === 0 ? start : start + BYTES_PER_WORD - misaligned;
  const words = new Int32Array(
    bytes.buffer,
    bytes.byteOffset + first,
    Math.floor((end - first) / BYTES_PER_WORD),
  );
  const shifted = shiftMask(mask, first - start);
  unmaskBytes(bytes, { start, end: first, mask });
  for (let index = 0; index < words.length; index++) words[index] = (words[index] ?? 0) ^ shifted;
  unmaskBytes(bytes, { start: first + words.byteLength, end, mask: shifted });
}

function unmaskBytes(bytes: Uint8Array, { start, end, mask }: MaskedRange): void {
  for (let index = start; index < end; index++) {
    bytes[index] = (bytes[index] ?? 0) ^ (mask >>> 8 * ((index - start) & 3));
  }
}

/** Returns a text; `undefined` if it is not UTF-8. To decode a text is faster than to check it. */
export function decodeText(encoded: Uint8Array): string | undefined {
  const text = utf8.decode(encoded);
  return text.includes(REPLACEMENT) && !isUtf8(encoded) ? undefined : text;
}

/** The mask for the bytes that follow the next `count`. */
export function shiftMask(mask: number, count: number): number {
  const bits = 8 * (count % BYTES_PER_WORD);
  return bits === 0 ? mask : (mask >>> bits) | (mask << (BITS_PER_WORD - bits));
}
