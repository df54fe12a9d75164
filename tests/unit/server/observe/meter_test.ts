import { assertEquals } from "@std/assert";
import { type EventCounts, LATENCY_BOUNDS_S, Meter, ticksNow } from "../../../../src/server/observe/meter.ts";

/** The counts above 0, of all events that occurred. */
function countsOf(meter: Meter, what: "outcomes" | "codes" | "latencies"): readonly (readonly unknown[])[] {
  const occurred = ({ event, [what]: counts }: EventCounts) =>
    [...counts.entries()].filter(([, count]) => count > 0).map((entry) => [event, ...entry]);
  return meter.events().flatMap(occurred);
}

Deno.test("a Meter counts an event by its name and its outcome", () => {
  const meter = new Meter();
  for (let i = 0; i < 3; i++) {
    meter.ended({ event: "server:join_office", startedAt: ticksNow() }, "handled");
  }
  assertEquals(countsOf(meter, "outcomes"), [["server:join_office", "handled", 3]]);
  assertEquals(countsOf(meter, "latencies"), [], "only relayed requests have a latency");
});

Deno.test("a Meter counts events that it does not know by their kind, whatever their names", () => {
  const meter = new Meter();
  for (let i = 0; i < 1_000; i++) {
    for (const kind of ["client:", "server:update_", "server:", ""]) {
      const unknown = { event: `${kind}${crypto.randomUUID()}`, startedAt: 0 };
      meter.ended(unknown, "error");
      meter.failed(unknown, 100_000 + i);
    }
  }
  assertEquals(countsOf(meter, "outcomes"), [
    ["client:other", "error", 1_000],
    ["server:update_other", "error", 1_000],
    ["other", "error", 2_000],
  ]);
  assertEquals(countsOf(meter, "codes").map(([, code]) => code), ["other", "other", "other"]);
});

Deno.test("a Meter puts a latency into the bucket of its size, and adds it to the sum", () => {
  const meter = new Meter();
  const event = "client:tool_call";
  const now = ticksNow();
  // A tick is a tenth of a millisecond.
  meter.ended({ event, startedAt: now - 400_000 }, "answered");
  meter.ended({ event, startedAt: now - 4_000_000 }, "computer_error");
  assertEquals(countsOf(meter, "latencies"), [[event, 60, 1], [event, Infinity, 1]]);
  assertEquals(LATENCY_BOUNDS_S.at(-1), 300);
  assertEquals(sumOf(meter), 440);
});

Deno.test("a Meter measures a latency while its clock wraps", () => {
  const meter = new Meter();
  const startedAt = (ticksNow() - 20_000) | 0;
  const wrapped = (startedAt + 2 ** 32) | 0;
  meter.ended({ event: "client:tool_call", startedAt: wrapped }, "answered");
  assertEquals(sumOf(meter), 2);
});

/** The seconds of all latencies, rounded. */
function sumOf(meter: Meter): number {
  return Math.round(meter.events().reduce((sum, { latencySumS }) => sum + latencySumS, 0));
}
