/** Buffers that are used again: to allocate one for each large message costs more than to fill it. */
import { Buffer } from "node:buffer";

/** The bytes in front of each buffer, in which the header of a message is written: a message is sent in one write then. */
export const FRONT_BYTES = 48;

class BufferPool {
  readonly bytes: number;
  readonly #max: number;
  readonly #free: Buffer[] = [];
  readonly #own = new WeakSet<Buffer>();
  /** Buffers that exist. One that is dropped with its message counts until it is collected. */
  #made = 0;
  readonly #dropped = new FinalizationRegistry<undefined>(() => void this.#made--);

  constructor({ bytes, max }: { readonly bytes: number; readonly max: number }) {
    this.bytes = bytes;
    this.#max = max;
  }

  take(): Buffer | undefined {
    const used = this.#free.pop();
    if (used !== undefined || this.#made === this.#max) return used;
    this.#made++;
    const buffer = allocate(this.bytes);
    this.#own.add(buffer);
    this.#dropped.register(buffer, undefined);
    return buffer;
  }

  /** Takes a buffer back if it is of this pool, and returns whether it is. */
  give(buffer: Buffer): boolean {
    const isOwn = this.#own.has(buffer);
    if (isOwn) this.#free.push(buffer);
    return isOwn;
  }
}

/** The smallest first. All other buffers are as large as needed, and used once. */
const pools = [
  new BufferPool({ bytes: 16 * 1024, max: 128 }),
  new BufferPool({ bytes: 128 * 1024, max: 64 }),
  new BufferPool({ bytes: 1024 * 1024, max: 32 }),
];

/** Returns a buffer of at least `bytes`, with any content. */
export function takeBuffer(bytes: number): Buffer {
  const pool = pools.find((pool) => pool.bytes >= bytes);
  return pool?.take() ?? allocate(bytes);
}

/** Gives a buffer back, once, when nothing reads it any more. */
export function giveBuffer(buffer: Buffer): void {
  pools.some((pool) => pool.give(buffer));
}

function allocate(bytes: number): Buffer {
  return Buffer.allocUnsafeSlow(FRONT_BYTES + bytes).subarray(FRONT_BYTES);
}
