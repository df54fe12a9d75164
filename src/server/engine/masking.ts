/** The masking of WebSocket frames: a client combines the bytes of a payload with four bytes, in turn. */
import { endianness } from "node:os";

const BYTES_PER_WORD = 4;
const BITS_PER_WORD = 32;
/** From this length on, words are faster than bytes. */
const MIN_WORDS_LENGTH = 256;
/** The bits that no ASCII character has. */
const HIGH_BITS = 0x80808080 | 0;
/** The first character that is not a control character, in each byte. */
const SPACES = 0x20202020;
const IS_LITTLE_ENDIAN = endianness() === "LE";

export interface MaskedRange {
  readonly start: number;
  readonly end: number;
  /** The four bytes for the first four of the range, the first one lowest. */
  readonly mask: number;
}

export interface Content {
  readonly isAscii: boolean;
  /** Whether they are ASCII without control characters. */
  readonly isPlain: boolean;
}

const BEYOND_ASCII: Content = { isAscii: false, isPlain: false };
const ASCII: Content = { isAscii: true, isPlain: false };
const PLAIN: Content = { isAscii: true, isPlain: true };

function contentOf({ high, low }: Bits): Content {
  if ((high & HIGH_BITS) !== 0) return BEYOND_ASCII;
  return (low & HIGH_BITS) === 0 ? PLAIN : ASCII;
}

/**
 * A high bit of `high` is set if a byte was not ASCII. A high bit of `low` is set if a byte was a control character, and for
 * some bytes that are not ASCII.
 */
interface Bits {
  high: number;
  low: number;
}

export function unmask(bytes: Uint8Array, { start, end, mask }: MaskedRange): Content {
  const seen: Bits = { high: 0, low: 0 };
  if (!IS_LITTLE_ENDIAN || end - start < MIN_WORDS_LENGTH) {
    unmaskBytes(bytes, { start, end, mask }, seen);
    return contentOf(seen);
  }
  const misaligned = (bytes.byteOffset + start) % BYTES_PER_WORD;
  const first = misaligned === 0 ? start : start + BYTES_PER_WORD - misaligned;
  const count = Math.floor((end - first) / BYTES_PER_WORD);
  const last = first + count * BYTES_PER_WORD;
  const shifted = shiftMask(mask, first - start);
  unmaskBytes(bytes, { start, end: first, mask }, seen);
  unmaskWords(new Int32Array(bytes.buffer, bytes.byteOffset + first, count), shifted, seen);
  unmaskBytes(bytes, { start: last, end, mask: shifted }, seen);
  return contentOf(seen);
}

/** The mask for the bytes that follow the next `count`. */
export function shiftMask(mask: number, count: number): number {
  const bits = 8 * (count % BYTES_PER_WORD);
  return bits === 0 ? mask : (mask >>> bits) | (mask << (BITS_PER_WORD - bits));
}

/** Eight words a turn are twice as fast as one. */
function unmaskWords(words: Int32Array, mask: number, seen: Bits): void {
  let { high, low } = seen;
  let index = 0;
  for (; index + 8 <= words.length; index += 8) {
    const a = (words[index] ?? 0) ^ mask;
    const b = (words[index + 1] ?? 0) ^ mask;
    const c = (words[index + 2] ?? 0) ^ mask;
    const d = (words[index + 3] ?? 0) ^ mask;
    const e = (words[index + 4] ?? 0) ^ mask;
    const f = (words[index + 5] ?? 0) ^ mask;
    const g = (words[index + 6] ?? 0) ^ mask;
    const h = (words[index + 7] ?? 0) ^ mask;
    words[index] = a;
    words[index + 1] = b;
    words[index + 2] = c;
    words[index + 3] = d;
    words[index + 4] = e;
    words[index + 5] = f;
    words[index + 6] = g;
    words[index + 7] = h;
    high |= a | b | c | d | e | f | g | h;
    low |= (a - SPACES) | (b - SPACES) | (c - SPACES) | (d - SPACES) | (e - SPACES) | (f - SPACES) |
      (g - SPACES) |
      (h - SPACES);
  }
  for (; index < words.length; index++) {
    const word = (words[index] ?? 0) ^ mask;
    words[index] = word;
    high |= word;
    low |= word - SPACES;
  }
  seen.high = high;
  seen.low = low;
}

function unmaskBytes(bytes: Uint8Array, { start, end, mask }: MaskedRange, seen: Bits): void {
  for (let index = start; index < end; index++) {
    const byte = ((bytes[index] ?? 0) ^ (mask >>> 8 * ((index - start) & 3))) & 0xff;
    bytes[index] = byte;
    seen.high |= byte;
    seen.low |= (byte | 0x20202000) - SPACES;
  }
}
