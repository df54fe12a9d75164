import { assertEquals } from "@std/assert";
import { Listeners, MAX_WAITING_EVENTS, streamEvents } from "../../../src/agent/listeners.ts";
import { type Logger, silentLogger } from "../../../src/log.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { within } from "../../fixtures/within.ts";

const change = { type: "updateDesktop", computer: "laptop" } as const;

Deno.test("Listeners calls everybody who listens for an event, in the order of coming", () => {
  const listeners = new Listeners(silentLogger);
  const calls: string[] = [];
  listeners.on("updateDesktop", ({ computer }) => void calls.push(`a ${computer}`));
  listeners.on("updateFinder", () => void calls.push("finder"));
  listeners.on("updateDesktop", ({ computer }) => void calls.push(`b ${computer}`));
  listeners.tell(change);
  assertEquals(calls, ["a laptop", "b laptop"]);
});

Deno.test("Listeners goes on after one that throws or rejects, and logs it", async () => {
  const errors: unknown[] = [];
  const logged = Promise.withResolvers<void>();
  const logger: Logger = {
    ...silentLogger,
    error(_message, fields) {
      errors.push(fields);
      if (errors.length === 2) logged.resolve();
    },
  };
  const listeners = new Listeners(logger);
  let isReached = false;
  listeners.on("updateDesktop", () => {
    throw new TypeError("sync");
  });
  listeners.on("updateDesktop", () => Promise.reject(new TypeError("async")));
  listeners.on("updateDesktop", () => void (isReached = true));
  listeners.tell(change);
  await within(logged.promise, "the log line");
  assertEquals(isReached, true);
  assertEquals(errors, [{ event: "updateDesktop", error: "sync" }, {
    event: "updateDesktop",
    error: "async",
  }]);
});

Deno.test("Listeners forgets one that unsubscribes, by call or by `using`", () => {
  const listeners = new Listeners(silentLogger);
  let calls = 0;
  const listener = () => void calls++;
  const unsubscribe = listeners.on("updateDesktop", listener);
  listeners.on("updateDesktop", listener);
  {
    using _ = listeners.on("updateDesktop", listener);
    assertEquals(listeners.has("updateDesktop"), true);
  }
  unsubscribe();
  unsubscribe();
  listeners.tell(change);
  assertEquals([calls, listeners.has("updateFinder")], [1, false]);
});

Deno.test("Listeners is not confused by one that subscribes or unsubscribes while it is told", () => {
  const listeners = new Listeners(silentLogger);
  const calls: string[] = [];
  listeners.on("updateDesktop", () => {
    calls.push("first");
    unsubscribe();
    listeners.on("updateDesktop", () => void calls.push("late"));
  });
  const unsubscribe = listeners.on("updateDesktop", () => void calls.push("second"));
  listeners.tell(change);
  assertEquals(calls, ["first", "second"]);
});

function changeOf(computer: string): AgentEvent {
  return { type: "updateDesktop", computer };
}

function open(signal: AbortSignal) {
  const listeners = new Listeners(silentLogger);
  const dropped: AgentEvent[] = [];
  const types = ["updateDesktop", "updateDesktop"] as const;
  const events = streamEvents(listeners, { types, signal, onDrop: (event) => void dropped.push(event) });
  return { listeners, dropped, events };
}

Deno.test("streamEvents() yields each event once, also those from before the first read", async () => {
  const controller = new AbortController();
  const { listeners, events } = open(controller.signal);
  listeners.tell(changeOf("a"));
  listeners.tell({ type: "updateFinder", computer: "other" });
  assertEquals(await events.next(), { done: false, value: changeOf("a") });
  const next = events.next();
  listeners.tell(changeOf("b"));
  assertEquals(await next, { done: false, value: changeOf("b") });
  await events.return?.();
});

Deno.test("streamEvents() yields what is waiting when its signal is aborted, then ends", async () => {
  const controller = new AbortController();
  const { listeners, events } = open(controller.signal);
  listeners.tell(changeOf("a"));
  controller.abort();
  assertEquals(await Array.fromAsync(events), [changeOf("a")]);
  assertEquals(listeners.has("updateDesktop"), false);
});

Deno.test("streamEvents() ends a read that waits when its signal is aborted", async () => {
  const controller = new AbortController();
  const { events } = open(controller.signal);
  const next = events.next();
  controller.abort();
  assertEquals((await next).done, true);
});

Deno.test("streamEvents() ends a read that waits when its reader leaves", async () => {
  const { events } = open(new AbortController().signal);
  const next = events.next();
  await within(Promise.resolve(events.return?.()), "the end of the stream");
  assertEquals((await next).done, true);
});

Deno.test("streamEvents() unsubscribes when its reader leaves, even one that never read", async () => {
  const controller = new AbortController();
  const read = open(controller.signal);
  read.listeners.tell(changeOf("a"));
  for await (const _ of read.events) break;
  const unread = open(controller.signal);
  await unread.events.return?.();
  assertEquals([read.listeners.has("updateDesktop"), unread.listeners.has("updateDesktop")], [false, false]);
});

Deno.test("streamEvents() drops the oldest events of a reader that is too slow", async () => {
  const controller = new AbortController();
  const { listeners, dropped, events } = open(controller.signal);
  for (let i = 0; i < MAX_WAITING_EVENTS + 2; i++) listeners.tell(changeOf(`${i}`));
  assertEquals(dropped, [changeOf("0"), changeOf("1")]);
  assertEquals((await events.next()).value, changeOf("2"));
  await events.return?.();
});
