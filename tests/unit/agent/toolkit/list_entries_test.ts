import { assertEquals } from "@std/assert";
import { fitsIntoList } from "../../../../src/agent/toolkit/list_entries.ts";

/** JSON as deep as this. */
function nested(depth: number): unknown {
  return JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);
}

Deno.test("fitsIntoList() refuses what is huge, and what is nested so deeply that it cannot be written", () => {
  assertEquals([{ a: 1 }, { a: "x".repeat(300_000) }, nested(100_000)].map(fitsIntoList), [
    true,
    false,
    false,
  ]);
});
