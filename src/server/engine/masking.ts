/** The masking of WebSocket frames: a client combines the bytes of a payload with four bytes, in turn. */
import { endianness } from "node:os";

const BYTES_PER_WORD = 4;
const BITS_PER_WORD = 32;
/** From this length on, words are faster than bytes. */
const MIN_WORDS_LENGTH = 256;
/** The bits that no ASCII character has. */
const BEYOND_ASCII = 0x80808080 | 0;
const IS_LITTLE_ENDIAN = endianness() === "LE";

/** The range to unmask. */
export interface MaskedRange {
  readonly start: number;
  readonly end: number;
  /** The four bytes for the first four of the range, the first one lowest. */
  readonly mask: number;
}

/** Removes the mask in place, and returns whether all bytes of the range are ASCII. */
export function unmask(bytes: Uint8Array, { start, end, mask }: MaskedRange): boolean {
  if (!IS_LITTLE_ENDIAN || end - start < MIN_WORDS_LENGTH) {
    return (unmaskBytes(bytes, { start, end, mask }) & BEYOND_ASCII) === 0;
  }
  const misaligned = (bytes.byteOffset + start) % BYTES_PER_WORD;
  const first = misaligned === 0 ? start : start + BYTES_PER_WORD - misaligned;
  const count = Math.floor((end - first) / BYTES_PER_WORD);
  const last = first + count * BYTES_PER_WORD;
  const shifted = shiftMask(mask, first - start);
  const seen = unmaskBytes(bytes, { start, end: first, mask }) |
    unmaskWords(new Int32Array(bytes.buffer, bytes.byteOffset + first, count), shifted) |
    unmaskBytes(bytes, { start: last, end, mask: shifted });
  return (seen & BEYOND_ASCII) === 0;
}

/** The mask for the bytes that follow the next `count`. */
export function shiftMask(mask: number, count: number): number {
  const bits = 8 * (count % BYTES_PER_WORD);
  return bits === 0 ? mask : (mask >>> bits) | (mask << (BITS_PER_WORD - bits));
}

/** Returns all bits that are set in any of the words. Eight words a turn are twice as fast as one. */
function unmaskWords(words: Int32Array, mask: number): number {
  let seen = 0;
  let index = 0;
  for (; index + 8 <= words.length; index += 8) {
    seen |= unmaskWord(words, index, mask) | unmaskWord(words, index + 1, mask) |
      unmaskWord(words, index + 2, mask) | unmaskWord(words, index + 3, mask) |
      unmaskWord(words, index + 4, mask) | unmaskWord(words, index + 5, mask) |
      unmaskWord(words, index + 6, mask) | unmaskWord(words, index + 7, mask);
  }
  for (; index < words.length; index++) seen |= unmaskWord(words, index, mask);
  return seen;
}

function unmaskWord(words: Int32Array, index: number, mask: number): number {
  return words[index] = (words[index] ?? 0) ^ mask;
}

/** Returns all bits that are set in any of the bytes. */
function unmaskBytes(bytes: Uint8Array, { start, end, mask }: MaskedRange): number {
  let seen = 0;
  for (let index = start; index < end; index++) {
    const byte = ((bytes[index] ?? 0) ^ (mask >>> 8 * ((index - start) & 3))) & 0xff;
    bytes[index] = byte;
    seen |= byte;
  }
  return seen;
}
