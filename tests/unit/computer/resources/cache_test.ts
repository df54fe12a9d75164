import { assertEquals } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { EntryCache, type ReadValue } from "../../../../src/computer/resources/cache.ts";
import { ServerAnswerError, ServerTimeoutError } from "../../../../src/mcp/errors.ts";

const LONG_MS = 60_000;

/** A cache over values that a test sets, with a clock that it turns. */
function cacheOf(values: Record<string, unknown>, options: { concurrency?: number; freshMs?: number } = {}) {
  const reads: string[] = [];
  const failures: string[] = [];
  const late = { count: 0 };
  const clock = { nowMs: 1_000 };
  const cache = new EntryCache<unknown>({
    async read(key) {
      reads.push(key);
      const value = await values[key];
      if (value instanceof Error) throw value;
      return { value, freshMs: options.freshMs };
    },
    onFailure: (key) => void failures.push(key),
    onLate: () => void late.count++,
    concurrency: options.concurrency ?? 8,
    maxAgeMs: 100,
    now: () => clock.nowMs,
  });
  return { cache, reads, failures, late, clock };
}

Deno.test("an entry without a subscription is read for each request", async () => {
  const { cache, reads } = cacheOf({ a: 1 });
  for (let i = 0; i < 3; i++) assertEquals(await cache.refresh(["a"], LONG_MS), true);
  assertEquals([cache.get("a"), reads.length], [1, 3]);
});

Deno.test("an entry that was read after its subscription is served from memory", async () => {
  const { cache, reads } = cacheOf({ a: 1 });
  cache.markSubscribed("a");
  for (let i = 0; i < 3; i++) await cache.refresh(["a"], LONG_MS);
  assertEquals(reads.length, 1);
});

Deno.test("an entry that was read before its subscription is read once more", async () => {
  const { cache, reads, clock } = cacheOf({ a: 1 });
  await cache.refresh(["a"], LONG_MS);
  clock.nowMs++;
  cache.markSubscribed("a");
  for (let i = 0; i < 3; i++) await cache.refresh(["a"], LONG_MS);
  assertEquals(reads.length, 2);
});

Deno.test("an entry whose server says that it holds for no time is read for each request, subscribed or not", async () => {
  const { cache, reads } = cacheOf({ a: 1 }, { freshMs: 0 });
  cache.markSubscribed("a");
  for (let i = 0; i < 3; i++) await cache.refresh(["a"], LONG_MS);
  assertEquals(reads.length, 3);
});

Deno.test("an entry is served from memory as long as its server says, and no longer than the cache's own age", async () => {
  for (const [freshMs, heldMs] of [[20, 20], [5_000, 100]] as const) {
    const { cache, reads, clock } = cacheOf({ a: 1 }, { freshMs });
    for (const atMs of [0, heldMs - 1, heldMs]) {
      clock.nowMs = 1_000 + atMs;
      await cache.refresh(["a"], LONG_MS);
    }
    assertEquals(reads.length, 2, `${freshMs}`);
  }
});

Deno.test("a change that is announced ends the time that the server said", async () => {
  const { cache, reads } = cacheOf({ a: 1 }, { freshMs: 50 });
  await cache.refresh(["a"], LONG_MS);
  cache.invalidate("a");
  await cache.refresh(["a"], LONG_MS);
  assertEquals(reads.length, 2);
});

Deno.test("an entry is read again once it is invalidated or over its age", async () => {
  const values = { a: 1, b: 1 };
  const { cache, reads, clock } = cacheOf(values);
  cache.markSubscribed("a");
  cache.markSubscribed("b");
  await cache.refresh(["a", "b"], LONG_MS);
  values.a = 2;
  cache.invalidate("a");
  cache.invalidate("unknown");
  await cache.refresh(["a", "b"], LONG_MS);
  assertEquals([cache.get("a"), reads], [2, ["a", "b", "a"]]);
  clock.nowMs += 99;
  await cache.refresh(["a", "b"], LONG_MS);
  assertEquals(reads.length, 3);
  clock.nowMs++;
  await cache.refresh(["a", "b"], LONG_MS);
  assertEquals(reads.length, 5);
});

Deno.test("a value that was on its way when a change was told is not kept", async () => {
  const gate = Promise.withResolvers<number>();
  const values: Record<string, unknown> = { a: gate.promise };
  const { cache, reads } = cacheOf(values);
  cache.markSubscribed("a");
  const refreshing = cache.refresh(["a"], LONG_MS);
  cache.invalidate("a");
  gate.resolve(1);
  await refreshing;
  values["a"] = 2;
  await cache.refresh(["a"], LONG_MS);
  assertEquals([cache.get("a"), reads.length], [2, 2]);
});

Deno.test("a new session makes every entry be read again", async () => {
  const { cache, reads } = cacheOf({ a: 1 });
  cache.markSubscribed("a");
  await cache.refresh(["a"], LONG_MS);
  cache.clearSubscriptions();
  await cache.refresh(["a"], LONG_MS);
  assertEquals(reads.length, 2);
});

Deno.test("an entry that several requests want is read once for all of them", async () => {
  const gate = Promise.withResolvers<number>();
  const { cache, reads } = cacheOf({ a: gate.promise });
  const requests = [1, 2, 3].map(() => cache.refresh(["a"], LONG_MS));
  gate.resolve(1);
  await Promise.all(requests);
  assertEquals(reads.length, 1);
});

Deno.test("all requests together read so many entries at a time", async () => {
  const gates = Array.from({ length: 6 }, () => Promise.withResolvers<number>());
  const values = Object.fromEntries(gates.map(({ promise }, i) => [`k${i}`, promise]));
  const { cache, reads } = cacheOf(values, { concurrency: 2 });
  const requests = [["k0", "k1", "k2"], ["k3", "k4", "k5"]].map((keys) => cache.refresh(keys, LONG_MS));
  await Promise.resolve();
  assertEquals(reads, ["k0", "k1"]);
  for (const gate of gates) gate.resolve(1);
  await Promise.all(requests);
  assertEquals(reads.length, 6);
});

Deno.test("an answer that says no forgets the value, silence keeps the last known one", async () => {
  const values: Record<string, unknown> = { a: 1, b: 1 };
  const { cache, failures } = cacheOf(values);
  await cache.refresh(["a", "b"], LONG_MS);
  values["a"] = new ServerAnswerError(-32002, "gone");
  values["b"] = new ServerTimeoutError("late");
  assertEquals(await cache.refresh(["a", "b"], LONG_MS), true);
  assertEquals([cache.get("a"), cache.get("b"), failures], [undefined, 1, ["a", "b"]]);
});

Deno.test("an entry that was late once is not waited for until it is answered, and told then, the others are", async () => {
  const gate = Promise.withResolvers<number>();
  const values: Record<string, unknown> = { hung: gate.promise, fine: 1 };
  const { cache, late } = cacheOf(values);
  assertEquals(await cache.refresh(["hung", "fine"], 1), false);
  values["fine"] = 2;
  // It would wait for ever.
  assertEquals(await cache.refresh(["hung", "fine"], LONG_MS), false);
  assertEquals([cache.get("hung"), cache.get("fine")], [undefined, 2]);
  gate.resolve(3);
  while (cache.get("hung") === undefined) await Promise.resolve();
  assertEquals(await cache.refresh(["hung"], LONG_MS), true);
  assertEquals([cache.get("hung"), late.count], [3, 1]);
});

Deno.test("a change that is late is told, and of an entry that is read each time the first value alone", async () => {
  for (const [isSubscribed, told] of [[true, 2], [false, 1]] as const) {
    const values: Record<string, unknown> = {};
    const { cache, late } = cacheOf(values);
    if (isSubscribed) cache.markSubscribed("slow");
    for (const value of [1, 1, 2]) {
      const gate = Promise.withResolvers<number>();
      values["slow"] = gate.promise;
      cache.invalidate("slow");
      assertEquals(await cache.refresh(["slow"], 1), false);
      gate.resolve(value);
      await setImmediate();
    }
    assertEquals(late.count, told);
  }
});

Deno.test("a request after a change does not take the value of a read that began before it", async () => {
  const gate = Promise.withResolvers<number>();
  const values: Record<string, unknown> = { a: gate.promise };
  const { cache, reads } = cacheOf(values);
  const before = cache.refresh(["a"], LONG_MS);
  cache.invalidate("a");
  values["a"] = 2;
  const after = cache.refresh(["a"], LONG_MS);
  gate.resolve(1);
  await Promise.all([before, after]);
  assertEquals([cache.get("a"), reads.length], [2, 2]);
});

Deno.test("only the entries that are followed are known", async () => {
  const { cache } = cacheOf({ a: 1, b: 2 });
  await cache.refresh(["a", "b"], LONG_MS);
  cache.follow(new Set(["b"]));
  assertEquals([cache.get("a"), cache.get("b")], [undefined, 2]);
});

Deno.test("verify() reads again what was read before its subscription, and tells whether it changed", async () => {
  const values: Record<string, unknown> = { changed: 1, same: 1 };
  const { cache, reads, clock } = cacheOf(values);
  await cache.refresh(["changed", "same"], LONG_MS);
  clock.nowMs++;
  cache.markSubscribed("same");
  assertEquals([await cache.verify(LONG_MS), reads.length], [false, 3]);
  values["changed"] = 2;
  clock.nowMs++;
  cache.markSubscribed("changed");
  assertEquals([await cache.verify(LONG_MS), cache.get("changed"), reads.length], [true, 2, 4]);
  assertEquals([await cache.verify(LONG_MS), reads.length], [false, 4]);
});

Deno.test("verify() leaves alone what nobody has read, and what is not subscribed", async () => {
  const { cache, reads } = cacheOf({ unread: 1, unsubscribed: 1 });
  cache.markSubscribed("unread");
  await cache.refresh(["unsubscribed"], LONG_MS);
  assertEquals([await cache.verify(LONG_MS), reads], [false, ["unsubscribed"]]);
});

Deno.test("verify() waits for a read that is under way before it decides what to read again", async () => {
  const gate = Promise.withResolvers<number>();
  const { cache, reads, clock } = cacheOf({ a: gate.promise });
  const reading = cache.refresh(["a"], LONG_MS);
  clock.nowMs++;
  cache.markSubscribed("a");
  const verified = cache.verify(LONG_MS);
  assertEquals(reads.length, 1);
  gate.resolve(1);
  await reading;
  assertEquals([await verified, reads.length], [false, 2]);
});

Deno.test("verify() gives up in time, and what comes later is kept", async () => {
  const values: Record<string, unknown> = { a: 1 };
  const { cache, clock } = cacheOf(values);
  await cache.refresh(["a"], LONG_MS);
  clock.nowMs++;
  cache.markSubscribed("a");
  const gate = Promise.withResolvers<number>();
  values["a"] = gate.promise;
  assertEquals(await cache.verify(1), false);
  gate.resolve(2);
  while (cache.get("a") !== 2) await Promise.resolve();
});

Deno.test("when each value is in doubt, verify() reads all of them again, and only those that changed are told", async () => {
  const values: Record<string, unknown> = { a: 1, b: 1 };
  const { cache, reads } = cacheOf(values);
  for (const key of ["a", "b"]) cache.markSubscribed(key);
  await cache.refresh(["a", "b"], LONG_MS);
  cache.invalidateAll();
  assertEquals([await cache.verify(LONG_MS), reads.length], [false, 4]);
  values["b"] = 2;
  cache.invalidateAll();
  assertEquals([await cache.verify(LONG_MS), cache.get("b"), reads.length], [true, 2, 6]);
  await cache.refresh(["a", "b"], LONG_MS);
  assertEquals(reads.length, 6);
});

/** Entries that one read brings together, as a document's host brings its catalogue. */
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
function batchCacheOf(options: { lacks?: readonly string[] } = {}) {
  const state = { value: 1, nowMs: 1_000 };
  const singles: string[] = [];
  const batches: Batch[] = [];
  const requests: PromiseWithResolvers<Batch>[] = [];
  const asked = (index: number) => requests[index] ??= Promise.withResolvers<Batch>();
  const cache = new EntryCache<number>({
    read(key) {
      singles.push(key);
      return Promise.resolve({ value: state.value });
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
  const { cache, singles, batch, values } = batchCacheOf({ lacks: ["d"] });
  const refreshing = cache.refreshAll(LONG_MS);
  const { keys, answer } = await batch(0);
  answer();
  assertEquals([await refreshing, keys, singles, values()], [true, KEYS, ["d"], new Set([1])]);
});

Deno.test("a few due entries are read one by one", async () => {
  const { cache, singles, batches } = batchCacheOf();
  await cache.refresh(["a", "b", "c"], LONG_MS);
  assertEquals([singles, batches.length], [["a", "b", "c"], 0]);
});

Deno.test("many entries that change while one read brings them are gathered into one more", async () => {
  const { cache, state, singles, batches, batch, values } = batchCacheOf();
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
  const { cache, state, singles, batches, batch } = batchCacheOf();
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
  const { cache, state, batch, values } = batchCacheOf();
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
