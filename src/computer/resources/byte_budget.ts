/** How much of what one MCP server was read for is kept in memory. */
import { approximateSizeBytes, fitsApproximately } from "../../protocol/size.ts";

/** The most that values take, in bytes of JSON. */
export interface ByteBudgetOptions {
  /** Each of them. */
  readonly eachBytes: number;
  /** All of them together. */
  readonly totalBytes: number;
}

/** Counts what is kept by key. */
export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  readonly #bytes = new Map<string, number>();
  #total = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  /** Whether the value can be kept, in place of the one that `key` had before. */
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

  /** The value of `key` is kept no longer. */
  release(key: string): void {
    this.#total -= this.#bytes.get(key) ?? 0;
    this.#bytes.delete(key);
  }
}
