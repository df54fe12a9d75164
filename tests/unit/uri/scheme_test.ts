import { assertEquals } from "@std/assert";
import { hasDpeScheme, hasWindowScheme } from "../../../src/uri/scheme.ts";

// proves: desktop-uri-scheme
Deno.test("hasWindowScheme() looks at the scheme alone, in whatever case", () => {
  assertEquals(["window://h", "WINDOW://", "window:"].map(hasWindowScheme), [true, true, true]);
  assertEquals(
    ["dpe://h", "windows://h", "window", " window://h", ""].map(hasWindowScheme),
    Array(5).fill(false),
  );
});

// proves: dpe-rule-scheme
Deno.test("hasDpeScheme() looks at the scheme alone, in whatever case", () => {
  assertEquals(["dpe://h", "DPE://", "dpe:"].map(hasDpeScheme), [true, true, true]);
  assertEquals(["window://h", "dpes://h", "dpe", " dpe://h", ""].map(hasDpeScheme), Array(5).fill(false));
});
