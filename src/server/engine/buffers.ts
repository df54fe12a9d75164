/** Buffers that are used again: to allocate one for each large message costs more than to fill it. */
import { Buffer } from "node:buffer";

/** The bytes in front of each buffer, in which the header of a frame is written: a message is sent in one write then. */
const FRONT_BYTES = 48;
/** Larger buffers are used once. */
const MAX_SIZE = 2 * 1024 * 1024;
const MAX_FREE_BYTES = 32 * 1024 * 1024;

/** Buffers that nobody uses, by their size, a power of two. */
const free = new Map<number, ArrayBufferLike[]>();
let freeBytes = 0;
/** Those that are in use. */
const taken = new WeakSet<ArrayBufferLike>();

/** Returns a buffer of `bytes`, with any content. */
export function takeBuffer(bytes: number): Buffer {
  const size = 2 ** Math.ceil(Math.log2(FRONT_BYTES + bytes));
  if (size > MAX_SIZE) return Buffer.allocUnsafeSlow(FRONT_BYTES + bytes).subarray(FRONT_BYTES);
  const used = free.get(size)?.pop();
  if (used !== undefined) freeBytes -= size;
  const whole = used ?? Buffer.allocUnsafeSlow(size).buffer;
  taken.add(whole);
  return Buffer.from(whole, FRONT_BYTES, bytes);
}

/** Gives a buffer back when nothing reads it any more. One that is never given back is collected. */
export function giveBuffer({ buffer: whole }: Uint8Array): void {
  const size = whole.byteLength;
  if (!taken.delete(whole) || freeBytes + size > MAX_FREE_BYTES) return;
  freeBytes += size;
  const others = free.get(size) ?? [];
  others.push(whole);
  free.set(size, others);
}

/** Returns a buffer of `bytes` that begins as the old one, which is not used any more. */
export function growBuffer(old: Buffer, bytes: number): Buffer {
  const hasRoom = taken.has(old.buffer) && FRONT_BYTES + bytes <= old.buffer.byteLength;
  if (hasRoom) return Buffer.from(old.buffer, FRONT_BYTES, bytes);
  const buffer = takeBuffer(bytes);
  buffer.set(old);
  giveBuffer(old);
  return buffer;
}
