import { assertEquals, assertRejects } from "@std/assert";
import { type BodyEnd, watchBody } from "../../../src/mcp/watched_body.ts";

function watch(body: ReadableStream<Uint8Array>, silenceMs = 60_000) {
  const ends: BodyEnd[] = [];
  return { body: watchBody(body, { silenceMs, onEnd: (end) => void ends.push(end) }), ends };
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
