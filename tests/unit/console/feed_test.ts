import { assert, assertEquals } from "@std/assert";
import { EventFeed } from "../../../src/console/feed.ts";
import { within } from "../../fixtures/within.ts";
import { ToldEvents } from "../../integration/_console.ts";

function follow(feed: EventFeed): ToldEvents {
  const aborted = new AbortController();
  const response = feed.read({ signal: aborted.signal });
  assert(response?.body, "the feed has no room");
  return new ToldEvents(response.body, aborted);
}

Deno.test("a reader gets what is told from now on, in order", async () => {
  using feed = closing(new EventFeed());
  feed.publish("before", { n: 0 });
  await using events = follow(feed);
  feed.publish("a", { n: 1 });
  feed.publish("b", { n: 2 });
  const [one, two] = [await events.next(), await events.next()];
  assertEquals([one.event, one.data, two.event, two.data], ["a", { n: 1 }, "b", { n: 2 }]);
});

Deno.test("`reset` is told to a reader whose next event is not kept any more", async () => {
  using feed = closing(new EventFeed());
  await using events = follow(feed);
  for (let n = 0; n < 3_000; n++) feed.publish("a", { n });
  assertEquals((await events.next()).event, "reset");
  feed.publish("b", {});
  assertEquals((await events.next()).event, "b");
});

Deno.test("events without a value are merged, and the last one is always told", async () => {
  using feed = closing(new EventFeed({ mergeMs: 20 }));
  await using events = follow(feed);
  for (let n = 0; n < 100; n++) feed.publish("desktop");
  assertEquals((await events.next()).event, "desktop");
  assertEquals((await events.next()).event, "desktop");
  feed.publish("end", {});
  assertEquals((await events.next()).event, "end");
});

Deno.test("of what changes often, the newest value of each key is told", async () => {
  using feed = closing(new EventFeed({ mergeMs: 20 }));
  await using events = follow(feed);
  for (let n = 0; n < 100; n++) feed.publish("running", { id: n % 2, n }, { key: String(n % 2) });
  const told = [await events.next(), await events.next(), await events.next(), await events.next()];
  assertEquals(told.map(({ data }) => data), [
    ...[{ id: 0, n: 0 }, { id: 1, n: 1 }],
    ...[{ id: 0, n: 98 }, { id: 1, n: 99 }],
  ]);
});

Deno.test("the last event of a key is told at once, and nothing older after it", async () => {
  using feed = closing(new EventFeed({ mergeMs: 20 }));
  await using events = follow(feed);
  for (let n = 0; n < 3; n++) feed.publish("running", { n }, { key: "1" });
  feed.publish("running", { isOver: true }, { key: "1", isLast: true });
  const told = [await events.next(), await events.next()];
  assertEquals(told.map(({ data }) => data), [{ n: 0 }, { isOver: true }]);
  feed.publish("merged");
  feed.publish("merged");
  assertEquals([(await events.next()).event, (await events.next()).event], ["merged", "merged"]);
});

Deno.test("the text of others stays within its event", async () => {
  using feed = closing(new EventFeed());
  await using events = follow(feed);
  const text = "a\n\nevent: reset\ndata: {}\r\n\n\u2028";
  feed.publish("log", { text });
  assertEquals((await events.next()).data, { text });
});

Deno.test("a reader that takes nothing is ended", async () => {
  using feed = closing(new EventFeed({ keepAliveMs: 5, silenceMs: 20 }));
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  feed.whileRead(() => ({ [Symbol.dispose]: resolve }));
  const response = feed.read({ signal: new AbortController().signal });
  for (let n = 0; n < 100; n++) feed.publish("a", { n });
  await within(ended, "the end of the silent reader");
  // Only what was on its way already.
  assertEquals(await response?.text(), ": open\n\n");
});

Deno.test("a reader hears something although nothing happens, so that no proxy ends its connection", async () => {
  using feed = closing(new EventFeed({ keepAliveMs: 5 }));
  const aborted = new AbortController();
  const response = feed.read({ signal: aborted.signal });
  const reader = response?.body?.pipeThrough(new TextDecoderStream()).getReader();
  assertEquals((await reader?.read())?.value, ": open\n\n");
  assertEquals((await within(reader?.read() ?? Promise.reject(), "a comment"))?.value, ": \n\n");
  aborted.abort();
  await reader?.cancel();
});

Deno.test("whileRead() watches from the first reader to the last one", async () => {
  using feed = closing(new EventFeed());
  const told: string[] = [];
  feed.whileRead(() => {
    told.push("begin");
    return { [Symbol.dispose]: () => void told.push("end") };
  });
  const first = follow(feed);
  const second = follow(feed);
  await first[Symbol.asyncDispose]();
  assertEquals(told, ["begin"]);
  await second[Symbol.asyncDispose]();
  assertEquals(told, ["begin", "end"]);
  await using _third = follow(feed);
  assertEquals(told, ["begin", "end", "begin"]);
});

Deno.test("a feed refuses more than 32 readers, and takes another one when one has gone", async () => {
  using feed = closing(new EventFeed());
  const readers = Array.from({ length: 32 }, () => follow(feed));
  assertEquals(feed.read({ signal: new AbortController().signal }), undefined);
  await readers.pop()?.[Symbol.asyncDispose]();
  await using _again = follow(feed);
  for (const reader of readers) await reader[Symbol.asyncDispose]();
});

function closing(feed: EventFeed): EventFeed & Disposable {
  return Object.assign(feed, { [Symbol.dispose]: () => feed.close() });
}
