/** Limits the memory that kept values take together, such as the cached values of one MCP server. */
import { approximateSizeBytes, fitsApproximately } from "../json/json.ts";

export interface ByteBounds {
  readonly eachBytes: number;
  readonly totalBytes: number;
}

export class ByteBudget {
  readonly #options: ByteBounds;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  constructor(options: ByteBounds) {
    this.#options = options;
  }

  /** Returns whether the value fits, and counts it in place of the earlier value of `key`. */
  take(key: string, value: unknown): boolean {
    const isSmall = fitsApproximately(value, this.#options.eachBytes);
    return this.takeBytes(key, isSmall ? approximateSizeBytes(value) : Infinity);
  }

  /** The same for a value of which the size is known. */
  takeBytes(key: string, bytes: number): boolean {
    this.release(key);
    const { eachBytes, totalBytes } = this.#options;
    if (bytes > eachBytes || this.#total + bytes > totalBytes) return false;
    this.#bytes.set(key, bytes);
    this.#total += bytes;
    return true;
  }

  release(key: string): void {
    this.#total -= this.#bytes.get(key) ?? 0;
    this.#bytes.delete(key);
  }
}
