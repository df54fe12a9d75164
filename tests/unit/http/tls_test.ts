import { assertEquals, assertStringIncludes } from "@std/assert";
import { expiryWarning } from "../../../src/http/tls.ts";

const DAY_MS = 86_400_000;

/** The warning about a certificate of so many days after so many of them. */
function warningAfter(days: number, lifetimeDays: number): string {
  const fromMs = Date.UTC(2026, 0, 1);
  return expiryWarning({ fromMs, toMs: fromMs + lifetimeDays * DAY_MS }, fromMs + days * DAY_MS) ?? "none";
}

Deno.test("expiryWarning() warns two weeks before the end of a certificate, and after it", () => {
  assertEquals(warningAfter(0, 90), "none");
  assertEquals(warningAfter(75, 90), "none");
  assertStringIncludes(warningAfter(77, 90), "expires soon");
  assertStringIncludes(warningAfter(91, 90), "has expired");
  assertStringIncludes(warningAfter(-1, 90), "not valid yet");
});

Deno.test("expiryWarning() gives a short-lived certificate four fifths of its time", () => {
  assertEquals(warningAfter(4.7, 6), "none");
  assertStringIncludes(warningAfter(4.9, 6), "expires soon");
});
