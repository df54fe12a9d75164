/** Our MCP client side under the client scenarios of the public conformance suite. */
import { assert, assertEquals } from "@std/assert";
import { forEachBounded } from "../../src/async/limiter.ts";
import {
  BASELINE,
  CONCURRENCY,
  lead,
  listRuns,
  type Outcome,
  readBaseline,
  readExcused,
  REVISIONS,
  type Run,
  run,
  untilPassed,
} from "./_suite.ts";

/** This one measures real time and leaves 200 ms for a busy machine: it runs alone, and a fault shows each time. */
const TIMED = "sse-retry";

/** Scenarios of an extension for skills, which check nothing of a client that does not ask for any. */
const UNCHECKED: readonly string[] = [
  "sep-2640-client-no-prefetch",
  "sep-2640-client-verify-digest",
  "sep-2640-client-verify-frontmatter",
  "sep-2640-client-verify-size",
];

// The suite ends the shell of a client that is out of time, so the shell must be the client.
const shell = Deno.build.os === "windows" ? [] : ["exec"];
const client = [...shell, `"${Deno.execPath()}"`, ...run, "--no-check", "client.ts"].join(" ");

/** Lets the suite lead our client through one scenario. */
function leadClient(each: Run, ...options: readonly string[]): Promise<Outcome> {
  return lead("client", each, ["--command", client, ...options]);
}

Deno.test("the client scenarios of the public conformance suite", async (t) => {
  const runs = await listRuns("client");
  const excused = await readExcused("client");
  const [timed, others] = [
    runs.filter(({ scenario }) => scenario === TIMED),
    runs.filter(({ scenario }) => scenario !== TIMED),
  ];
  assert(timed.length > 0, "there is the scenario that measures time");
  for (const revision of REVISIONS) {
    assert(others.some((each) => each.revision === revision), `there are scenarios of ${revision}`);
  }

  await t.step(`${TIMED} passes`, async () => {
    for (const each of timed) {
      const { code, output } = await untilPassed(() => leadClient(each));
      assertEquals(code, 0, output);
    }
  });

  await t.step("every other one passes, or stands in the baseline and fails", async () => {
    const failures: string[] = [];
    const unchecked: string[] = [];
    await forEachBounded(others, CONCURRENCY, async (each) => {
      // With the baseline, the suite refuses what stands there and passes, but is less strict about the rest.
      const isExcused = excused.includes(each.scenario);
      const { code, output } = await leadClient(
        each,
        ...(isExcused ? ["--expected-failures", BASELINE] : []),
      );
      if (code !== 0) failures.push(`${each.scenario} in ${each.revision ?? "no revision"}:\n${output}`);
      if (/^Passed: 0\/0,/m.test(output)) unchecked.push(each.scenario);
    });
    assertEquals(failures, []);
    assertEquals(unchecked.sort(), UNCHECKED);
  });

  await t.step("what stands in the baseline is a scenario", () => {
    assertEquals(excused.filter((name) => !others.some(({ scenario }) => scenario === name)), []);
  });
});

Deno.test("every scenario of the baseline stands under the reason why it does not apply", async () => {
  for (const side of ["client", "server"] as const) {
    const list = await readBaseline(side);
    const groups = list.trim() === "[]" ? [] : list.trim().split(/\n\s*\n/);
    for (const group of groups) assert(/^\s*# \w.*\n(\s*# .*\n)*\s*- /.test(group), group);
  }
});
