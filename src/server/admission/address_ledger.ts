/** Entries in the order of their arrival, with a bound in total and a bound for each address. */

/** The bounds of an {@linkcode AddressLedger}. */
export interface LedgerOptions<T> {
  readonly max: number;
  readonly maxPerAddress: number;
  /** An entry that is older than this gives its place to a new one. */
  readonly replaceableAfterMs: number;
  /** Ends an entry that has lost its place. */
  readonly evict: (entry: T) => void;
  /** The time in milliseconds; `performance.now` by default. */
  readonly now?: () => number;
}

/** Entries that hold a place each, until they are deleted or lose it to a newer one. */
export class AddressLedger<T> {
  readonly #options: LedgerOptions<T>;
  readonly #now: () => number;
  readonly #entries = new Map<T, { readonly address: string; readonly sinceMs: number }>();
  readonly #byAddress = new Map<string, Set<T>>();

  constructor(options: LedgerOptions<T>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /** The entries, oldest first. */
  [Symbol.iterator](): Iterator<T> {
    return this.#entries.keys();
  }

  has(entry: T): boolean {
    return this.#entries.has(entry);
  }

  /** Gives a new entry a place; `false` when all are taken by entries that are as new. */
  add(entry: T, address: string | undefined): boolean {
    const { max, maxPerAddress } = this.#options;
    const key = addressKey(address);
    const own = this.#byAddress.get(key);
    if (own !== undefined && own.size >= maxPerAddress && !this.#evictFirst(own)) return false;
    if (this.#entries.size >= max && !this.evictOldest()) return false;
    const group = this.#byAddress.get(key) ?? new Set();
    this.#byAddress.set(key, group.add(entry));
    this.#entries.set(entry, { address: key, sinceMs: this.#now() });
    return true;
  }

  /** Ends the oldest entry of all, when it is old enough; whether it did. */
  evictOldest(): boolean {
    return this.#evictFirst(this.#entries.keys());
  }

  /** Makes an entry the newest again. */
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

  #evictFirst(entries: Iterable<T>): boolean {
    for (const entry of entries) {
      const sinceMs = this.#entries.get(entry)?.sinceMs ?? 0;
      if (this.#now() - sinceMs < this.#options.replaceableAfterMs) return false;
      this.delete(entry);
      this.#options.evict(entry);
      return true;
    }
    return false;
  }
}

/** An IPv6 network of 64 bits counts as one address, since one user has all of it. */
export function addressKey(address: string | undefined): string {
  const text = (address ?? "").toLowerCase();
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/.exec(text)?.[1];
  if (mapped !== undefined || !text.includes(":")) return mapped ?? text;
  const [head = "", tail] = text.split("::", 2);
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined
    ? []
    : Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}
