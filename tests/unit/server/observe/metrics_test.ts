import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Meter, ticksNow } from "../../../../src/server/observe/meter.ts";
import { type Snapshot, writeMetrics } from "../../../../src/server/observe/metrics.ts";

const snapshot: Snapshot = {
  connections: [
    { member: { officeId: "lab", role: "agent", isObserver: false }, inFlight: { requests: 0, bytes: 0 } },
    {
      member: { officeId: "lab", role: "computer", isObserver: false },
      inFlight: { requests: 2, bytes: 30 },
    },
    { member: { officeId: "den", role: "computer", isObserver: false }, inFlight: { requests: 1, bytes: 4 } },
    { member: undefined, inFlight: { requests: 0, bytes: 0 } },
  ],
  otherConnections: 4,
  messageBytes: 8,
  isReady: true,
  certificateExpiresAtMs: undefined,
  refusedFiles: 0,
  auditLinesLost: undefined,
  outside: {},
};

/** The lines of one metric, without its help. */
function linesOf(name: string, meter = new Meter(), own: Partial<Snapshot> = {}): readonly string[] {
  const text = writeMetrics({ ...snapshot, ...own, meter });
  const block = text.split("\n\n").find((block) => block.startsWith(`# HELP ${name} `));
  return block?.trimEnd().split("\n").slice(1) ?? [];
}

Deno.test("the text of the metrics has help, type and samples of each, with an empty line between", () => {
  assertEquals(linesOf("a2c_connections"), [
    "# TYPE a2c_connections gauge",
    'a2c_connections{role="agent"} 1',
    'a2c_connections{role="computer"} 2',
    'a2c_connections{role="observer"} 0',
    'a2c_connections{role="none"} 1',
  ]);
  assertEquals(linesOf("a2c_offices").at(-1), "a2c_offices 2");
  assertEquals(linesOf("a2c_requests_in_flight").at(-1), "a2c_requests_in_flight 3");
  assertEquals(linesOf("a2c_bytes_in_flight").at(-1), "a2c_bytes_in_flight 34");
  assertEquals(linesOf("a2c_ready"), ["# TYPE a2c_ready gauge", "a2c_ready 1"]);
  assertEquals(linesOf("a2c_requests_total"), ["# TYPE a2c_requests_total counter"]);
});

Deno.test("codes of failed tool calls are there before the first one; those of other events from the first one on", () => {
  const meter = new Meter();
  const codesOf = (event: string) =>
    linesOf("a2c_request_errors_total", meter).filter((line) => line.includes(`{event="${event}"`));
  const series = 'a2c_request_errors_total{event="client:tool_call",code="4003"}';
  assert(codesOf("client:tool_call").includes(`${series} 0`));
  assertEquals(codesOf("client:get_tools"), []);
  for (const event of ["client:tool_call", "client:get_tools"]) {
    meter.failed({ event, startedAt: ticksNow() }, 4003);
  }
  assert(codesOf("client:tool_call").includes(`${series} 1`));
  assertEquals(codesOf("client:get_tools").length, 1);
});

Deno.test("a latency is in all buckets from its own on, and in sum and count", () => {
  const meter = new Meter();
  meter.ended({ event: "client:tool_call", startedAt: ticksNow() - 40_000 }, "answered");
  const lines = linesOf("a2c_relay_duration_seconds", meter);
  const event = 'event="client:tool_call"';
  for (const [bound, count] of [["2.5", 0], ["5", 1], ["300", 1], ["+Inf", 1]]) {
    assert(
      lines.includes(`a2c_relay_duration_seconds_bucket{${event},le="${bound}"} ${count}`),
      bound?.toString(),
    );
  }
  assertStringIncludes(lines.at(-2) ?? "", `a2c_relay_duration_seconds_sum{${event}} 4`);
  assertEquals(lines.at(-1), `a2c_relay_duration_seconds_count{${event}} 1`);
});

Deno.test("metrics of TLS and of the audit log are there only with them", () => {
  const [tls, audit] = ["a2c_tls_certificate_expiry_timestamp_seconds", "a2c_audit_lines_lost_total"];
  assertEquals([linesOf(tls), linesOf(audit)], [[], []]);
  const own = { certificateExpiresAtMs: 1_500, auditLinesLost: 0 };
  assertEquals(linesOf(tls, new Meter(), own), [`# TYPE ${tls} gauge`, `${tls} 1.5`]);
  assertEquals(linesOf(audit, new Meter(), own), [`# TYPE ${audit} counter`, `${audit} 0`]);
});
