import { assertEquals, assertRejects } from "@std/assert";
import { PageCache } from "../../src/page_cache.ts";
import type { DocumentPage } from "@a2c-smcp/sdk/provider";

const PAGE: DocumentPage = { title: "Page 1", elements: [] };

Deno.test("a page that is being read is read once, and until nobody waits for it", async () => {
  const cache = new PageCache();
  const reading = Promise.withResolvers<DocumentPage>();
  const signals: AbortSignal[] = [];
  const read = (signal: AbortSignal) => {
    signals.push(signal);
    signal.addEventListener("abort", () => reading.reject(signal.reason));
    return reading.promise;
  };
  const [first, second] = [new AbortController(), new AbortController()];
  const answers = [first, second].map(({ signal }) => cache.get("a/0", { signal, read }));
  first.abort(new TypeError("not wanted"));
  await assertRejects(async () => await answers[0], TypeError, "not wanted");
  assertEquals(signals.map(({ aborted }) => aborted), [false]);
  second.abort(new TypeError("not wanted either"));
  await assertRejects(async () => await answers[1], TypeError, "not wanted either");
  assertEquals(signals.map(({ aborted }) => aborted), [true]);
  assertEquals(
    await cache.get("a/0", { signal: undefined, read: () => Promise.resolve(PAGE) }),
    PAGE,
  );
});

Deno.test("a page whose only reader has left is read anew for the next reader", async () => {
  const cache = new PageCache();
  const left = new AbortController();
  const abandoned = Promise.withResolvers<DocumentPage>();
  const first = cache.get("a/0", { signal: left.signal, read: () => abandoned.promise });
  left.abort(new TypeError("not wanted"));
  await assertRejects(async () => await first, TypeError, "not wanted");
  const second = cache.get("a/0", { signal: undefined, read: () => Promise.resolve(PAGE) });
  abandoned.reject(left.signal.reason);
  assertEquals(await second, PAGE);
});

Deno.test("a page that was read is kept, also after its reader has gone", async () => {
  const cache = new PageCache();
  let reads = 0;
  const read = () => {
    reads++;
    return Promise.resolve(PAGE);
  };
  await cache.get("a/0", { signal: undefined, read });
  await cache.get("a/0", { signal: new AbortController().signal, read });
  assertEquals(reads, 1);
});
