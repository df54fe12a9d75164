import { assertEquals } from "@std/assert";
import { countLines } from "../../../tools/coverage.ts";

Deno.test("countLines() adds up the lines of all files", () => {
  const lcov = "SF:a.ts\nDA:1,1\nLH:3\nLF:4\nend_of_record\nSF:b.ts\nLH:0\nLF:10\nend_of_record\n";
  assertEquals(countLines(lcov), { found: 14, hit: 3 });
});

Deno.test("countLines() counts nothing in an empty report", () => {
  assertEquals(countLines(""), { found: 0, hit: 0 });
});
