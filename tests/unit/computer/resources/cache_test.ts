import { assertEquals } from "@std/assert";
import { EntryCache } from "../../../../src/computer/resources/cache.ts";
import { ServerAnswerError, ServerTimeoutError } from "../../../../src/mcp/errors.ts";

const LONG_MS = 60_000;

/** A cache over values that a test sets, with a clock that it turns. */
function cacheOf(values: Record<string, unknown>, options: { concurrency?: number } = {}) {
  const reads: string[] = [];
  const failures: string[] = [];
  const clock = { nowMs: 1_000 };
  const cache = new EntryCache<unknown>({
    async read(key) {
      reads.push(key);
      const value = await values[key];
      if (value instanceof Error) throw value;
      return value;
    },
    onFailure: (key) => void failures.push(key),
    concurrency: options.concurrency ?? 8,
    maxAgeMs: 100,
    now: () => clock.nowMs,
  });
  return { cache, reads, failures, clock };
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

Deno.test("an entry that was late once is not waited for until it is answered, the others are", async () => {
  const gate = Promise.withResolvers<number>();
  const values: Record<string, unknown> = { hung: gate.promise, fine: 1 };
  const { cache } = cacheOf(values);
  assertEquals(await cache.refresh(["hung", "fine"], 1), false);
  values["fine"] = 2;
  // It would wait for ever.
  assertEquals(await cache.refresh(["hung", "fine"], LONG_MS), false);
  assertEquals([cache.get("hung"), cache.get("fine")], [undefined, 2]);
  gate.resolve(3);
  while (cache.get("hung") === undefined) await Promise.resolve();
  assertEquals(await cache.refresh(["hung"], LONG_MS), true);
  assertEquals(cache.get("hung"), 3);
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
