/** Values that are read from an MCP server, and kept while it is known that they still hold. */
import { isDeepStrictEqual } from "node:util";
import { settledWithin } from "../../async/abortable.ts";
import { delay } from "../../async/backoff.ts";
import { Limiter } from "../../async/limiter.ts";
import { ServerAnswerError } from "../../mcp/errors.ts";

/** From so many due entries on, they are looked for in one read of many before they are read one by one. */
const MANY = 4;

/** A value, and when its read began. */
export interface ReadValue<V> {
  readonly value: V;
  readonly readAtMs: number;
}

/** How a cache reads and how long it may keep. */
export interface EntryCacheOptions<V> {
  /** Reads one entry; what it throws is reported by `onFailure`. */
  readonly read: (key: string) => Promise<V>;
  /** Reads many entries at once, as far as it can; what it does not bring is read one by one. Never throws. */
  readonly readMany?: (keys: readonly string[]) => Promise<ReadonlyMap<string, ReadValue<V>>>;
  /** Hears of each new value, and of each that is no more. */
  readonly onValue?: (key: string, value: V | undefined) => void;
  readonly onFailure: (key: string, error: unknown) => void;
  /** How many entries are read at a time, by all requests together. */
  readonly concurrency: number;
  /** How old a value may be, in milliseconds, even though nothing said that it changed. */
  readonly maxAgeMs: number;
  readonly now: () => number;
}

/** A read of many: what it brought, and the versions of what it was asked for when it began. */
interface Batch<V> {
  readonly values: ReadonlyMap<string, ReadValue<V>>;
  readonly versions: ReadonlyMap<string, number>;
}

interface Entry<V> {
  value: V | undefined;
  /** When the read of `value` began; what was read before its subscription began is not known to hold. */
  readAtMs: number;
  /** Since when the server has promised to tell of changes. */
  subscribedAtMs: number;
  /** Counts changes: a value that was on its way when one came is old on arrival. */
  version: number;
  readVersion: number;
  /** The version when the last read began, whatever came of it. */
  begunVersion: number;
  reading: Promise<void> | undefined;
  /** It let a request wait in vain; until it is answered no other one waits for it. */
  isLate: boolean;
}

/**
 * A cache of entries by key. Each entry is read at most once at a time, whoever asks; a value that was on its way
 * when a change was told is not kept. A request costs what has changed, not what is there.
 */
export class EntryCache<V> {
  readonly #options: EntryCacheOptions<V>;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #limiter: Limiter;
  /** What must be read before it is served. Every entry is either here or in `#held`. */
  readonly #due = new Set<string>();
  /** What holds, in the order of its reading: what grows too old is at the front. */
  readonly #held = new Set<string>();
  /** What changed while it was read, and is to be read again. */
  readonly #stale = new Set<string>();
  #again: Promise<Batch<V> | undefined> | undefined;

  constructor(options: EntryCacheOptions<V>) {
    this.#options = options;
    this.#limiter = new Limiter(options.concurrency);
  }

  /** Takes these keys and forgets all others. */
  follow(keys: ReadonlySet<string>): void {
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#forget(key);
    for (const key of keys) this.#entry(key);
  }

  /** The value of `key` is told to have changed. */
  invalidate(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.version++;
    this.#expect(key);
  }

  /** Each value may have changed. */
  invalidateAll(): void {
    for (const key of this.#entries.keys()) this.invalidate(key);
  }

  /** The server tells of changes to `key` from `sinceMs` on, now by default. */
  markSubscribed(key: string, sinceMs: number = this.#options.now()): void {
    const entry = this.#entry(key);
    entry.subscribedAtMs = Math.min(entry.subscribedAtMs, sinceMs);
    this.#settle(key, entry);
  }

  /** The session is over, and with it all promises. */
  clearSubscriptions(): void {
    for (const [key, entry] of this.#entries) {
      entry.subscribedAtMs = Infinity;
      entry.isLate = false;
      this.#expect(key);
    }
  }

  /** The last known value. */
  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /**
   * Reads which of these entries are missing or may have changed, and waits for them, but for none that was late
   * before.
   *
   * @return Whether all of it was read in time; otherwise the reading goes on in the background.
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
   * Reads once more what was read before its subscription held, or is in doubt: a change that nobody told of may lie
   * between.
   *
   * @return Whether any of it is another value.
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
    this.#options.onValue?.(key, undefined);
  }

  #expect(key: string): void {
    this.#held.delete(key);
    this.#due.add(key);
  }

  /** Moves an entry that holds to where it is not read. */
  #settle(key: string, entry: Entry<V>): void {
    if (entry.readVersion !== entry.version || entry.readAtMs < entry.subscribedAtMs) return;
    this.#due.delete(key);
    this.#held.delete(key);
    this.#held.add(key);
  }

  #expire(): void {
    const oldestMs = this.#options.now() - this.#options.maxAgeMs;
    for (const key of this.#held) {
      const entry = this.#entries.get(key);
      if (entry !== undefined && entry.readAtMs > oldestMs) return;
      this.#expect(key);
    }
  }

  /** One read for many entries, when many are due and nobody reads them yet. */
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

  /** What one read of many was too old for is gathered, to be read at once again; it all ends in one turn. */
  #readStale(key: string): Promise<Batch<V> | undefined> {
    this.#stale.add(key);
    return this.#again ??= delay(0).then(() => {
      const keys = [...this.#stale];
      this.#stale.clear();
      this.#again = undefined;
      return this.#readMany(keys);
    });
  }

  /** A read that others have begun will do, unless a change was told since. */
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
      this.#keep(key, entry, { value: await read(key), version, readAtMs });
    } catch (error) {
      // An answer that says no is an answer; silence says nothing about the last known value.
      if (error instanceof ServerAnswerError) {
        entry.value = undefined;
        entry.isLate = false;
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
    entry.value = read.value;
    entry.readAtMs = read.readAtMs;
    entry.readVersion = entry.begunVersion = read.version;
    entry.isLate = false;
    this.#options.onValue?.(key, read.value);
    this.#settle(key, entry);
  }
}
