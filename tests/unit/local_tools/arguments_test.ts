import { assertEquals, assertMatch } from "@std/assert";
import { Arguments } from "../../../src/local_tools/arguments.ts";

/** Reads the arguments of a tool that knows the argument `a`. */
const reading = (a: unknown) => new Arguments("tool", { a }, ["a"]);

/** Reads one argument, or gives the message of its error. */
function tried<Value>(read: () => Value): Value | string {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}

Deno.test("Arguments: `null` counts as absent, digits as a number, one text as a list", () => {
  assertEquals(reading(null).text("a"), undefined);
  assertEquals(reading("7").integer("a", { min: 0, max: 9 }), 7);
  assertEquals(reading("x").texts("a"), ["x"]);
  assertEquals(reading([0, "2-3"]).ranges("a"), "0,2-3");
  assertMatch(String(tried(() => reading("").text("a"))), /must be a text that is not empty/);
  assertMatch(String(tried(() => reading([]).ranges("a"))), /must be a text that is not empty/);
  assertMatch(String(tried(() => reading("7.5").integer("a", { min: 0, max: 9 }))), /from 0 to 9/);
  assertMatch(String(tried(() => reading("x").choice("a", ["y", "z"]))), /one of y, z/);
});
