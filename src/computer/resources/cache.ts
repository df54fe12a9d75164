/** Caches values that are read from an MCP server, as long as the server announces their changes. */
import { isDeepStrictEqual } from "node:util";
import { settledWithin } from "../../async/abortable.ts";
import { delay } from "../../async/backoff.ts";
import { Limiter } from "../../async/limiter.ts";
import { ServerAnswerError } from "../../mcp/errors.ts";
import { approximateSizeBytes, fitsApproximately } from "../../json/json.ts";

/** The number of due entries from which they are read together, if that is possible, and not one by one. */
const MANY = 4;

export interface FreshValue<V> {
  readonly value: V;
  /**
   * How long the value may be used without another read, in milliseconds, as its server says (`ttlMs` of MCP 2026-07-28).
   * Without it, the value may be used while the server announces its changes.
   */
  readonly freshMs?: number | undefined;
}

/** A value and the time at which its read began. */
export interface ReadValue<V> extends FreshValue<V> {
  readonly readAtMs: number;
}

export interface EntryCacheOptions<V> {
  /** Reads one entry; its error is passed to `onFailure`. */
  readonly read: (key: string) => Promise<FreshValue<V>>;
  /** Reads as many entries as it can in one request; the others are read one by one. Never throws. */
  readonly readMany?: (keys: readonly string[]) => Promise<ReadonlyMap<string, ReadValue<V>>>;
  /** Receives each new value, and `undefined` for each value that is dropped. */
  readonly onValue?: (key: string, value: V | undefined) => void;
  readonly onFailure: (key: string, error: unknown) => void;
  /** A first value, or a changed one that is held, has arrived for which a caller gave up waiting. */
  readonly onLate?: () => void;
  /** The most bytes of a value, and of all of them; without it, the values are small. */
  readonly bounds?: ByteBounds & {
    /** What is kept in place of a value that is too large. */
    readonly onTooLarge: (key: string) => V;
  };
  readonly concurrency: number;
  /** How old a value may be without an announced change, in milliseconds. */
  readonly maxAgeMs: number;
  readonly now: () => number;
}

/** The values of a read of many entries, and the version of each entry when the read began. */
interface Batch<V> {
  readonly values: ReadonlyMap<string, ReadValue<V>>;
  readonly versions: ReadonlyMap<string, number>;
}

interface Entry<V> {
  value: V | undefined;
  /** When the read of `value` began. A value that was read before its subscription may be outdated. */
  readAtMs: number;
  /** Until when its server says that it may be used; `undefined` when it says nothing. */
  freshUntilMs: number | undefined;
  /** Since when the server announces changes. */
  subscribedAtMs: number;
  /** Counts announced changes. A value whose read began before a change is outdated. */
  version: number;
  readVersion: number;
  /** The version when the last read began, even if that read failed. */
  begunVersion: number;
  reading: Promise<void> | undefined;
  /** A caller gave up waiting for this entry; until it is read, no other caller waits for it. */
  isLate: boolean;
}

/**
 * A cache of entries by key. Callers at the same time share one read of an entry, and a value whose read began before an
 * announced change is read again. A request costs as much as has changed, however many entries there are.
 *
 * - An entry is held (`#held`) while its value is the latest (`readVersion` is `version`), is not too old, and is still
 *   fresh according to its server or, where that says nothing of it, was read after the subscription.
 * - Otherwise it is due (`#due`): it was never read, has changed, was read before its subscription, or is too old.
 * - A due entry is late (`isLate`) when a caller gave up waiting for it, until it is read.
 * - A due entry is stale (`#stale`) when it changed while it was read; the stale ones are read again together (`#again`).
 */
export class EntryCache<V> {
  readonly #options: EntryCacheOptions<V>;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #limiter: Limiter;
  readonly #budget: ByteBudget | undefined;
  /** The keys of entries that must be read before they are used. Every key is either here or in `#held`. */
  readonly #due = new Set<string>();
  /** The keys of valid entries in the order of their reads, so that the oldest are first. */
  readonly #held = new Set<string>();
  /** The keys of valid entries whose servers say until when. */
  readonly #timed = new Set<string>();
  /** The keys of entries that changed while they were read, and are read again. */
  readonly #stale = new Set<string>();
  #again: Promise<Batch<V> | undefined> | undefined;

  constructor(options: EntryCacheOptions<V>) {
    this.#options = options;
    this.#limiter = new Limiter(options.concurrency);
    this.#budget = options.bounds && new ByteBudget(options.bounds);
  }

  /** Adds these keys and forgets all others. */
  follow(keys: ReadonlySet<string>): void {
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#forget(key);
    for (const key of keys) this.#entry(key);
  }

  invalidate(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.version++;
    this.#expect(key);
  }

  invalidateAll(): void {
    for (const key of this.#entries.keys()) this.invalidate(key);
  }

  /** The server announces changes of `key` since `sinceMs`, now by default. */
  markSubscribed(key: string, sinceMs: number = this.#options.now()): void {
    const entry = this.#entry(key);
    entry.subscribedAtMs = Math.min(entry.subscribedAtMs, sinceMs);
    this.#settle(key, entry);
  }

  /** The session has ended: no changes are announced any more. */
  clearSubscriptions(): void {
    for (const [key, entry] of this.#entries) {
      entry.subscribedAtMs = Infinity;
      entry.isLate = false;
      this.#expect(key);
    }
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /**
   * Reads those of these entries that are missing or may have changed. Does not wait for entries that were late before.
   *
   * @return Whether all of them were read in time; otherwise the reads go on in the background.
   */
  async refresh(keys: Iterable<string>, withinMs: number): Promise<boolean> {
    this.#expire();
    const due = new Map<string, Entry<V>>();
    for (const key of keys) {
      const entry = this.#entry(key);
      if (this.#due.has(key)) due.set(key, entry);
    }
    if (due.size === 0) return true;
    const many = this.#readManyOf(due);
    const awaited: Promise<void>[] = [];
    for (const [key, entry] of due) {
      const reading = this.#readSinceNow(key, entry, many).finally(() => due.delete(key));
      if (!entry.isLate) awaited.push(reading);
    }
    await settledWithin(Promise.all(awaited), withinMs);
    for (const entry of due.values()) entry.isLate = true;
    return due.size === 0;
  }

  /** {@linkcode EntryCache.refresh} of all entries. */
  async refreshAll(withinMs: number): Promise<boolean> {
    this.#expire();
    return this.#due.size === 0 || await this.refresh([...this.#due], withinMs);
  }

  /**
   * Reads subscribed entries again that were read before their subscription: a change in between was not announced.
   *
   * @return Whether any value is another one.
   */
  async verify(withinMs: number): Promise<boolean> {
    const deadlineMs = this.#options.now() + withinMs;
    await settledWithin(Promise.all(this.#entries.values().map(({ reading }) => reading)), withinMs);
    const before = new Map<string, V | undefined>();
    for (const key of this.#due) {
      const entry = this.#entries.get(key);
      if (entry === undefined || entry.subscribedAtMs === Infinity || entry.readVersion < 0) continue;
      before.set(key, entry.value);
    }
    await this.refresh(before.keys(), deadlineMs - this.#options.now());
    return before.entries().some(([key, value]) => !isDeepStrictEqual(this.get(key), value));
  }

  #entry(key: string): Entry<V> {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      entry = {
        value: undefined,
        readAtMs: -Infinity,
        freshUntilMs: undefined,
        subscribedAtMs: Infinity,
        version: 0,
        readVersion: -1,
        begunVersion: -1,
        reading: undefined,
        isLate: false,
      };
      this.#entries.set(key, entry);
      this.#due.add(key);
    }
    return entry;
  }

  #forget(key: string): void {
    this.#entries.delete(key);
    this.#due.delete(key);
    this.#held.delete(key);
    this.#timed.delete(key);
    this.#budget?.release(key);
    this.#options.onValue?.(key, undefined);
  }

  #expect(key: string): void {
    this.#held.delete(key);
    this.#timed.delete(key);
    this.#due.add(key);
  }

  /** Marks an entry as valid, if its value is the latest, and is fresh or was read after the subscription. */
  #settle(key: string, entry: Entry<V>): void {
    const { freshUntilMs } = entry;
    if (entry.readVersion !== entry.version) return;
    if (freshUntilMs !== undefined) {
      if (this.#options.now() >= freshUntilMs) return;
      this.#timed.add(key);
    } else if (entry.readAtMs < entry.subscribedAtMs) return;
    this.#due.delete(key);
    this.#held.delete(key);
    this.#held.add(key);
  }

  #expire(): void {
    const nowMs = this.#options.now();
    for (const key of this.#timed) {
      if (nowMs >= (this.#entries.get(key)?.freshUntilMs ?? 0)) this.#expect(key);
    }
    const oldestMs = nowMs - this.#options.maxAgeMs;
    for (const key of this.#held) {
      const entry = this.#entries.get(key);
      if (entry !== undefined && entry.readAtMs > oldestMs) return;
      this.#expect(key);
    }
  }

  /** Starts one read for all due entries that are not being read, if there are many. */
  #readManyOf(due: ReadonlyMap<string, Entry<V>>): Promise<Batch<V>> | undefined {
    if (due.size < MANY) return undefined;
    const idle = due.entries().filter(([, entry]) => entry.reading === undefined).map(([key]) => key);
    return this.#readMany(idle.toArray());
  }

  #readMany(keys: readonly string[]): Promise<Batch<V>> | undefined {
    const { readMany } = this.#options;
    if (readMany === undefined || keys.length < MANY) return undefined;
    const versions = new Map(keys.map((key) => [key, this.#entries.get(key)?.version ?? 0]));
    return readMany(keys).then((values) => ({ values, versions }));
  }

  /** Collects the outdated entries of one read of many, which all end in the same turn of the event loop, for another. */
  #readStale(key: string): Promise<Batch<V> | undefined> {
    this.#stale.add(key);
    return this.#again ??= delay(0).then(() => {
      const keys = [...this.#stale];
      this.#stale.clear();
      this.#again = undefined;
      return this.#readMany(keys);
    });
  }

  /** Waits for a read that another caller has started; reads again if a change was announced since it began. */
  async #readSinceNow(
    key: string,
    entry: Entry<V>,
    many: Promise<Batch<V>> | undefined,
  ): Promise<void> {
    const { version } = entry;
    await (entry.reading ?? this.#read(key, entry, many));
    if (entry.begunVersion >= version) return;
    const { readMany } = this.#options;
    await (entry.reading ?? this.#read(key, entry, readMany && this.#readStale(key)));
  }

  #read(key: string, entry: Entry<V>, many: Promise<Batch<V> | undefined> | undefined): Promise<void> {
    return entry.reading = this.#readFrom(key, entry, many).finally(() => entry.reading = undefined);
  }

  async #readFrom(
    key: string,
    entry: Entry<V>,
    many: Promise<Batch<V> | undefined> | undefined,
  ): Promise<void> {
    const batch = many && await many;
    const read = batch?.values.get(key);
    const version = batch?.versions.get(key);
    if (read !== undefined && version !== undefined) return this.#keep(key, entry, { ...read, version });
    await this.#limiter.run(() => this.#readNow(key, entry));
  }

  async #readNow(key: string, entry: Entry<V>): Promise<void> {
    if (this.#entries.get(key) !== entry) return;
    const { read, onFailure, onValue, now } = this.#options;
    const { version } = entry;
    const readAtMs = now();
    entry.begunVersion = version;
    try {
      this.#keep(key, entry, { ...await read(key), version, readAtMs });
    } catch (error) {
      // An error answer replaces the last known value. Without any answer, the last known value stays.
      if (error instanceof ServerAnswerError) {
        entry.value = undefined;
        entry.isLate = false;
        this.#budget?.release(key);
        onValue?.(key, undefined);
      }
      onFailure(key, error);
    }
  }

  #keep(
    key: string,
    entry: Entry<V>,
    read: ReadValue<V> & { readonly version: number },
  ): void {
    if (this.#entries.get(key) !== entry) return;
    const { bounds } = this.#options;
    const isTooLarge = bounds !== undefined && this.#budget?.take(key, read.value) === false;
    const { isLate, value } = entry;
    entry.value = isTooLarge ? bounds.onTooLarge(key) : read.value;
    entry.readAtMs = read.readAtMs;
    entry.freshUntilMs = read.freshMs === undefined ? undefined : read.readAtMs + read.freshMs;
    entry.readVersion = entry.begunVersion = read.version;
    entry.isLate = false;
    this.#options.onValue?.(key, entry.value);
    this.#settle(key, entry);
    // Whoever is told reads it from here: one that is read anew each time could be late, and told, without end.
    const isNews = value === undefined || this.#held.has(key);
    if (isLate && isNews && !isDeepStrictEqual(value, entry.value)) this.#options.onLate?.();
  }
}

export interface ByteBounds {
  readonly eachBytes: number;
  readonly totalBytes: number;
}

/** Limits the memory that kept values take together, such as the cached values of one MCP server. */
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
