import { assertEquals, assertThrows } from "@std/assert";
import { ToolCallCancelled } from "../../../../src/computer/shared/running_call.ts";
import { toFailureOutcome, toWireResult } from "../../../../src/computer/tools/results.ts";
import {
  ServerAnswerError,
  ServerAuthorizationError,
  ServerNotRunningError,
  ServerTimeoutError,
} from "../../../../src/mcp/errors.ts";

Deno.test("a result is passed on unchanged, with its _meta as meta", () => {
  const content = [{ type: "text", text: "x", _meta: { item: 1 } }];
  const raw = { content, structuredContent: { a: 1 }, isError: true, _meta: { own: 1 }, extra: [1] };
  assertEquals(toWireResult(raw, { auto_apply: true }) as unknown, {
    content,
    structuredContent: { a: 1 },
    isError: true,
    extra: [1],
    meta: { own: 1, a2c_tool_meta: { auto_apply: true } },
  });
});

Deno.test("content that is no list is one item, and null alone is no result", () => {
  const contentOf = (raw: Record<string, unknown>) => toWireResult(raw, undefined).content;
  assertEquals(contentOf({ content: "plain" }), [{ type: "text", text: "plain" }]);
  assertEquals(contentOf({ content: { type: "text", text: "one" } }), [{ type: "text", text: "one" }]);
  assertEquals([contentOf({ content: null, structuredContent: { a: 1 } }), contentOf({})], [[], []]);
  assertEquals(contentOf({ content: { a: 1 } }), [{ type: "text", text: '{"a":1}' }]);
  assertThrows(() => contentOf({ content: null }), ServerAnswerError, "cannot be read");
});

Deno.test("a result without content, isError and metadata gets defaults", () => {
  assertEquals(toWireResult({}, undefined), { content: [], isError: false, meta: null });
  assertEquals(toWireResult({ isError: "yes", _meta: 1 }, undefined), {
    content: [],
    isError: false,
    meta: null,
  });
});

Deno.test("each failure has its code and its outcome, and never the text of an internal error", () => {
  const cases: [unknown, Record<string, unknown>, string][] = [
    [new ToolCallCancelled("x"), { a2c_cancelled: true, may_have_run: false }, "cancelled"],
    [new ServerTimeoutError("x"), { error_code: 4004, a2c_timeout: true }, "timeout"],
    [new ServerAuthorizationError(401), { error_code: 4006 }, "error"],
    [new ServerAuthorizationError(403), { error_code: 4007 }, "error"],
    [new ServerAnswerError(-32602, "bad"), { error_code: 4003 }, "error"],
    [
      new ServerNotRunningError({ reason: "retrying", server: "s" }),
      { error_code: 4003, a2c_reason: "not_running" },
      "error",
    ],
    [new TypeError("secret /path"), { error_code: 4003 }, "error"],
    ["secret", { error_code: 4003 }, "error"],
  ];
  for (const [error, meta, outcome] of cases) {
    const made = toFailureOutcome(error, { name: "t", timeoutMs: 1_500 });
    assertEquals([made.result.meta, made.result.isError, made.outcome], [meta, true, outcome]);
    assertEquals(JSON.stringify(made.result.content).includes("secret"), false);
  }
});

Deno.test("only the Computer itself asks the Agent's user: an MCP server's own question in metadata is dropped", () => {
  const raw = { content: [], _meta: { a2c_input_required: "{}", own: 1 } };
  assertEquals(toWireResult(raw, undefined).meta, { own: 1 });
});
