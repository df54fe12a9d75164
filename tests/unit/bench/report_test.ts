import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { chooseTicks, renderChart } from "../../../bench/relay/chart.ts";
import { judge, renderVerdicts, rowsBehind } from "../../../bench/relay/goals.ts";
import { parseOptions } from "../../../bench/relay/options.ts";
import type { Cell } from "../../../bench/relay/results.ts";
import { renderTable, rowsLimitedByGenerator } from "../../../bench/relay/table.ts";

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

|                     |      | connections |       RSS KB | RSS KB, collected | heap KB, collected |
| ------------------- | ---- | ----------: | -----------: | ----------------: | -----------------: |
| 10 idle connections | bare |           – |         42.0 |                 – |               10.0 |
|                     | ours |           – | 21.0 (0.50×) |                 – |                  – |
|                     | rust |           – |            – |                 – |                  – |
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

const calls: Cell = {
  section: "calls",
  label: "300 B, 32 in flight",
  payloadBytes: 300,
  inFlight: 32,
  rounds: {
    bare: [{ perSecond: 10_000, cpuUs: 20 }],
    ours: [{ perSecond: 12_000, cpuUs: 18 }],
    python: [undefined],
    rust: [{ perSecond: 15_000, cpuUs: 18 }],
  },
};

Deno.test("judge() says which goals are met, which are not, and which were not measured", () => {
  const verdicts = judge([calls, cell], "ours");
  const of = (part: string) => verdicts.find(({ goal }) => goal.includes(part));
  assertEquals([of("1.3× the bare")?.isMet, of("1.3× the bare")?.value], [false, "1.200×"]);
  assertEquals(of("RSS per idle connection")?.isMet, true);
  assertEquals(of("CPU per call at 300 B")?.isMet, false);
  assertEquals(of("15× the official Python")?.isMet, undefined);
  assertStringIncludes(renderVerdicts("ours", verdicts), "NOT MET  Server CPU per call at 300 B");
});

Deno.test("rowsBehind() lists what the other one does better, and not what is level", () => {
  assertEquals(rowsBehind([calls], "ours", "rust"), ["calls, 300 B, 32 in flight: per second 0.80×"]);
});

Deno.test("renderChart() draws a bar with its value and its ratio, and says where nothing was measured", () => {
  const svg = renderChart([calls], { titles: { ours: "our <Server>" }, subtitle: "today" });
  assertStringIncludes(svg, ">12,000 (1.20×)</text>");
  assertStringIncludes(svg, ">our &lt;Server></text>");
  assertStringIncludes(svg, ">not measured</text>");
  assertStringIncludes(svg, "prefers-color-scheme:dark");
  assertEquals(svg.match(/<rect class="bar ours"/g)?.length, 2);
});

Deno.test("chooseTicks() covers the maximum with round numbers from 0 on", () => {
  assertEquals(chooseTicks(22_927), [0, 10_000, 20_000, 30_000]);
  assertEquals(chooseTicks(0.9), [0, 0.25, 0.5, 0.75, 1]);
  assertEquals(chooseTicks(0), [0, 1]);
});

Deno.test("rowsLimitedByGenerator() names the rows that say nothing about the Server", () => {
  const rounds = { bare: [{ generatorShare: 0.99 }], ours: [{ generatorShare: 0.4 }] };
  assertEquals(rowsLimitedByGenerator([{ ...calls, rounds }], {}), ["calls, 300 B, 32 in flight: bare"]);
});

Deno.test("renderVerdicts() judges no goal of a quick run", () => {
  const verdicts = [{ goal: "calls/s", value: "1.0 ×", isMet: false }];
  assertEquals(renderVerdicts("ours", verdicts, { isQuick: true }).includes("- not judged  calls/s"), true);
  assertEquals(renderVerdicts("ours", verdicts).includes("NOT MET  calls/s"), true);
});
