/** Entries that one read brings together, as a document's host brings its catalogue. */
import { assertEquals } from "@std/assert";
import { EntryCache, type ReadValue } from "../../../../src/computer/resources/cache.ts";

const LONG_MS = 60_000;
const KEYS = ["a", "b", "c", "d", "e"];

/** A read of many that waits for its answer. */
interface Batch {
  readonly keys: readonly string[];
  readonly answer: () => void;
}

/**
 * A cache over one value for all keys. A read of many is answered by the test, with what the value was when it
 * began; a read of one at once.
 */
function cacheOf(options: { lacks?: readonly string[] } = {}) {
  const state = { value: 1, nowMs: 1_000 };
  const singles: string[] = [];
  const batches: Batch[] = [];
  const requests: PromiseWithResolvers<Batch>[] = [];
  const asked = (index: number) => requests[index] ??= Promise.withResolvers<Batch>();
  const cache = new EntryCache<number>({
    read(key) {
      singles.push(key);
      return Promise.resolve(state.value);
    },
    readMany(keys) {
      const { promise, resolve } = Promise.withResolvers<ReadonlyMap<string, ReadValue<number>>>();
      const found = keys.filter((key) => !options.lacks?.includes(key));
      const read = { value: state.value, readAtMs: state.nowMs };
      const batch = { keys, answer: () => resolve(new Map(found.map((key) => [key, read]))) };
      asked(batches.push(batch) - 1).resolve(batch);
      return promise;
    },
    onFailure() {},
    concurrency: 8,
    maxAgeMs: 1_000_000,
    now: () => state.nowMs,
  });
  cache.follow(new Set(KEYS));
  for (const key of KEYS) cache.markSubscribed(key, 0);
  const values = () => new Set(KEYS.map((key) => cache.get(key)));
  /** The batch of that index, once it was asked for. */
  const batch = (index: number) => asked(index).promise;
  return { cache, state, singles, batches, batch, values };
}

Deno.test("many due entries are looked for in one read, and what it does not bring is read by itself", async () => {
  const { cache, singles, batch, values } = cacheOf({ lacks: ["d"] });
  const refreshing = cache.refreshAll(LONG_MS);
  const { keys, answer } = await batch(0);
  answer();
  assertEquals([await refreshing, keys, singles, values()], [true, KEYS, ["d"], new Set([1])]);
});

Deno.test("a few due entries are read one by one", async () => {
  const { cache, singles, batches } = cacheOf();
  await cache.refresh(["a", "b", "c"], LONG_MS);
  assertEquals([singles, batches.length], [["a", "b", "c"], 0]);
});

Deno.test("many entries that change while one read brings them are gathered into one more", async () => {
  const { cache, state, singles, batches, batch, values } = cacheOf();
  const before = cache.refreshAll(LONG_MS);
  const first = await batch(0);
  state.value = 2;
  for (const key of KEYS) cache.invalidate(key);
  const after = cache.refreshAll(LONG_MS);
  first.answer();
  const second = await batch(1);
  assertEquals(second.keys.toSorted(), KEYS);
  second.answer();
  assertEquals([await before, await after], [true, true]);
  assertEquals([batches.length, singles, values()], [2, [], new Set([2])]);
  assertEquals([await cache.refreshAll(LONG_MS), batches.length], [true, 2]);
});

Deno.test("an entry that changes while one read brings it is read again, and the others are kept", async () => {
  const { cache, state, singles, batches, batch } = cacheOf();
  const before = cache.refreshAll(LONG_MS);
  const first = await batch(0);
  state.value = 2;
  cache.invalidate("c");
  const after = cache.refreshAll(LONG_MS);
  first.answer();
  await Promise.all([before, after]);
  assertEquals([singles, batches.length], [["c"], 1]);
  assertEquals(KEYS.map((key) => cache.get(key)), [1, 1, 2, 1, 1]);
});

Deno.test("what one read was too old for is due for the next request where nobody asked again", async () => {
  const { cache, state, batch, values } = cacheOf();
  const refreshing = cache.refreshAll(LONG_MS);
  const first = await batch(0);
  state.value = 2;
  cache.invalidateAll();
  first.answer();
  await refreshing;
  assertEquals(values(), new Set([1]));
  const again = cache.refreshAll(LONG_MS);
  (await batch(1)).answer();
  assertEquals([await again, values()], [true, new Set([2])]);
});
