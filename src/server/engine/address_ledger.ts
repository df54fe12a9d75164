/** A bounded set in order of insertion, with a bound in total and one per address. */
import { addressKey } from "../../http/proxies.ts";

export interface LedgerOptions<T> {
  readonly max: number;
  readonly maxPerAddress: number;
  /** A new entry may replace one that is older than this. */
  readonly replaceableAfterMs: number;
  readonly evict: (entry: T) => void;
  readonly now?: () => number;
}

/** Entries that each hold a place until they are deleted or replaced. */
export class AddressLedger<T> {
  readonly #options: LedgerOptions<T>;
  readonly #now: () => number;
  readonly #entries = new Map<T, { readonly address: string; readonly sinceMs: number }>();
  readonly #byAddress = new Map<string, Set<T>>();

  constructor(options: LedgerOptions<T>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Whether a place is free, or may be taken from an older entry. */
  hasPlace(address: string | undefined): boolean {
    const own = this.#byAddress.get(addressKey(address));
    if (own !== undefined && own.size >= this.#options.maxPerAddress && !this.#isReplaceable(own)) {
      return false;
    }
    return this.#entries.size < this.#options.max || this.#isReplaceable(this.#entries.keys());
  }

  /** Adds an entry; `false` when all places are taken by entries that cannot be replaced yet. */
  add(entry: T, address: string | undefined): boolean {
    if (!this.hasPlace(address)) return false;
    const key = addressKey(address);
    const own = this.#byAddress.get(key);
    if (own !== undefined && own.size >= this.#options.maxPerAddress) this.#evictFirst(own);
    if (this.#entries.size >= this.#options.max) this.evictOldest();
    const group = this.#byAddress.get(key) ?? new Set();
    this.#byAddress.set(key, group.add(entry));
    this.#entries.set(entry, { address: key, sinceMs: this.#now() });
    return true;
  }

  /** Removes the oldest entry if it may be replaced, and returns whether it did. */
  evictOldest(): boolean {
    return this.#evictFirst(this.#entries.keys());
  }

  renew(entry: T): void {
    const known = this.#entries.get(entry);
    if (known === undefined) return;
    this.#entries.delete(entry);
    this.#entries.set(entry, { ...known, sinceMs: this.#now() });
    const group = this.#byAddress.get(known.address);
    group?.delete(entry);
    group?.add(entry);
  }

  delete(entry: T): void {
    const known = this.#entries.get(entry);
    if (known === undefined) return;
    this.#entries.delete(entry);
    const group = this.#byAddress.get(known.address);
    group?.delete(entry);
    if (group?.size === 0) this.#byAddress.delete(known.address);
  }

  #isReplaceable(entries: Iterable<T>): boolean {
    for (const entry of entries) {
      const sinceMs = this.#entries.get(entry)?.sinceMs ?? 0;
      return this.#now() - sinceMs >= this.#options.replaceableAfterMs;
    }
    return false;
  }

  #evictFirst(entries: Iterable<T>): boolean {
    for (const entry of entries) {
      if (!this.#isReplaceable([entry])) return false;
      this.delete(entry);
      this.#options.evict(entry);
      return true;
    }
    return false;
  }
}
