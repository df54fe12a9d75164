import { assertEquals } from "@std/assert";
import { SmcpError, toErrorAck } from "../../../src/protocol/errors.ts";
import { toErrorAckFor, toFlatErrorAck } from "../../../src/protocol/flat_error.ts";

function flat(error: SmcpError, event: string): unknown {
  const request = { event, reqId: "r1" };
  return toFlatErrorAck(toErrorAck(error, request), request);
}

Deno.test("toFlatErrorAck() leaves the id of the request out, with which peers would take it for a success", () => {
  const body = { code: 4014, message: "No such server", details: { mcp_server: "x" } };
  const error = new SmcpError(body.code, body.message, { details: body.details });
  assertEquals(flat(error, "client:get_resources"), { ...body, mcp_server: "x", error: body });
});

Deno.test("toFlatErrorAck() gives peers a code that they know, and our own Agents the real one", () => {
  const error = new SmcpError(413, "Too large");
  const body = { code: 413, message: "Too large" };
  assertEquals(flat(error, "client:get_tools"), { code: 404, message: "Too large", error: body });
  assertEquals(flat(error, "client:get_finder"), { ...body, error: body });
});

Deno.test("toFlatErrorAck() leaves the answer to a tool call as it is", () => {
  const error = new SmcpError(400, "Wrong");
  const request = { event: "client:tool_call", reqId: "r1" };
  assertEquals(flat(error, request.event), toErrorAck(error, request));
});

Deno.test("toErrorAckFor() writes for the version of the peer; a later one reads as the last that is known", () => {
  const hasId = (version: string | undefined) =>
    "req_id" in
      toErrorAckFor(version, new SmcpError(404, "None"), { event: "client:get_tools", reqId: "r1" });
  for (const version of [undefined, "0.1.5", "0.2.0", "0.2.9", "x"]) {
    assertEquals(hasId(version), true, version);
  }
  for (const version of ["0.3.0", "0.4.2", "0.5.0", "1.0.0"]) assertEquals(hasId(version), false, version);
});
