import { assertEquals } from "@std/assert";
import { LATENCY_BOUNDS_S, Tally } from "../../../../src/server/observe/tally.ts";

const lone = <T>(each: Iterable<T>): T | undefined => {
  const [first, ...more] = each;
  assertEquals(more, []);
  return first;
};

Deno.test("a Tally counts an event by its name and its outcome", () => {
  const tally = new Tally();
  for (let i = 0; i < 3; i++) {
    tally.ended({ event: "server:join_office", startedAt: tally.start() }, "handled");
  }
  assertEquals(lone(tally.requests()), {
    labels: { event: "server:join_office", outcome: "handled" },
    value: 3,
  });
  assertEquals([...tally.latencies()], [], "only relayed requests have a latency");
});

Deno.test("a Tally counts events that it does not know by their kind, whatever their names", () => {
  const tally = new Tally();
  for (let i = 0; i < 1_000; i++) {
    for (const kind of ["client:", "server:update_", "server:", ""]) {
      tally.failed({ event: `${kind}${crypto.randomUUID()}`, startedAt: 0 }, 100_000 + i);
    }
  }
  const counts = [...tally.requests()].map(({ labels, value }) => [labels.event, labels.outcome, value]);
  assertEquals(counts, [["client:other", "error", 1_000], ["server:update_other", "error", 1_000], [
    "other",
    "error",
    2_000,
  ]]);
  assertEquals(new Set([...tally.errors()].map(({ labels }) => labels.code)), new Set(["other"]));
});

Deno.test("a Tally puts a latency into the bucket of its size, and adds it to the sum", () => {
  const tally = new Tally();
  const event = "client:tool_call";
  const now = tally.start();
  // A tick is a tenth of a millisecond.
  tally.ended({ event, startedAt: now - 400_000 }, "answered");
  tally.ended({ event, startedAt: now - 4_000_000 }, "computer_error");
  const latencies = lone(tally.latencies());
  assertEquals(latencies?.event, event);
  assertEquals(latencies?.buckets[LATENCY_BOUNDS_S.indexOf(60)], 1, "40 s");
  assertEquals(latencies?.buckets.at(-1), 1, "400 s");
  assertEquals(Math.round(latencies?.sumSeconds ?? 0), 440);
});

Deno.test("a Tally measures a latency while its clock wraps", () => {
  const tally = new Tally();
  const startedAt = (tally.start() - 20_000) | 0;
  const wrapped = (startedAt + 2 ** 32) | 0;
  tally.ended({ event: "client:tool_call", startedAt: wrapped }, "answered");
  assertEquals(Math.round(lone(tally.latencies())?.sumSeconds ?? 0), 2);
});

Deno.test("a Tally counts the bytes of texts as UTF-8, and of binary data", () => {
  const tally = new Tally();
  tally.received("é");
  tally.received(new Uint8Array(10));
  tally.received(undefined);
  tally.sent("abc");
  assertEquals(tally.bytes, { received: 12, sent: 3 });
});
