import { assertEquals, assertThrows } from "@std/assert";
import { fromErrorAck, SmcpError } from "../../../src/protocol/errors.ts";
import { parseGetDeskTopRet } from "../../../src/protocol/answers.ts";

Deno.test("fromErrorAck() finds what the reference Computer writes beside the code among the details", () => {
  const ack = { code: 4015, message: "No resources", mcp_server_name: "plain", capability: "resources" };
  assertEquals(fromErrorAck(ack)?.details, { mcp_server: "plain", capability: "resources" });
  assertEquals(fromErrorAck({ ...ack, capability: undefined })?.details, { mcp_server: "plain" });
  assertEquals(fromErrorAck({ ...ack, details: { mcp_server: "other" } })?.details, { mcp_server: "other" });
});

Deno.test("parseGetDeskTopRet() refuses an answer with nothing in it, which a Server made of an error", () => {
  assertThrows(() => parseGetDeskTopRet({}), SmcpError, "expected a list");
  assertThrows(() => parseGetDeskTopRet({ req_id: "r1" }), SmcpError, "expected a list");
  assertEquals(parseGetDeskTopRet({ desktops: [] }), { desktops: [] });
});
