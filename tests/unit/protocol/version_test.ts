import { assertEquals } from "@std/assert";
import { highestMinorWithin, isFrom, toProtocolMinor } from "../../../src/protocol/version.ts";

Deno.test("highestMinorWithin() takes the highest version of this package that a Server accepts", () => {
  const within = (min_supported?: string, max_supported?: string) =>
    highestMinorWithin({ min_supported, max_supported });
  assertEquals(within("0.2.0", "0.4.999"), "0.4");
  assertEquals(within("0.3.0", "0.3.999"), "0.3");
  assertEquals(within("0.4.0", "0.9.999"), "0.4");
  assertEquals(within("0.0.1", "0.2.0"), "0.2");
  assertEquals(within("0.3.5", "1.0.0"), "0.4");
  assertEquals(within("0.5.0", "0.9.999"), undefined);
  assertEquals(within("1.0.0", "1.4.0"), undefined);
  assertEquals(within("0.4", "0.4.999"), undefined);
  assertEquals(within(undefined, "0.4.999"), undefined);
});

Deno.test("isFrom() tells whether a version is another one or later", () => {
  assertEquals(isFrom("0.2", "0.3"), false);
  assertEquals(isFrom("0.3", "0.3"), true);
  assertEquals(isFrom("0.4", "0.3"), true);
});

Deno.test("toProtocolMinor() knows the versions of this package, and no other spelling", () => {
  assertEquals(["0.2", "0.4", "0.4.0", "0.5", " 0.3", ""].map(toProtocolMinor), [
    "0.2",
    "0.4",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  assertEquals(toProtocolMinor(undefined), undefined);
});
