import { assertEquals } from "@std/assert";
import { parseJson } from "../../../src/json/json.ts";

Deno.test("parseJson() returns the value of valid JSON, else undefined", () => {
  assertEquals(['{"a":[1]}', "null", " 7 ", "", "{", "undefined"].map(parseJson), [
    { a: [1] },
    null,
    7,
    undefined,
    undefined,
    undefined,
  ]);
});
