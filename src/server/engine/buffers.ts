/** Buffers that are used again: to allocate one for each large message costs more than to fill it. */
import { Buffer } from "node:buffer";

/** The size of a buffer that is used again. */
const POOLED_BYTES = 1024 * 1024;
/** The most such buffers of a process. All others are as large as needed, and used once. */
const MAX_POOLED = 32;

/** The bytes in front of each buffer, in which the header of a message is written: a message is sent in one write then. */
const FRONT_BYTES = 48;

const free: Buffer[] = [];
const withFront = new WeakSet<Buffer>();
const pooled = new WeakSet<Buffer>();
/** Buffers that exist. One that is dropped with its message counts until it is collected. */
let made = 0;
const dropped = new FinalizationRegistry<undefined>(() => void made--);

/** Returns a buffer of at least `bytes`, with any content. */
export function takeBuffer(bytes: number): Buffer {
  if (bytes > POOLED_BYTES) return allocate(bytes);
  const used = free.pop();
  if (used !== undefined) return used;
  if (made === MAX_POOLED) return allocate(bytes);
  made++;
  const buffer = allocate(POOLED_BYTES);
  pooled.add(buffer);
  dropped.register(buffer, undefined);
  return buffer;
}

/** Gives a buffer back, once, when nothing reads it any more. */
export function giveBuffer(buffer: Buffer): void {
  if (pooled.has(buffer)) free.push(buffer);
}

function allocate(bytes: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(FRONT_BYTES + bytes).subarray(FRONT_BYTES);
  withFront.add(buffer);
  return buffer;
}

/**
 * Writes `head` directly before a part of a buffer, over whatever is there.
 *
 * @return Both in one piece; `undefined` when there is no place for the head.
 */
export function writeBefore(
  { buffer, start, end }: { readonly buffer: Buffer; readonly start: number; readonly end: number },
  head: Uint8Array,
): Buffer | undefined {
  const front = withFront.has(buffer) ? FRONT_BYTES : 0;
  const first = start - head.length;
  if (first < -front) return undefined;
  const whole = Buffer.from(buffer.buffer, buffer.byteOffset + first, end - first);
  whole.set(head);
  return whole;
}
