/** Buffers that are used again: to allocate one for each large message costs more than to fill it. */
import { Buffer } from "node:buffer";

/** The size of a buffer that is used again. */
const POOLED_BYTES = 1024 * 1024;
/** The most such buffers of a process. All others are as large as needed, and used once. */
const MAX_POOLED = 32;

const free: Buffer[] = [];
const pooled = new WeakSet<Buffer>();
/** Buffers that exist. One that is dropped with its message counts until it is collected. */
let made = 0;
const dropped = new FinalizationRegistry<undefined>(() => void made--);

/** Returns a buffer of at least `bytes`, with any content. */
export function takeBuffer(bytes: number): Buffer {
  if (bytes > POOLED_BYTES) return Buffer.allocUnsafeSlow(bytes);
  const used = free.pop();
  if (used !== undefined) return used;
  if (made === MAX_POOLED) return Buffer.allocUnsafeSlow(bytes);
  made++;
  const buffer = Buffer.allocUnsafeSlow(POOLED_BYTES);
  pooled.add(buffer);
  dropped.register(buffer, undefined);
  return buffer;
}

/** Gives a buffer back, once, when nothing reads it any more. */
export function giveBuffer(buffer: Buffer): void {
  if (pooled.has(buffer)) free.push(buffer);
}
