import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { assertFits, assertShallow, SmcpError } from "../../../src/protocol/errors.ts";
import { MAX_REQUEST_DEPTH } from "../../../src/json/json.ts";

const jsonBytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).byteLength;

Deno.test("a message over the limit is 413 with its size and the limit", () => {
  const error = assertThrows(() => assertFits({ text: "x".repeat(2_000) }, 1_000), SmcpError);
  assertEquals([error.code, error.details?.["limit"]], [413, 1_000]);
  assert(Number(error.details?.["size"]) > 2_000);
});

Deno.test("bytes count, not characters", () => {
  const text = "好".repeat(300);
  assertFits(text, 1_300);
  assertThrows(() => assertFits(text, 1_000), SmcpError);
  assertFits("x".repeat(700), 1_000);
});

Deno.test("whatever passes fits into the limit as JSON", () => {
  fc.assert(fc.property(fc.jsonValue(), fc.integer({ min: 300, max: 2_000 }), (value, limit) => {
    try {
      assertFits(value, limit);
    } catch {
      return;
    }
    assert(jsonBytes(value) <= limit);
  }));
});

Deno.test("whatever leaves room for the envelope passes", () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => assertFits(value, jsonBytes(value) + 256)));
});

Deno.test("the size that a 413 tells is that of the JSON, whatever it holds", () => {
  const lone = "\ud83d";
  for (
    const value of [
      { content: [{ type: "text", text: `a${"😀".repeat(40_000)}"\n${lone}` }], isError: false, meta: null },
      { list: Array.from({ length: 40_000 }, (_, index) => ({ index, name: `😀${index}` })) },
      { [`\n${"n".repeat(40_000)}`]: [[[[["x", {}, []]]]]], none: undefined },
      "é".repeat(20_000),
      lone.repeat(20_000),
    ]
  ) {
    const size = jsonBytes(value) + 256;
    assertEquals(assertThrows(() => assertFits(value, size - 1), SmcpError).details, {
      size,
      limit: size - 1,
    });
    assertFits(value, size);
  }
});

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
