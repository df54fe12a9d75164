import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { RepeatedCalls } from "../../../../src/computer/tools/results.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import type { CallToolResult, ToolCallReq } from "../../../../src/protocol/tools.ts";

function request(req_id: string, changes: Partial<ToolCallReq> = {}): ToolCallReq {
  return { agent: "ada", req_id, computer: "laptop", tool_name: "t", params: {}, ...changes };
}

/** Answers a call as the Computer does: as before when it is repeated, otherwise with what `run` gives. */
function once(
  repeated: RepeatedCalls,
  req: ToolCallReq,
  run: () => Promise<CallToolResult>,
): Promise<CallToolResult> {
  const earlier = repeated.answerOf(req);
  if (earlier !== undefined) return earlier;
  const answer = run();
  repeated.keep(req, { call: { answer }, result: answer });
  return answer;
}

/** Repeated calls of a tool that counts its runs. */
function counting(text = "") {
  const repeated = new RepeatedCalls();
  let runs = 0;
  const call = (req: ToolCallReq) =>
    once(repeated, req, () => {
      runs++;
      return Promise.resolve({ content: [{ type: "text", text }] });
    });
  return { repeated, call, runs: () => runs };
}

// proves: data-req-id-dedupe
Deno.test("a repeated call gets the same answer and runs once", async () => {
  const { call, runs } = counting();
  const answers = [await call(request("a")), await call(request("a"))];
  assertEquals([answers[0] === answers[1], runs()], [true, 1]);
});

Deno.test("calls of another agent or with another req_id are other calls", async () => {
  const { call, runs } = counting();
  for (const req of [request("a"), request("b"), request("a", { agent: "bob" })]) await call(req);
  assertEquals(runs(), 3);
});

Deno.test("the same req_id for another tool or other parameters is 400, and the first call goes on", async () => {
  const { call, runs } = counting();
  await call(request("a", { params: { x: 1 } }));
  for (const changes of [{ tool_name: "u", params: { x: 1 } }, { params: { x: 2 } }]) {
    const error = assertThrows(() => call(request("a", changes)), SmcpError);
    assertEquals([error.code, error.details], [400, { field: "req_id" }]);
  }
  await call(request("a", { params: { x: 1 } }));
  assertEquals(runs(), 1);
});

Deno.test("a call that rejected is not remembered", async () => {
  const repeated = new RepeatedCalls();
  await assertRejects(
    () => once(repeated, request("a"), () => Promise.reject(new TypeError("bug"))),
    TypeError,
  );
  await Promise.resolve();
  assertEquals((await once(repeated, request("a"), () => Promise.resolve({ content: [] }))).content, []);
});

Deno.test("a call that failed before it began begins when it is repeated, unless it was cancelled", async () => {
  for (
    const [hasBegun, meta, isKept] of [
      [false, { error_code: 4003 }, false],
      [true, { error_code: 4003 }, true],
      [true, { error_code: 4003, a2c_reason: "not_running" }, false],
      [true, { error_code: 4003, a2c_reason: "not_running", may_have_run: true }, true],
      [false, { a2c_cancelled: true }, true],
    ] as const
  ) {
    const repeated = new RepeatedCalls();
    const answer = Promise.resolve({ content: [], isError: true, meta });
    repeated.keep(request("a"), { call: { answer, hasBegun }, result: answer });
    await answer;
    assertEquals(repeated.answerOf(request("a")) !== undefined, isKept);
  }
});

Deno.test("the last 256 answers are remembered", async () => {
  const { call, runs } = counting();
  for (let i = 0; i < 257; i++) await call(request(`r${i}`));
  await call(request("r1"));
  assertEquals(runs(), 257);
  await call(request("r0"));
  assertEquals(runs(), 258);
});

Deno.test("remembered answers take 16 MiB at most, the oldest go first", async () => {
  const { call, runs } = counting("x".repeat(5 * 1024 * 1024));
  for (const id of ["a", "b", "c", "d"]) await call(request(id));
  await call(request("d"));
  await call(request("c"));
  assertEquals(runs(), 4);
  await call(request("a"));
  assertEquals(runs(), 5);
});

Deno.test("running calls are remembered beyond the bounds", async () => {
  const { repeated, call } = counting();
  const gate = Promise.withResolvers<CallToolResult>();
  const running = once(repeated, request("slow"), () => gate.promise);
  for (let i = 0; i < 300; i++) await call(request(`r${i}`));
  const again = once(repeated, request("slow"), () => Promise.reject(new TypeError("ran twice")));
  gate.resolve({ content: [] });
  assertEquals(await running, await again);
});

Deno.test("clear() forgets answers and running calls, which go on", async () => {
  const { repeated, call, runs } = counting();
  const gate = Promise.withResolvers<CallToolResult>();
  const running = once(repeated, request("slow"), () => gate.promise);
  await call(request("a"));
  repeated.clear();
  await call(request("a"));
  assertEquals(runs(), 2);
  gate.resolve({ content: [] });
  assertEquals(await running, { content: [] });
  assertEquals(await once(repeated, request("slow"), () => Promise.resolve({ content: [], isError: true })), {
    content: [],
    isError: true,
  });
});

Deno.test("a call whose answer is too large to remember does not run again, and no other answer is dropped for it", async () => {
  const repeated = new RepeatedCalls();
  let runs = 0;
  const call = (req_id: string, length: number) =>
    once(repeated, request(req_id), () => {
      runs++;
      return Promise.resolve({ content: [{ type: "text", text: "x".repeat(length) }] });
    });
  await call("small", 10);
  assertEquals((await call("large", 17 * 1024 * 1024)).isError, undefined);
  const again = await call("large", 1);
  assertEquals([again.isError, again.meta?.error_code], [true, 413]);
  await call("small", 1);
  assertEquals(runs, 2);
});
