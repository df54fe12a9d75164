import { assertEquals } from "@std/assert";
import { Listeners, MAX_WAITING_EVENTS, streamEvents } from "../../../src/agent/listeners.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import { silentLogger } from "../../../src/log.ts";
import { within } from "../../fixtures/within.ts";

function change(computer: string): AgentEvent {
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
  listeners.tell(change("a"));
  listeners.tell({ type: "updateFinder", computer: "other" });
  assertEquals(await events.next(), { done: false, value: change("a") });
  const next = events.next();
  listeners.tell(change("b"));
  assertEquals(await next, { done: false, value: change("b") });
  await events.return?.();
});

Deno.test("streamEvents() yields what is waiting when its signal is aborted, then ends", async () => {
  const controller = new AbortController();
  const { listeners, events } = open(controller.signal);
  listeners.tell(change("a"));
  controller.abort();
  assertEquals(await Array.fromAsync(events), [change("a")]);
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
  read.listeners.tell(change("a"));
  for await (const _ of read.events) break;
  const unread = open(controller.signal);
  await unread.events.return?.();
  assertEquals([read.listeners.has("updateDesktop"), unread.listeners.has("updateDesktop")], [false, false]);
});

Deno.test("streamEvents() drops the oldest events of a reader that is too slow", async () => {
  const controller = new AbortController();
  const { listeners, dropped, events } = open(controller.signal);
  for (let i = 0; i < MAX_WAITING_EVENTS + 2; i++) listeners.tell(change(`${i}`));
  assertEquals(dropped, [change("0"), change("1")]);
  assertEquals((await events.next()).value, change("2"));
  await events.return?.();
});
