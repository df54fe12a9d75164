import { assertEquals, assertRejects } from "@std/assert";
import { type BodyEnd, watchBody } from "../../../src/mcp/watched_body.ts";

function watch(body: ReadableStream<Uint8Array>, silenceMs = 60_000, signal?: AbortSignal) {
  const ends: BodyEnd[] = [];
  return { body: watchBody(body, { silenceMs, signal, onEnd: (end) => void ends.push(end) }), ends };
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

Deno.test("a body passes as it is and tells its end", async () => {
  const { body, ends } = watch(bodyOf("hello", "close"));
  assertEquals([await new Response(body).text(), ends], ["hello", ["complete"]]);
});

Deno.test("a body that breaks passes the error on and tells it", async () => {
  const { body, ends } = watch(bodyOf("hello", "error"));
  await assertRejects(() => new Response(body).text(), TypeError, "broken");
  assertEquals(ends, ["broken"]);
});

Deno.test("a body that says nothing for too long counts as broken", async () => {
  const { body, ends } = watch(bodyOf("hello", "hang"), 1);
  await assertRejects(() => new Response(body).text(), TypeError, "nothing came for 1 ms");
  assertEquals(ends, ["broken"]);
});

Deno.test("a body that its reader gives up has not ended, and leaves no timer", async () => {
  const { body, ends } = watch(bodyOf("hello", "hang"));
  const reader = body.getReader();
  await reader.read();
  const waiting = reader.read();
  await reader.cancel();
  await waiting;
  assertEquals(ends, []);
});

Deno.test("a body whose signal is aborted is given up, also where the abort does not reach its source", async () => {
  const abort = new AbortController();
  let isCancelled = false;
  const source = new ReadableStream<Uint8Array>({ cancel: () => void (isCancelled = true) });
  const { body, ends } = watch(source, 60_000, abort.signal);
  const reading = body.getReader().read();
  abort.abort(new TypeError("enough"));
  await assertRejects(() => reading, TypeError, "enough");
  assertEquals([isCancelled, ends], [true, []]);
});

Deno.test("a body whose signal is aborted before it is read is given up at once", async () => {
  const { body } = watch(bodyOf("hello", "hang"), 60_000, AbortSignal.abort(new TypeError("enough")));
  await assertRejects(() => new Response(body).text(), TypeError, "enough");
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
  for (const end of ["close", "error"] as const) {
    const { body } = watch(bodyOf("hello", end), 60_000, signal);
    await new Response(body).text().catch(() => {});
  }
  const { body } = watch(bodyOf("hello", "hang"), 60_000, signal);
  await body.cancel();
  assertEquals(listeners, 0);
});
