/**
 * The gate: everything that must be true before a change lands, in order, stopping at the first failure with its exit
 * code. With `--after-test` it takes `deno task test` as done, and judges the coverage and the reports that this left.
 *
 * @module
 */

import { root, runDeno } from "./deno.ts";

const coverageFolder = `${root}.coverage`;
const isAfterTest = Deno.args.includes("--after-test");

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

const steps: readonly Step[] = [
  { name: "format", args: ["fmt", "--check"] },
  { name: "lint", args: ["lint"] },
  { name: "documentation", args: ["run", "-A", "tools/doc_lint.ts"] },
  { name: "schema", args: ["run", "-A", "tools/config_schema.ts", "--check"] },
  ...isAfterTest ? [] : [quickTests],
  { name: "thorough tests", args: ["run", "-A", "tools/test.ts", "thorough"] },
  { name: "coverage", args: ["run", "-A", "tools/coverage.ts", coverageFolder] },
  { name: "attack tests", args: ["run", "-A", "tools/attacks.ts"] },
  { name: "official suites of Python", args: ["run", "-A", "tests/interop/suites/run.ts"] },
  { name: "official suites of Rust", args: ["run", "-A", "tests/interop/suites/rust.ts"] },
  { name: "examples", args: ["task", "demo"] },
  { name: "example of the gateway", args: ["task", "demo:gateway"] },
  { name: "publish", args: ["run", "-A", "tools/publish.ts", "--dry-run"] },
];

if (!isAfterTest) await Deno.remove(coverageFolder, { recursive: true }).catch(() => {});
for (const { name, args, env } of steps) {
  console.log(`\n== ${name}: deno ${args.join(" ")}`);
  const code = await runDeno(args, { env });
  if (code !== 0) {
    console.error(`\n== ${name} failed`);
    Deno.exit(code);
  }
}
console.log("\n== all is well");
