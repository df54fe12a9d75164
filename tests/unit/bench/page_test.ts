import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { checkEnded, type Output, withResults } from "../../../bench/page/page.ts";

const PAGE = `# Benchmarks

<!-- run: written by \`deno task bench:page\` -->
an older run
<!-- /run -->

## Relay

The load is the same for all.

<!-- relay: written by \`deno task bench:page\` -->
<!-- /relay -->

## Hub

<!-- hub: written by \`deno task bench:page\` -->
older figures
<!-- /hub -->
`;

/** Words of a line that tells what was measured, and a time or a size. */
const MEASURED = /\bmedians?\b|\b(?:tried|measured|run) on 20\d\d|_bench\.ts/i;
const FIGURE = /\d ?(?:ms|µs|seconds|[MKk]i?B|GiB|%)(?!\w)/;

const ended = {
  beganAt: new Date("2026-11-29T20:40:31Z"),
  seconds: 12.4,
  load: [0.31, 1.92],
  code: 0,
  stdout: "",
  stderr: "",
} as const;

const relay: Output = {
  ...ended,
  section: "relay",
  command: "deno run -A bench/relay/main.ts",
  stderr: "calls: 300 B, 32 in flight, round 1 of 1\nSKIPPED: official, Rust: no cargo on PATH\n",
  report: {
    titles: { bare: "bare forwarder", ours: "our Server" },
    cells: [{
      section: "calls",
      label: "300 B, 32 in flight",
      payloadBytes: 300,
      inFlight: 32,
      rounds: { bare: [{ perSecond: 20_000, cpuUs: 50 }], ours: [{ perSecond: 30_000, cpuUs: 25 }] },
    }],
  },
};

const hub: Output = {
  ...ended,
  section: "hub",
  command: "deno run -A bench/hub_bench.ts",
  code: 2,
  stdout: `memory: 185.4 MiB, and 1.3 MiB more with 200 idle clients (below 64)
a call through the Agent alone: p50 0.463 ms, p99 5.704 ms
a call: the hub adds 1.029 ms to the median (below 1)
`,
};

Deno.test("withResults() writes the recorded output of the benchmarks between the markers, and nothing else", () => {
  const page = withResults(PAGE, { environment: "A machine.", outputs: [relay, hub] });
  for (
    const part of [
      "A machine.",
      "| [relay](#relay) | `deno run -A bench/relay/main.ts` | 2026-11-29 20:40 | 12 s | 0.3 | 1.9 |  |",
      "| [hub](#hub) | `deno run -A bench/hub_bench.ts` | 2026-11-29 20:40 | 12 s | 0.3 | 1.9 | a goal was missed |",
      "- SKIPPED: official, Rust: no cargo on PATH",
      "| calls/s at 300 B, 32 in flight: at least 1.3× the bare forwarder | 1.500× | yes |",
      "30,000 (1.50×)",
      "| memory | 185.4 MiB, and 1.3 MiB more with 200 idle clients | below 64 |",
      "| a call through the Agent alone | p50 0.463 ms, p99 5.704 ms |  |",
    ]
  ) assertStringIncludes(page, part);
  assertEquals(["older", "round 1 of 1"].filter((part) => page.includes(part)), []);
  assertEquals(
    page.split(/<!-- (?:run|relay|hub)[^]*?<!-- \/.*/),
    PAGE.split(/<!-- (?:run|relay|hub)[^]*?<!-- \/.*/),
  );
  assertThrows(() => withResults("# Benchmarks", { environment: "", outputs: [hub] }), TypeError, "run");
});

Deno.test("withResults() says why a section has no results", () => {
  const skipped = { ...hub, code: 0, stdout: "", stderr: "SKIPPED: hub: no port\n" };
  const page = withResults(PAGE, { environment: "A machine.", outputs: [skipped] });
  assertStringIncludes(
    page,
    "written by `deno task bench:page` -->\n\n- SKIPPED: hub: no port\n\n<!-- /hub -->",
  );
});

Deno.test("checkEnded() refuses the results of a benchmark that failed, and takes those that miss a goal", () => {
  for (const code of [0, 2]) checkEnded({ ...hub, code });
  assertThrows(() => checkEnded({ ...hub, code: 1 }), TypeError, "hub_bench.ts");
});

Deno.test("No other page of the documentation has a time or a size that was measured once", async () => {
  const root = new URL("../../../", import.meta.url);
  const pages = ["README.md", "SECURITY.md"];
  for (const folder of ["docs", "docs/protocol"]) {
    for await (const { name } of Deno.readDir(new URL(folder, root))) pages.push(`${folder}/${name}`);
  }
  const found = pages.filter((page) => page.endsWith(".md") && page !== "docs/benchmarks.md").flatMap((
    page,
  ) =>
    Deno.readTextFileSync(new URL(page, root)).split("\n")
      .filter((line) => MEASURED.test(line) && FIGURE.test(line))
      .map((line) => `${page}: ${line}`)
  );
  assertEquals(found, []);
});
