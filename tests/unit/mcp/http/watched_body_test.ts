import { assertEquals, assertRejects } from "@std/assert";
import { EventFrames } from "../../../../src/mcp/http/body_frames.ts";
import { Inflow } from "../../../../src/mcp/inflow.ts";
import { type BodyEnd, LargeMessages, watchBody } from "../../../../src/mcp/http/watched_body.ts";
import { within } from "../../../fixtures/within.ts";

const limits = { maxMessageBytes: 1_000, maxMessageValues: 1_000 };

function parts() {
  return {
    frames: new EventFrames(limits, { isJson: true }),
    inflow: new Inflow(),
    largeMessages: new LargeMessages(),
  };
}

function watch(body: ReadableStream<Uint8Array>, silenceMs = 60_000) {
  const ends: BodyEnd[] = [];
  return { body: watchBody(body, { ...parts(), silenceMs, onEnd: (end) => void ends.push(end) }), ends };
}

function bodyOf(text: string, end: "close" | "error" | "hang"): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      if (end === "close") controller.close();
    },
    pull(controller) {
      if (end === "error") controller.error(new TypeError("broken"));
    },
  });
}

Deno.test("a body is passed on unchanged, and its end is reported", async () => {
  const { body, ends } = watch(bodyOf("hello", "close"));
  assertEquals([await new Response(body).text(), ends], ["hello", ["complete"]]);
});

Deno.test("a broken body passes the error on, and reports it", async () => {
  const { body, ends } = watch(bodyOf("hello", "error"));
  await assertRejects(() => new Response(body).text(), TypeError, "broken");
  assertEquals(ends, ["broken"]);
});

Deno.test("a body that is silent for too long counts as broken", async () => {
  const { body, ends } = watch(bodyOf("hello", "hang"), 1);
  await assertRejects(() => new Response(body).text(), TypeError, "no data for 1 ms");
  assertEquals(ends, ["broken"]);
});

Deno.test("a body may be silent for longer while a question of its server waits for an answer", async () => {
  let questions = 3;
  const mayBeSilent = () => questions-- > 0;
  const body = watchBody(bodyOf("hello", "hang"), { ...parts(), silenceMs: 1, mayBeSilent, onEnd() {} });
  await assertRejects(() => new Response(body).text(), TypeError, "no data for 1 ms");
  assertEquals(questions, -1);
});

Deno.test("a body that its reader cancels has not ended, and leaves no timer", async () => {
  const ends: BodyEnd[] = [];
  const frames = new EventFrames(limits);
  const onEnd = (end: BodyEnd) => void ends.push(end);
  const body = watchBody(bodyOf("data: hello\n\n", "hang"), { ...parts(), frames, silenceMs: 60_000, onEnd });
  const reader = body.getReader();
  await reader.read();
  const waiting = reader.read();
  await reader.cancel();
  await waiting;
  assertEquals(ends, []);
});

Deno.test("a body is cancelled by its signal, and has not ended by itself", async () => {
  const cancelled = Promise.withResolvers<unknown>();
  const controller = new AbortController();
  const ends: BodyEnd[] = [];
  const silent = new ReadableStream<Uint8Array>({ cancel: cancelled.resolve });
  const body = watchBody(silent, {
    ...parts(),
    silenceMs: 60_000,
    onEnd: (end) => void ends.push(end),
    signal: controller.signal,
  });
  const text = new Response(body).text();
  controller.abort(new TypeError("over"));
  await assertRejects(() => text, TypeError, "over");
  assertEquals([String(await cancelled.promise), ends], ["TypeError: over", []]);
});

Deno.test("a body whose signal is already aborted is cancelled at once", async () => {
  const cancelled = Promise.withResolvers<unknown>();
  const silent = new ReadableStream<Uint8Array>({ cancel: cancelled.resolve });
  const signal = AbortSignal.abort(new TypeError("over"));
  const body = watchBody(silent, { ...parts(), silenceMs: 60_000, onEnd() {}, signal });
  await assertRejects(() => new Response(body).text(), TypeError, "over");
  await within(cancelled.promise, "the end of the body");
});

Deno.test("a body that has ended no longer listens to its signal", async () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (
    ...args: unknown[]
  ) => (listeners++, Reflect.apply(addEventListener, signal, args));
  signal.removeEventListener = (
    ...args: unknown[]
  ) => (listeners--, Reflect.apply(removeEventListener, signal, args));
  const watched = (end: "close" | "error" | "hang") =>
    watchBody(bodyOf("hello", end), { ...parts(), silenceMs: 60_000, onEnd() {}, signal });
  await new Response(watched("close")).text();
  await assertRejects(() => new Response(watched("error")).text());
  await watched("hang").cancel();
  assertEquals(listeners, 0);
});

Deno.test("large messages of a server are read one at a time, together with small ones", async () => {
  const roomy = { maxMessageBytes: 1_000_000, maxMessageValues: 1_000_000 };
  const largeMessages = new LargeMessages();
  const started = (size: number, end: "close" | "hang") => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ < 4) controller.enqueue(new Uint8Array(size).fill(0x20));
        else if (end === "close") controller.close();
      },
    }, { highWaterMark: 0 });
    const frames = new EventFrames(roomy, { isJson: true });
    const watched = watchBody(body, {
      ...parts(),
      frames,
      largeMessages,
      silenceMs: 60_000,
      onEnd() {},
    });
    return { frames, text: new Response(watched).text(), pulls: () => pulls };
  };
  const controller = new AbortController();
  const stuck = watchBody(bodyOf("x".repeat(70_000), "hang"), {
    ...parts(),
    frames: new EventFrames(roomy, { isJson: true }),
    largeMessages,
    silenceMs: 60_000,
    onEnd() {},
    signal: controller.signal,
  });
  const stuckText = new Response(stuck).text();
  const large = started(70_000, "close");
  assertEquals((await started(10, "close").text).length, 40);
  assertEquals([large.pulls(), large.frames.unfinishedBytes], [1, 70_000]);
  controller.abort(new TypeError("over"));
  await assertRejects(() => stuckText, TypeError, "over");
  assertEquals((await large.text).length, 280_000);
});
