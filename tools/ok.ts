/**
 * The gate: everything that must be true before a change lands, in order, stopping at the first failure with its exit
 * code. `--skip-test` takes the tests as done: it leaves them out and judges the coverage and the report that they left
 * behind.
 *
 * @module
 */

import { runDeno } from "./deno.ts";

const coverageFolder = ".coverage";
const testReport = ".test-report.xml";

interface Step {
  readonly name: string;
  /** The arguments for Deno. */
  readonly args: readonly string[];
}

const steps: readonly Step[] = [
  { name: "format", args: ["fmt", "--check"] },
  { name: "lint", args: ["lint"] },
  { name: "types", args: ["check"] },
  { name: "documentation", args: ["run", "-A", "tools/doc_lint.ts"] },
  { name: "schema", args: ["run", "-A", "tools/config_schema.ts", "--check"] },
  {
    name: "tests",
    args: [
      ...["task", "test", `--junit-path=${testReport}`],
      ...["--clean", `--coverage=${coverageFolder}`, "--coverage-raw-data-only"],
    ],
  },
  { name: "coverage", args: ["run", "-A", "tools/coverage.ts", coverageFolder] },
  { name: "attack tests", args: ["run", "-A", "tools/attacks.ts", testReport, "--check"] },
  { name: "official suites", args: ["run", "-A", "tests/interop/suites/run.ts"] },
  { name: "packaging", args: ["test", "-A", "tests/packaging/installed.ts"] },
  { name: "examples", args: ["task", "demo"] },
  { name: "publish", args: ["run", "-A", "tools/publish.ts", "--dry-run"] },
];

const skipsTests = Deno.args.includes("--skip-test");
for (const { name, args } of steps) {
  if (name === "tests" && skipsTests) continue;
  console.log(`\n== ${name}: deno ${args.join(" ")}`);
  const code = await runDeno(args);
  if (code !== 0) {
    console.error(`\n== ${name} failed`);
    Deno.exit(code);
  }
}
console.log("\n== all is well");
