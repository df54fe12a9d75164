import { assertEquals } from "@std/assert";
import { SmcpError, toErrorAck } from "../../../src/protocol/errors.ts";
import { toErrorAckFor, toFlatErrorAck } from "../../../src/protocol/flat_error.ts";

function flat(error: SmcpError, event: string): unknown {
  return toFlatErrorAck(toErrorAck(error, event), event);
}

Deno.test("toFlatErrorAck() writes the MCP server where those peers read it", () => {
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
  assertEquals(flat(error, "client:tool_call"), toErrorAck(error, "client:tool_call"));
});

Deno.test("toErrorAckFor() writes for the version of the peer, and at none the id with which peers take it for a success", () => {
  const ackFor = (version: string | undefined) =>
    toErrorAckFor(version, new SmcpError(413, "Large"), "client:get_tools");
  for (const version of [undefined, "0.1.5", "0.2.0", "0.2.9", "x"]) {
    assertEquals([ackFor(version).code, "req_id" in ackFor(version)], [413, false], version);
  }
  for (const version of ["0.3.0", "0.4.2", "0.5.0", "1.0.0"]) {
    assertEquals([ackFor(version).code, "req_id" in ackFor(version)], [404, false], version);
  }
});
