import { assertEquals, assertRejects } from "@std/assert";
import { setImmediate } from "node:timers/promises";
import { openConnection } from "../../../src/link/connect.ts";
import { FakeTimers } from "../../fixtures/fake_timers.ts";
import { ClosedPort } from "../../fixtures/tcp_proxy.ts";
import { within } from "../../fixtures/within.ts";

Deno.test("an attempt that is ended between a failure and its report leaves no timer", async () => {
  await using port = await ClosedPort.open();
  using timers = new FakeTimers();
  const ending = new AbortController();
  const context = { onEvent: () => {}, signal: ending.signal, timeoutMs: 60_000 };
  const connecting = openConnection({ url: port.url }, context);
  const begun = timers.waiting;
  // The clock of `within()` stands still.
  for (let turn = 0; timers.waiting === begun && turn < 100_000; turn++) await setImmediate();
  assertEquals(timers.waiting, begun + 1);
  ending.abort();
  await assertRejects(() => connecting, DOMException);
  assertEquals(timers.waiting, 0);
});

Deno.test("a connection whose Server has stopped reading is closed after a second, and nothing of it is left", async () => {
  const stuck = Promise.withResolvers<void>();
  const answers = [
    '0{"sid":"s","upgrades":[],"pingInterval":25000,"pingTimeout":20000}',
    '40/smcp,{"sid":"n"}',
  ];
  const never = new Promise<Response>(() => {});
  let posts = 0;
  const controller = new AbortController();
  const server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen() {},
    signal: controller.signal,
  }, async (request) => {
    if (request.method === "GET") return answers.length > 0 ? new Response(answers.shift()) : await never;
    await request.text();
    if (posts++ === 0) return new Response("ok");
    stuck.resolve();
    return await never;
  });
  const context = { onEvent: () => {}, signal: new AbortController().signal, timeoutMs: 60_000 };
  const connection = await openConnection({ url: `http://127.0.0.1:${server.addr.port}` }, context);
  connection.emit("server:update_config", {});
  await within(stuck.promise, "a request that is not answered");
  await within(connection.close(), "the end");
  controller.abort();
  await server.finished;
});
