/** The payloads of WebSocket frames: a client combines the bytes with four bytes, in turn, and a text must be UTF-8. */
import { type Buffer, isUtf8 } from "node:buffer";
import { endianness } from "node:os";

const BYTES_PER_WORD = 4;
const BITS_PER_WORD = 32;
/** From this length on, words are faster than bytes. */
const MIN_WORDS_LENGTH = 256;
/** The bits that no ASCII character has. */
const HIGH_BITS = 0x80808080 | 0;
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

/** Removes the mask, and returns whether all bytes are ASCII. */
export function unmask(bytes: Uint8Array, { start, end, mask }: MaskedRange): boolean {
  if (!IS_LITTLE_ENDIAN || end - start < MIN_WORDS_LENGTH) {
    return (unmaskBytes(bytes, { start, end, mask }) & HIGH_BITS) === 0;
  }
  const misaligned = (bytes.byteOffset + start) % BYTES_PER_WORD;
  const first = misaligned === 0 ? start : start + BYTES_PER_WORD - misaligned;
  const count = Math.floor((end - first) / BYTES_PER_WORD);
  const last = first + count * BYTES_PER_WORD;
  const shifted = shiftMask(mask, first - start);
  const seen = unmaskBytes(bytes, { start, end: first, mask }) |
    unmaskWords(new Int32Array(bytes.buffer, bytes.byteOffset + first, count), shifted) |
    unmaskBytes(bytes, { start: last, end, mask: shifted });
  return (seen & HIGH_BITS) === 0;
}

/** Returns a text; `undefined` if it is not UTF-8. */
export function decodeText(bytes: Buffer, { start, end, isAscii }: {
  readonly start: number;
  readonly end: number;
  readonly isAscii: boolean;
}): string | undefined {
  if (isAscii) return bytes.toString("latin1", start, end);
  const encoded = bytes.subarray(start, end);
  // To decode a text is faster than to check it.
  const text = utf8.decode(encoded);
  return text.includes(REPLACEMENT) && !isUtf8(encoded) ? undefined : text;
}

/** The mask for the bytes that follow the next `count`. */
export function shiftMask(mask: number, count: number): number {
  const bits = 8 * (count % BYTES_PER_WORD);
  return bits === 0 ? mask : (mask >>> bits) | (mask << (BITS_PER_WORD - bits));
}

/** Returns all bits that were seen, as does `unmaskBytes`. */
function unmaskWords(words: Int32Array, mask: number): number {
  let seen = 0;
  for (let index = 0; index < words.length; index++) {
    const word = (words[index] ?? 0) ^ mask;
    words[index] = word;
    seen |= word;
  }
  return seen;
}

function unmaskBytes(bytes: Uint8Array, { start, end, mask }: MaskedRange): number {
  let seen = 0;
  for (let index = start; index < end; index++) {
    const byte = ((bytes[index] ?? 0) ^ (mask >>> 8 * ((index - start) & 3))) & 0xff;
    bytes[index] = byte;
    seen |= byte;
  }
  return seen;
}
