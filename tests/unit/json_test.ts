import { assertEquals } from "@std/assert";
import { parseJson } from "../../src/json.ts";

Deno.test("parseJson() gives the value of a JSON text, and undefined for any other", () => {
  assertEquals(['{"a":[1]}', "null", " 7 ", "", "{", "undefined"].map(parseJson), [
    { a: [1] },
    null,
    7,
    undefined,
    undefined,
    undefined,
  ]);
});
