import { assert, assertEquals, assertRejects } from "@std/assert";
import { MAX_UNREAD_BYTES, whenDone } from "../../../../src/http/mcp/answers.ts";
import { within } from "../../../fixtures/within.ts";

const PIECE = new Uint8Array(1024 * 1024);

Deno.test("whenDone() passes on an answer, and tells its end once", async () => {
  let ended = 0;
  const response = whenDone(new Response("hello", { status: 201, headers: { "x-a": "b" } }), () => ended++);
  assertEquals([response.status, response.headers.get("x-a"), ended], [201, "b", 0]);
  assertEquals([await response.text(), ended], ["hello", 1]);
  whenDone(new Response(null), () => ended++);
  assertEquals(ended, 2);
});

Deno.test("whenDone() tells that the reader of an answer is gone", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  await whenDone(new Response(endless), resolve).body?.cancel();
  await within(promise, "the end of the answer");
  assert(cancelled);
});

Deno.test("whenDone() ends an answer that nobody reads, and its sender", async () => {
  const ended = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  let sender: ReadableStreamDefaultController<Uint8Array> | undefined;
  const endless = new ReadableStream<Uint8Array>({
    start: (controller) => void (sender = controller),
    cancel: () => stopped.resolve(),
  });
  const response = whenDone(new Response(endless), ended.resolve);
  for (let size = 0; size <= MAX_UNREAD_BYTES; size += PIECE.length) sender?.enqueue(PIECE);
  await within(Promise.all([ended.promise, stopped.promise]), "the end of the answer");
  await assertRejects(() => response.arrayBuffer(), Error, "wait to be read");
});

Deno.test("whenDone() passes on one piece of any size", async () => {
  const large = new Uint8Array(MAX_UNREAD_BYTES + 1);
  const response = whenDone(new Response(large), () => undefined);
  assertEquals((await response.arrayBuffer()).byteLength, large.length);
});
