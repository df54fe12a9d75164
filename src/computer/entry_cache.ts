/** Values that are read from an MCP server one by one, and kept while it is known that they still hold. */
import { settledWithin } from "../async/abortable.ts";
import { Limiter } from "../async/limiter.ts";
import { ServerAnswerError } from "../mcp/errors.ts";

/** How a cache reads and how long it may keep. */
export interface EntryCacheOptions<V> {
  /** Reads one entry; what it throws is reported by `onFailure`. */
  readonly read: (key: string) => Promise<V>;
  readonly onFailure: (key: string, error: unknown) => void;
  /** How many entries are read at a time, by all requests together. */
  readonly concurrency: number;
  /** How old a value may be, in milliseconds, even though nothing said that it changed. */
  readonly maxAgeMs: number;
  readonly now: () => number;
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
  reading: Promise<void> | undefined;
  /** It let a request wait in vain; until it is answered no other one waits for it. */
  isLate: boolean;
}

/**
 * A cache of entries by key. Each entry is read at most once at a time, whoever asks; a value that was on its way
 * when a change was told is not kept.
 */
export class EntryCache<V> {
  readonly #options: EntryCacheOptions<V>;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #limiter: Limiter;

  constructor(options: EntryCacheOptions<V>) {
    this.#options = options;
    this.#limiter = new Limiter(options.concurrency);
  }

  /** Forgets all entries but these. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of this.#entries.keys()) if (!keys.has(key)) this.#entries.delete(key);
  }

  /** The value of `key` is told to have changed. */
  invalidate(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) entry.version++;
  }

  /** The server tells of changes to `key` from now on. */
  markSubscribed(key: string): void {
    this.#entry(key).subscribedAtMs = this.#options.now();
  }

  /** The session is over, and with it all promises. */
  clearSubscriptions(): void {
    for (const entry of this.#entries.values()) {
      entry.subscribedAtMs = Infinity;
      entry.isLate = false;
    }
  }

  /** The last known value. */
  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /**
   * Reads what is missing or may have changed, and waits for it, but for no entry that was late before.
   *
   * @return Whether all of it was read in time; otherwise the reading goes on in the background.
   */
  async refresh(keys: readonly string[], withinMs: number): Promise<boolean> {
    const due = keys.map((key) => ({ key, entry: this.#entry(key) })).filter(({ entry }) =>
      !this.#holds(entry)
    );
    if (due.length === 0) return true;
    const awaited: Promise<void>[] = [];
    for (const { key, entry } of due) {
      const reading = this.#read(key, entry);
      if (!entry.isLate) awaited.push(reading);
    }
    await settledWithin(Promise.all(awaited), withinMs);
    let isDone = true;
    for (const { entry } of due) {
      if (entry.reading === undefined) continue;
      entry.isLate = true;
      isDone = false;
    }
    return isDone;
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
        reading: undefined,
        isLate: false,
      };
      this.#entries.set(key, entry);
    }
    return entry;
  }

  #holds(entry: Entry<V>): boolean {
    const ageMs = this.#options.now() - entry.readAtMs;
    return entry.readVersion === entry.version && entry.readAtMs >= entry.subscribedAtMs &&
      ageMs < this.#options.maxAgeMs;
  }

  #read(key: string, entry: Entry<V>): Promise<void> {
    return entry.reading ??= this.#limiter.run(() => this.#readNow(key, entry))
      .finally(() => entry.reading = undefined);
  }

  async #readNow(key: string, entry: Entry<V>): Promise<void> {
    if (this.#entries.get(key) !== entry) return;
    const { read, onFailure, now } = this.#options;
    const { version } = entry;
    const readAtMs = now();
    try {
      entry.value = await read(key);
      entry.readAtMs = readAtMs;
      entry.readVersion = version;
      entry.isLate = false;
    } catch (error) {
      // An answer that says no is an answer; silence says nothing about the last known value.
      if (error instanceof ServerAnswerError) {
        entry.value = undefined;
        entry.isLate = false;
      }
      onFailure(key, error);
    }
  }
}
