import { assertEquals, assertRejects } from "@std/assert";
import { forEachBounded, Limiter } from "../../../src/async/limiter.ts";

Deno.test("a limiter runs so many things at a time, in the order in which they were asked for", async () => {
  const limiter = new Limiter(2);
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const started: number[] = [];
  const done = gates.map(({ promise }, i) => limiter.run(() => (started.push(i), promise)));
  assertEquals(started, [0, 1]);
  gates[1]?.resolve();
  await done[1];
  assertEquals(started, [0, 1, 2]);
  for (const gate of gates) gate.resolve();
  await Promise.all(done);
  assertEquals(started, [0, 1, 2, 3]);
});

Deno.test("a limiter settles as the work does, and work that fails gives its turn back", async () => {
  const limiter = new Limiter(1);
  await assertRejects(() => limiter.run(() => Promise.reject(new TypeError("own"))), TypeError, "own");
  assertEquals(await limiter.run(() => Promise.resolve(7)), 7);
});

Deno.test("work whose signal is aborted before its turn never begins, and the others keep their order", async () => {
  const limiter = new Limiter(1);
  const gate = Promise.withResolvers<void>();
  const started: string[] = [];
  const giveUp = new AbortController();
  const work = (name: string, done = Promise.resolve()) => () => (started.push(name), done);
  const first = limiter.run(work("first", gate.promise));
  const second = limiter.run(work("second"), giveUp.signal);
  const third = limiter.run(work("third"));
  giveUp.abort(new TypeError("enough"));
  await assertRejects(() => second, TypeError, "enough");
  await assertRejects(() => limiter.run(work("fourth"), giveUp.signal), TypeError, "enough");
  gate.resolve();
  await Promise.all([first, third]);
  assertEquals(started, ["first", "third"]);
});

Deno.test("forEachBounded() works on each item, so many at a time", async () => {
  let running = 0;
  let most = 0;
  const seen: number[] = [];
  await forEachBounded([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    seen.push(item);
    running--;
  });
  assertEquals([most, seen.toSorted()], [2, [1, 2, 3, 4, 5]]);
  await forEachBounded([], 2, () => Promise.reject(new TypeError("never")));
});
