/** Requests that are nested too deep. */
import { assertEquals, assertThrows } from "@std/assert";
import { assertShallow, MAX_REQUEST_DEPTH } from "../../../src/protocol/depth.ts";
import { SmcpError } from "../../../src/protocol/errors.ts";

function nested(levels: number): unknown {
  let value: unknown = "x";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [0, value] : { a: null, value };
  return value;
}

Deno.test("a request may be nested so deep, and no deeper, in whichever member", () => {
  assertShallow({ req_id: "r", params: nested(MAX_REQUEST_DEPTH), list: [] });
  for (const body of [null, undefined, 7, "text", {}]) assertShallow(body);
  for (const field of ["params", "agent", "unknown"]) {
    const body = { req_id: "r", [field]: nested(100_000) };
    const { code, details } = assertThrows(() => assertShallow(body), SmcpError);
    assertEquals([code, details], [400, { field }]);
  }
});
