import { assertEquals, assertThrows } from "@std/assert";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { parseGetCompletionReq } from "../../../../src/protocol/parse.ts";
import { parseEnterOfficeReq } from "../../../../src/protocol/office_requests.ts";
import { parserOf } from "../../../../src/protocol/schemas/schema.ts";

Deno.test("bytes in place of a message are refused before a schema looks at each of them", () => {
  const safeParse = () => {
    throw new TypeError("Cannot happen: the schema was asked");
  };
  const { code } = assertThrows(() => parserOf("x", { safeParse })(new Uint8Array(1)), SmcpError);
  assertEquals(code, 400);
  assertThrows(() => parseEnterOfficeReq(new Uint8Array(16_000_000)), SmcpError);
});

Deno.test("bytes in place of an object within a message are refused as well", () => {
  const bytes = new Uint8Array(16_000_000);
  const request = {
    agent: "a",
    req_id: "r",
    computer: "c",
    ref: { prompt: "p" },
    argument: { name: "n", value: "" },
  };
  for (const member of ["ref", "argument"]) {
    assertThrows(() => parseGetCompletionReq({ ...request, [member]: bytes }), SmcpError);
  }
  assertEquals(parseGetCompletionReq({ ...request, context: bytes }).context, undefined);
});
