/**
 * The gate: everything that must be true before a change lands, in stages, stopping at the first failure with its exit
 * code. With `--after-test` it takes `deno task test` as done, and judges the reports that this left; their coverage at
 * full counts.
 *
 * @module
 */

import { forEachBounded } from "../src/async/limiter.ts";
import { isFullSize } from "../tests/fixtures/test_size.ts";
import { root, runDeno } from "./deno.ts";

/** Most steps wait or use one core. */
const STEPS_AT_A_TIME = 2;

const coverageFolder = `${root}.coverage`;
const isAfterTest = Deno.args.includes("--after-test");
/** Whether the tests left profiles: as `.ci/run` runs them, they do at full counts alone. */
const hasCoverage = !isAfterTest || isFullSize;

interface Step {
  readonly name: string;
  /** The arguments for Deno. */
  readonly args: readonly string[];
  readonly env?: Record<string, string>;
}

/** The tests whose coverage is judged: the others would write profiles for minutes, and hardly run other lines. */
const quickTests: Step = {
  name: "quick tests",
  args: ["run", "-A", "tools/test.ts", "quick"],
  // The programs that tests start leave their coverage there, too.
  env: { DENO_COVERAGE_DIR: coverageFolder },
};

/** One stage after the other; the steps of a stage run two at a time. */
const stages: readonly (readonly Step[])[] = [
  [
    { name: "format", args: ["fmt", "--check"] },
    { name: "lint", args: ["lint"] },
    { name: "documentation", args: ["run", "-A", "tools/doc_lint.ts"] },
    { name: "schema", args: ["run", "-A", "tools/config_schema.ts", "--check"] },
    { name: "console's pages", args: ["run", "-A", "tools/console_assets.ts", "--check"] },
  ],
  isAfterTest ? [] : [quickTests],
  [
    { name: "thorough tests", args: ["run", "-A", "tools/test.ts", "thorough"] },
    { name: "official suites of Python", args: ["run", "-A", "tests/interop/suites/run.ts"] },
    { name: "official suites of Rust", args: ["run", "-A", "tests/interop/suites/rust.ts"] },
    { name: "examples", args: ["task", "demo"] },
    { name: "example of the gateway", args: ["task", "demo:gateway"] },
  ],
  [
    ...hasCoverage ? [{ name: "coverage", args: ["run", "-A", "tools/coverage.ts", coverageFolder] }] : [],
    { name: "publish", args: ["run", "-A", "tools/publish.ts", "--dry-run"] },
  ],
];

if (!isAfterTest) await Deno.remove(coverageFolder, { recursive: true }).catch(() => {});
for (const stage of stages) {
  const failures: number[] = [];
  await forEachBounded(stage, STEPS_AT_A_TIME, async ({ name, args, env }) => {
    if (failures.length > 0) return;
    console.log(`\n== ${name}: deno ${args.join(" ")}`);
    const code = await runDeno(args, { env, isHeldBack: stage.length > 1 });
    if (code === 0) return;
    console.error(`\n== ${name} failed`);
    failures.push(code);
  });
  if (failures.length > 0) Deno.exit(failures[0]);
}
console.log("\n== all is well");
