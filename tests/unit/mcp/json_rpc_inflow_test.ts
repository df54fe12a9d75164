import { assert, assertEquals } from "@std/assert";
import { settledWithin } from "../../../src/async/abortable.ts";
import { Inflow } from "../../../src/mcp/json_rpc.ts";
import { MAX_WAITING_ANSWERS, UNASKED } from "../../../src/mcp/limits.ts";

const isReady = async (inflow: Inflow, withinMs: number) =>
  await settledWithin(inflow.ready().then(() => true), withinMs) ?? false;

Deno.test("a server is read while it reads its answers, and waits while it does not", async () => {
  const inflow = new Inflow();
  const taken = Promise.withResolvers<void>();
  const answers = Array.from({ length: MAX_WAITING_ANSWERS }, () => inflow.answering(taken.promise));
  assertEquals([inflow.isReady, await isReady(inflow, 20)], [false, false]);
  taken.resolve();
  await Promise.all(answers);
  assert(await isReady(inflow, 60_000));
  assert(inflow.isReady);
});

Deno.test("unrequested messages are read at a bounded pace after a burst", async () => {
  const inflow = new Inflow();
  await inflow.ready();
  for (let count = 0; count < UNASKED.burst - 1; count++) inflow.take(0);
  assert(await isReady(inflow, 60_000));
  const startMs = performance.now();
  for (let count = 0; count < 10_000; count++) inflow.take(0);
  await inflow.ready();
  assert(performance.now() - startMs > 100);
});

Deno.test("a closed inflow does not wait", async () => {
  const inflow = new Inflow();
  inflow.take(1_000_000_000);
  const waiting = inflow.ready();
  inflow.close();
  await waiting;
  assert(inflow.isReady);
});
