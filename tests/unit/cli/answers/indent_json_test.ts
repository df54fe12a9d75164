import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { indentJson } from "../../../../src/cli/answers/indent_json.ts";

Deno.test("indentJson() writes as JSON.stringify() does, however the text was written", () => {
  fc.assert(fc.property(fc.json(), (json) => {
    const value = JSON.parse(json);
    assertEquals(indentJson(JSON.stringify(value)), JSON.stringify(value, null, 2));
    assertEquals(indentJson(JSON.stringify(value, null, 4)), JSON.stringify(value, null, 2));
  }));
});

Deno.test("indentJson() keeps numbers as they are written, and names that are repeated", () => {
  assertEquals(
    indentJson('{"a":12345678901234567890,"a":1.50}'),
    '{\n  "a": 12345678901234567890,\n  "a": 1.50\n}',
  );
});

Deno.test("indentJson() grows by a constant factor, however deep or long its parts are", () => {
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  assertEquals(indentJson(deep).length < 50 * deep.length, true);
  const long = JSON.stringify(['\\"'.repeat(2_000_000)]);
  assertEquals(indentJson(long).length, long.length + "\n  \n".length);
});
