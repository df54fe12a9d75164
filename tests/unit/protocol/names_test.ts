import { assertEquals, assertNotEquals } from "@std/assert";
import fc from "../../fixtures/fast_check.ts";
import { compareCodePoints, nameProblem } from "../../../src/protocol/names.ts";
import { isTimeoutSeconds, timeoutMsOf } from "../../../src/protocol/call.ts";
import { minorOf, parseProtocolVersion } from "../../../src/protocol/version.ts";

Deno.test("a name has 1 to 128 characters, all of which can be seen", () => {
  for (const name of ["a", "x".repeat(128), "机器 1", "a/b", "é", "😀", "Ünï cödé"]) {
    assertEquals(nameProblem(name), undefined, name);
  }
  const refused = [
    ...["a\u00a0b", "a\u3000b", "a\u1680b", "a\u2010b", "a\u2013b", "a\u2212b", "ａ", "𝐚", "ⅳ", "ﬃ", "²"],
    ...["", " ", "   ", "\u2800", "\u3000", "x".repeat(129), " a", "a ", "a\u00a0"],
    ...["a\n", "\u0000", "\u007f", "\u0085", "a\u2028b"],
    ...[
      "a\u200bb",
      "a\u202eb",
      "a\u2066b",
      "\ufeffa",
      "a\u00adb",
      "a\u3164b",
      "\ud800",
      "a\udc00b",
      "e\u0301",
    ],
  ];
  for (const name of refused) assertNotEquals(nameProblem(name), undefined, JSON.stringify(name));
  for (const name of ["a\n", "a\nb", "\ra", "a\u2028b"]) {
    assertEquals(nameProblem(name), "must not contain line breaks");
  }
});

Deno.test("names sort by code point, also beyond the basic plane", () => {
  const sorted = ["", "A", "Z", "a", "é", "\ue000", "\uffff", "😀", "😀a", "😁"];
  assertEquals(sorted.toReversed().toSorted(compareCodePoints), sorted);
  const byCodePoints = (a: string, b: string) => {
    const [left, right] = [a, b].map((text) => [...text].map((c) => c.codePointAt(0) ?? 0));
    for (const [i, point] of (left ?? []).entries()) {
      const other = right?.[i];
      if (other === undefined) return 1;
      if (point !== other) return point - other;
    }
    return (left?.length ?? 0) - (right?.length ?? 0);
  };
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }),
      (a, b) => Math.sign(compareCodePoints(a, b)) === Math.sign(byCodePoints(a, b)),
    ),
  );
});

Deno.test("a version is three numbers without leading zeros, and its MINOR is what peers agree on", () => {
  const version = parseProtocolVersion("0.2.10");
  assertEquals(version, { major: 0, minor: 2, patch: 10 });
  assertEquals(version && minorOf(version), "0.2");
  for (const raw of ["", "0.2", "0.2.0.0", "v0.2.0", "00.2.0", "0.2.x", " 0.2.0", "0.2.-1", "0.2.1234567"]) {
    assertEquals(parseProtocolVersion(raw), undefined, raw);
  }
});

// proves: data-timeout-seconds
Deno.test("a time-out is above 0 and at most a day, and 30 seconds when absent", () => {
  assertEquals([0.001, 1, 86_400].map(isTimeoutSeconds), [true, true, true]);
  assertEquals([0, -1, 86_401, NaN, Infinity, "1", null].map(isTimeoutSeconds), Array(7).fill(false));
  assertEquals([timeoutMsOf({}), timeoutMsOf({ timeout: 1.5 })], [30_000, 1_500]);
});
