import { assertEquals } from "@std/assert";
import { isRecord } from "../../../src/json/json.ts";
import {
  badRequest,
  type ErrorDetails,
  fromErrorAck,
  readRequestId,
  SmcpError,
  toErrorAck,
  withDetailsTold,
} from "../../../src/protocol/errors.ts";
import { describeError } from "../../../src/text/text.ts";

const request = "client:get_tools";

// proves: guide-error-shape
Deno.test("an error is acked flat and, the same, under error, without the id of its request", () => {
  const body = { code: 4202, message: "Page out of range", details: { page_index: 9, page_count: 3 } };
  const error = new SmcpError(body.code, body.message, { details: body.details });
  assertEquals(toErrorAck(error, request), { ...body, error: body });
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
  const ack = toErrorAck(new SmcpError(4103, "Not in an office"), "client:tool_call");
  const body = { code: 4103, message: "Not in an office" };
  const content = [{ type: "text" as const, text: body.message }];
  assertEquals(ack, { ...body, isError: true, content, error: body });
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

Deno.test("the message of an error names what it is about, unless it does so already", () => {
  const messageOf = (code: number, message: string, details: ErrorDetails) =>
    withDetailsTold(new SmcpError(code, message, { details })).message;
  assertEquals(
    [
      messageOf(4014, "MCP Server not registered", { mcp_server: "files" }),
      messageOf(4014, "Skill not found", { name: "notes" }),
      messageOf(4015, "No resources", { mcp_server: "files", capability: "resources" }),
      messageOf(4016, "Invalid skill name", { name: "A b" }),
      messageOf(4017, "Skill resource not accessible", { rel_path: "a.md", reason: "not_found" }),
      messageOf(4017, 'Cannot read file "a.md": there is none', { rel_path: "a.md", reason: "not_found" }),
      messageOf(4202, "Page out of range", { page_index: 9, page_count: 3 }),
      messageOf(4202, "No page 9", { page_index: 9, page_count: 3 }),
      messageOf(500, "Internal error", { name: "x" }),
    ],
    [
      'MCP Server not registered: mcp_server "files"',
      'Skill not found: name "notes"',
      'No resources: mcp_server "files"',
      'Invalid skill name: name "A b"',
      'Skill resource not accessible: rel_path "a.md", reason "not_found"',
      'Cannot read file "a.md": there is none',
      "Page out of range: page_index 9, page_count 3",
      "No page 9: page_count 3",
      "Internal error",
    ],
  );
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
