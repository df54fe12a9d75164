/** Limits the memory that the cached values of one MCP server take. */
import { approximateSizeBytes, fitsApproximately } from "../../protocol/size.ts";

export interface ByteBudgetOptions {
  readonly eachBytes: number;
  readonly totalBytes: number;
}

/** Counts the bytes of the kept values by key. */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  /** Returns whether the value fits, and counts it in place of the earlier value of `key`. */
  take(key: string, value: unknown): boolean {
    this.release(key);
    const { eachBytes, totalBytes } = this.#options;
    if (!fitsApproximately(value, eachBytes)) return false;
    const bytes = approximateSizeBytes(value);
    if (this.#total + bytes > totalBytes) return false;
    this.#bytes.set(key, bytes);
    this.#total += bytes;
    return true;
  }

  /** Removes the value of `key` from the count. */
  release(key: string): void {
    this.#total -= this.#bytes.get(key) ?? 0;
    this.#bytes.delete(key);
  }
}
