import { assertEquals } from "@std/assert";
import { isRecord } from "../../../src/json.ts";
import {
  badRequest,
  fromErrorAck,
  readRequestId,
  SmcpError,
  toErrorAck,
} from "../../../src/protocol/errors.ts";
import { describeError } from "../../../src/text.ts";

const request = { event: "client:get_tools", reqId: undefined };

// proves: guide-error-shape
Deno.test("an error is acked flat and, the same, under error, with the id of its request", () => {
  const body = { code: 4202, message: "Page out of range", details: { page_index: 9, page_count: 3 } };
  const error = new SmcpError(body.code, body.message, { details: body.details });
  assertEquals(toErrorAck(error, { ...request, reqId: "r1" }), {
    ...body,
    req_id: "r1",
    error: body,
  });
  assertEquals(toErrorAck(new SmcpError(404, "x"), request), {
    code: 404,
    message: "x",
    error: { code: 404, message: "x" },
  });
  for (const req_id of [5, null, "x".repeat(1025)]) assertEquals(readRequestId({ req_id }), undefined);
  assertEquals(readRequestId({ req_id: "r1" }), "r1");
});

// proves: guide-error-shape
Deno.test("the error ack of a tool call is a failed tool result as well, and is read as an error", () => {
  const call = { event: "client:tool_call", reqId: "r1" };
  const ack = toErrorAck(new SmcpError(4103, "Not in an office"), call);
  const body = { code: 4103, message: "Not in an office" };
  const content = [{ type: "text" as const, text: body.message }];
  assertEquals(ack, { ...body, req_id: "r1", isError: true, content, error: body });
  assertEquals(fromErrorAck(ack)?.code, 4103);
});

// proves: guide-error-no-secrets
Deno.test("only an SmcpError shows its text", () => {
  const hidden = { code: 500, message: "Internal error" };
  for (const error of [new TypeError("/etc/passwd"), "token", undefined, { code: 1, message: "x" }]) {
    assertEquals(toErrorAck(error, request), { ...hidden, error: hidden });
  }
});

Deno.test("an error ack is read in either form, and what is none is no error", () => {
  const body = { code: 404, message: "x", details: { uri: "u" } };
  for (const ack of [body, { error: body }, { ...body, error: body, more: 1 }]) {
    const error = fromErrorAck(ack);
    assertEquals([error?.code, error?.message, error?.details], [404, "x", { uri: "u" }]);
  }
  for (
    const ack of [undefined, null, "x", [], {}, { code: "404", message: "x" }, { code: 404 }, { error: "x" }]
  ) {
    assertEquals(fromErrorAck(ack), undefined);
  }
  assertEquals(fromErrorAck({ code: 1, message: "x", details: [] })?.details, undefined);
});

Deno.test("a bad request names its field, and errors keep their cause", () => {
  const { code, message, details } = badRequest("uri", "Bad");
  assertEquals([code, message, details], [400, "Bad", { field: "uri" }]);
  const cause = new TypeError("why");
  assertEquals(new SmcpError(500, "x", { cause }).cause, cause);
});

Deno.test("only JSON objects are records, and anything thrown can be described", () => {
  assertEquals([{}, [], null, "x", new Map()].map(isRecord), [true, false, false, false, true]);
  assertEquals([new TypeError("t"), "s", undefined].map(describeError), ["t", "s", "undefined"]);
});
