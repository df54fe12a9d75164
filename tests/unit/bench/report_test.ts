import { assertEquals, assertThrows } from "@std/assert";
import { parseOptions } from "../../../bench/relay/options.ts";
import type { Cell } from "../../../bench/relay/results.ts";
import { renderTable } from "../../../bench/relay/table.ts";

const cell: Cell = {
  section: "idle",
  label: "10 idle connections",
  rounds: {
    bare: [{ residentBytes: 40_000, heapBytes: 10_000 }, { residentBytes: 44_000, heapBytes: 10_000 }],
    ours: [{ residentBytes: 20_000 }, { residentBytes: 22_000 }],
    rust: [undefined, undefined],
  },
};

Deno.test("renderTable() shows medians, ratios to the bare forwarder, and a dash for what is missing", () => {
  const table = renderTable([cell], { bare: "bare", ours: "ours", rust: "rust" });
  assertEquals(
    table,
    `## Memory per idle connection

|                     |      |       RSS KB | RSS KB, collected | heap KB, collected |
| ------------------- | ---- | -----------: | ----------------: | -----------------: |
| 10 idle connections | bare |         42.0 |                 – |               10.0 |
|                     | ours | 21.0 (0.50×) |                 – |                  – |
|                     | rust |            – |                 – |                  – |
`,
  );
});

Deno.test("parseOptions() takes lists, and names what it cannot use", () => {
  const options = parseOptions(["--quick", "--payload", "300,900000", "--section", "calls"]);
  if (options === "help") throw new TypeError("Cannot happen: no --help was given");
  assertEquals([options.payloads, options.sections, options.inFlight], [[300, 900_000], ["calls"], [32]]);
  assertEquals(parseOptions(["--help"]), "help");
  assertThrows(() => parseOptions(["--rounds", "none"]), TypeError, "--rounds");
  assertThrows(() => parseOptions(["--section", "speed"]), TypeError, "speed");
});
