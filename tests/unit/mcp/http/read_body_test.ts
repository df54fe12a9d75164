import { assertEquals, assertRejects } from "@std/assert";
import { Limiter } from "../../../../src/async/limiter.ts";
import { BodyEvents, type BodyReading, readBody } from "../../../../src/mcp/http/body_events.ts";
import { Inflow } from "../../../../src/mcp/json_rpc.ts";
import { within } from "../../../fixtures/within.ts";

const limits = { maxMessageBytes: 1_000_000, maxMessageValues: 1_000_000 };

/** Reads a body of JSON to its end; resolves to its text. */
async function read(body: ReadableStream<Uint8Array>, options: Partial<BodyReading> = {}): Promise<string> {
  let text = "";
  await readBody(body, {
    events: new BodyEvents(limits, { isEventStream: false }),
    onEvent: ({ data }) => void (text += data),
    inflow: new Inflow(),
    silenceMs: 60_000,
    mayBeSilent: () => false,
    turns: new Limiter(1),
    signal: new AbortController().signal,
    ...options,
  });
  return text;
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

Deno.test("a body is read to its end", async () => {
  assertEquals(await read(bodyOf("[1]", "close")), "[1]");
});

Deno.test("a broken body rejects with the error", async () => {
  await assertRejects(() => read(bodyOf("[1]", "error")), TypeError, "broken");
});

Deno.test("a body that is silent for too long counts as broken", async () => {
  await assertRejects(() => read(bodyOf("[1]", "hang"), { silenceMs: 1 }), TypeError, "no data for 1 ms");
});

Deno.test("a body may be silent for longer while a question of its server waits for an answer", async () => {
  let questions = 3;
  const mayBeSilent = () => questions-- > 0;
  const reading = read(bodyOf("[1]", "hang"), { silenceMs: 1, mayBeSilent });
  await assertRejects(() => reading, TypeError, "no data for 1 ms");
  assertEquals(questions, -1);
});

Deno.test("a body is cancelled by its signal, and rejects with the reason", async () => {
  for (const isAborted of [true, false]) {
    const cancelled = Promise.withResolvers<unknown>();
    const controller = new AbortController();
    const silent = new ReadableStream<Uint8Array>({ cancel: cancelled.resolve });
    if (isAborted) controller.abort(new TypeError("over"));
    const reading = read(silent, { signal: controller.signal });
    controller.abort(new TypeError("over"));
    await assertRejects(() => reading, TypeError, "over");
    assertEquals(String(await within(cancelled.promise, "the end of the body")), "TypeError: over");
  }
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
  await read(bodyOf("[1]", "close"), { signal });
  await assertRejects(() => read(bodyOf("[1]", "error"), { signal }));
  assertEquals(listeners, 0);
});

Deno.test("large messages of a server are read one at a time, together with small ones", async () => {
  const turns = new Limiter(1);
  const started = (size: number) => {
    let pulls = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pulls++ < 4) controller.enqueue(new Uint8Array(size).fill(0x20));
        else controller.close();
      },
    }, { highWaterMark: 0 });
    const events = new BodyEvents(limits, { isEventStream: false });
    return { events, text: read(body, { events, turns }), pulls: () => pulls };
  };
  const controller = new AbortController();
  const stuck = read(bodyOf("x".repeat(70_000), "hang"), { turns, signal: controller.signal });
  const large = started(70_000);
  assertEquals((await started(10).text).length, 40);
  assertEquals([large.pulls(), large.events.unfinishedBytes], [1, 70_000]);
  controller.abort(new TypeError("over"));
  await assertRejects(() => stuck, TypeError, "over");
  assertEquals((await large.text).length, 280_000);
});
