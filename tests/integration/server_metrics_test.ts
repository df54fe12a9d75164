import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { startDoor } from "../fixtures/door.ts";
import { eventually } from "../fixtures/within.ts";
import { RawPeer } from "./_socket.ts";

const ada = { role: "agent", name: "ada", office_id: "lab" } as const;
const laptop = { role: "computer", name: "laptop", office_id: "lab" } as const;
const call = { agent: "ada", req_id: "r1", computer: "laptop", tool_name: "echo", params: {} };

/** The value of a series. */
function valueOf(text: string, series: string): number | undefined {
  const line = text.split("\n").find((line) => line.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

Deno.test("metrics() counts requests by event and outcome, errors by code, latencies, members and bytes", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  computer.serve("client:tool_call", () => [{ content: [], isError: false }]);
  computer.serve("client:get_tools", () => [{ code: 500, message: "no" }]);
  for (let i = 0; i < 3; i++) await agent.request("client:tool_call", call);
  await agent.request("client:get_tools", call);
  await agent.request("client:tool_call", { ...call, computer: "phone" });
  await agent.request("client:tool_call", { ...call, req_id: 1 });
  const asked = computer.nextRequest("client:get_desktop");
  agent.request("client:get_desktop", call).catch(() => {});
  await asked;
  const text = await server.metrics();
  const expected = {
    'a2c_requests_total{event="client:tool_call",outcome="answered"}': 3,
    'a2c_requests_total{event="client:tool_call",outcome="error"}': 2,
    'a2c_requests_total{event="client:get_tools",outcome="computer_error"}': 1,
    'a2c_requests_total{event="server:join_office",outcome="handled"}': 2,
    'a2c_request_errors_total{event="client:get_tools",code="500"}': 1,
    'a2c_request_errors_total{event="client:tool_call",code="404"}': 1,
    'a2c_request_errors_total{event="client:tool_call",code="400"}': 1,
    'a2c_relay_duration_seconds_count{event="client:tool_call"}': 3,
    'a2c_relay_duration_seconds_bucket{event="client:tool_call",le="+Inf"}': 3,
    'a2c_connections{role="agent"}': 1,
    'a2c_connections{role="computer"}': 1,
    "a2c_offices": 1,
    "a2c_requests_in_flight": 1,
    "a2c_ready": 1,
  };
  const found = Object.keys(expected).map((series) => [series, valueOf(text, series)]);
  assertEquals(Object.fromEntries(found), expected);
  for (const direction of ["received", "sent"]) {
    assertMatch(text, new RegExp(`a2c_bytes_total{direction="${direction}"} [1-9]`));
  }
});

Deno.test("a failed tool call counts as an error with its code, and what the tool itself tells or asks as an answer", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true });
  await using agent = await RawPeer.join(server.url, ada);
  await using computer = await RawPeer.join(server.url, laptop);
  const metas = [
    { error_code: 4003, a2c_reason: "paused" },
    { error_code: 4004, a2c_timeout: true },
    { error_code: 123456 },
    // The tool's own failure, an open question, and fields that say nothing.
    {},
    { error_code: 4005, a2c_input_required: "{}" },
    { error_code: "4003" },
  ];
  const results = [
    // A long text is not parsed.
    ...metas.map((meta) => ({ content: [{ type: "text", text: "x".repeat(100_000) }], isError: true, meta })),
    { content: [], isError: false, meta: { error_code: 4003 } },
  ];
  computer.serve("client:tool_call", () => [results.shift()]);
  for (let i = results.length; i > 0; i--) {
    await agent.request("client:tool_call", { ...call, req_id: `r${i}` });
  }
  const text = await server.metrics();
  const expected = {
    'a2c_requests_total{event="client:tool_call",outcome="computer_error"}': 3,
    'a2c_requests_total{event="client:tool_call",outcome="answered"}': 4,
    'a2c_request_errors_total{event="client:tool_call",code="4003"}': 1,
    'a2c_request_errors_total{event="client:tool_call",code="4004"}': 1,
    'a2c_request_errors_total{event="client:tool_call",code="other"}': 1,
    'a2c_request_errors_total{event="client:tool_call",code="4005"}': 0,
  };
  const found = Object.keys(expected).map((series) => [series, valueOf(text, series)]);
  assertEquals(Object.fromEntries(found), expected);
});

Deno.test("metrics() counts refused handshakes, credentials and members by their reason", async () => {
  const auth = { authenticate: () => ({ refused: "nobody" }) };
  await using server = await SmcpServer.listen({ port: 0, metrics: true, auth });
  await assertRejects(() => RawPeer.connect(server.url));
  for (const version of ["9.9.9", "x"]) {
    const answer = await fetch(`${server.url}/socket.io/?EIO=4&transport=polling&a2c_version=${version}`);
    await answer.body?.cancel();
  }
  const text = await server.metrics();
  for (const reason of ["credentials", "version", "invalid_request"]) {
    assertEquals(valueOf(text, `a2c_refusals_total{reason="${reason}"}`), 1, reason);
  }
});

Deno.test("metrics() of a Server that does not count says which option is missing", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await assertRejects(() => server.metrics(), TypeError, "without them");
  const answer = await fetch(`${server.url}/metrics`);
  await answer.body?.cancel();
  assertEquals([answer.status, server.metricsUrl], [404, undefined]);
});

Deno.test("server.ts serves metrics on a port of their own with the permissions that it always has", async () => {
  const permissions = ["--allow-net", "--ignore-env", "--allow-env=A2C_METRICS_PORT"];
  const env = { A2C_METRICS_PORT: "0" };
  await using program = startDoor("server.ts", ["--port", "0"], { env, permissions });
  await program.said("serving metrics");
  const [, url = ""] = /serving metrics url=(\S+)/.exec(program.stderr.text) ?? [];
  const answer = await fetch(url);
  assertStringIncludes(answer.headers.get("content-type") ?? "", "version=0.0.4");
  const text = await answer.text();
  assertStringIncludes(text, "# TYPE a2c_relay_duration_seconds histogram");
  assertMatch(text, /^process_resident_memory_bytes [1-9]/m);
  for (const path of ["/healthz", "/readyz"]) {
    const check = await fetch(new URL(path, url));
    await check.body?.cancel();
    assertEquals(check.status, 200, path);
  }
  program.kill("SIGTERM");
  assertEquals((await program.end()).code, 0);
});

Deno.test("a member that leaves is no longer counted", async () => {
  await using server = await SmcpServer.listen({ port: 0, metrics: true });
  const agent = await RawPeer.join(server.url, ada);
  await agent[Symbol.asyncDispose]();
  const offices = async () => valueOf(await server.metrics(), "a2c_offices");
  await eventually(offices, (offices) => offices === 0, "the end of the office");
});
