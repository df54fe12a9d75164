/**
 * Runs the tests in lanes: `quick` after each change, one lane after the other; `thorough` for what is left, two lanes at
 * a time; `all` for both. Each lane leaves a JUnit report in `.test-reports/`; with `DENO_COVERAGE_DIR` in the
 * environment, it also leaves its coverage there. Further arguments are passed to each `deno test`, for example
 * `--filter NAME`. Lists the tests that were skipped; when a lane failed, the last line names the tests that failed.
 *
 * @module
 */

import { forEachBounded } from "../src/async/limiter.ts";
import { isFullSize } from "../tests/fixtures/test_size.ts";
import { root, runDeno } from "./deno.ts";

/** Where each lane leaves its JUnit report. */
export const reportsFolder = ".test-reports";

/** Makes failures legible. */
const PRELOAD = "./tests/fixtures/suppressed_errors.ts";

/** How long a lane may take, in milliseconds: Deno names each test that runs for over a minute, so a hang has a name. */
const LANE_LIMIT_MS = (isFullSize ? 24 * 60 : 30) * 60_000;

/** Tests that run in one call of `deno test`. */
interface Lane {
  readonly name: string;
  readonly part: Part;
  /** The arguments for `deno test`. */
  readonly args: readonly string[];
  /** The files to run beside those that `args` name, several in one isolate. */
  readonly isGrouped?: (file: string) => boolean;
}

type Part = "quick" | "thorough";

/** The serial lane of the quick part measures time, so it runs alone. */
const LANES_AT_A_TIME: Readonly<Record<Part, number>> = { quick: 1, thorough: 2 };

const PARTS: Readonly<Record<string, readonly Part[]>> = {
  quick: ["quick"],
  thorough: ["thorough"],
  all: ["quick", "thorough"],
};

const OTHER_FOLDERS = [
  "serial",
  "programs",
  "cluster",
  "console",
  "fuzz",
  "interop",
  "conformance",
  "deploy",
  "toolkits",
  "packaging",
  "windows",
]
  .flatMap((name) => [`tests/${name}/`, `packages/documents/tests/${name}/`]);

// The types are checked once, beside the first lane, except in the snippets of the documentation.
const lanes: readonly Lane[] = [
  {
    name: "parallel",
    part: "quick",
    args: ["--no-check", "--parallel"],
    // Whatever is in no other lane, so that no test is forgotten.
    isGrouped: (file) => !OTHER_FOLDERS.some((folder) => file.startsWith(folder)),
  },
  { name: "serial", part: "quick", args: ["--no-check", "tests/serial", "packages/documents/tests/serial"] },
  { name: "windows", part: "quick", args: ["--no-check", "tests/windows"] },
  // Lanes that wait most come first, beside those that compute.
  { name: "conformance", part: "thorough", args: ["--no-check", "tests/conformance"] },
  { name: "programs", part: "thorough", args: ["--no-check", "--parallel", "tests/programs"] },
  { name: "cluster", part: "thorough", args: ["--no-check", "tests/cluster"] },
  // Each file has a browser of its own.
  { name: "console", part: "thorough", args: ["--no-check", "tests/console"] },
  {
    name: "documentation",
    part: "thorough",
    args: ["--doc", "--parallel", "--ignore=tests,packages/documents/tests,.windows"],
  },
  {
    name: "packaging",
    part: "thorough",
    args: ["--no-check", "tests/packaging", "tests/packaging/installed.ts"],
  },
  { name: "interop", part: "thorough", args: ["--no-check", "--parallel", "tests/interop"] },
  {
    name: "fuzz",
    part: "thorough",
    args: ["--no-check", "--parallel", "tests/fuzz", "packages/documents/tests/fuzz"],
  },
  { name: "deploy", part: "thorough", args: ["--no-check", "--parallel", "tests/deploy"] },
  { name: "toolkits", part: "thorough", args: ["--no-check", "tests/toolkits"] },
];

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/** A test in a report. */
export interface ReportedTest {
  /** The file that calls `Deno.test`. */
  readonly file: string;
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
}

/** The tests of a JUnit report, in its order. */
export function readReport(junit: string): ReportedTest[] {
  const unescape = (text: string) => text.replaceAll(/&(\w+);/g, (all, name) => ENTITIES[name] ?? all);
  return junit.split("<testcase ").slice(1).map((testcase) => {
    const [, name = "", file = ""] = /^name="([^"]*)" classname="([^"]*)"/.exec(testcase) ?? [];
    const outcome = /<skipped\b/.test(testcase)
      ? "skipped"
      : /<(?:failure|error)\b/.test(testcase)
      ? "failed"
      : "passed";
    return { file: unescape(file).replace(/^\.\//, ""), name: unescape(name), outcome };
  });
}

/** More at a time than there are cores, since most tests wait for other processes now and then. */
const JOBS = Number(Deno.env.get("DENO_JOBS") ?? navigator.hardwareConcurrency + 4);

/** Each file named `*_test.ts` in a folder and below it, as a path from the root. */
async function listTestFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${root}${folder}`)) {
    if (isDirectory) files.push(...await listTestFiles(`${folder}/${name}`));
    else if (name.endsWith("_test.ts")) files.push(`${folder}/${name}`);
  }
  return files.sort();
}

/** The bytes of a file, ten times those where tests start programs and wait for them: about the time that it takes. */
async function costOf(file: string): Promise<number> {
  const { size } = await Deno.stat(`${root}${file}`);
  return file.includes("/unit/") ? size : 10 * size;
}

/**
 * Writes modules that import test files, one for each job, so that a group of them shares an isolate: in an isolate for
 * each file, loading what the files import takes as long as a third of their tests.
 */
async function writeGroups(files: readonly string[], folder: string): Promise<void> {
  const groups = Array.from({ length: JOBS }, () => ({ cost: 0, text: "" }));
  const costs = await Promise.all(files.map(async (file) => ({ file, cost: await costOf(file) })));
  for (const { file, cost } of costs.sort((left, right) => right.cost - left.cost)) {
    const group = groups.reduce((least, each) => each.cost < least.cost ? each : least);
    group.cost += cost;
    group.text += `import "${new URL(`../${file}`, import.meta.url)}";\n`;
  }
  for (const [index, { text }] of groups.entries()) {
    if (text !== "") await Deno.writeTextFile(`${folder}/group_${index + 1}_test.ts`, text);
  }
}

/** Runs a lane, and resolves to its failures: nothing when it passed, otherwise the lane and the tests that failed. */
async function runLane({ name, part, args, isGrouped }: Lane, more: readonly string[]): Promise<string[]> {
  const report = `${reportsFolder}/${name}.xml`;
  const groups = isGrouped === undefined ? undefined : await Deno.makeTempDir({ prefix: `a2c-${name}-` });
  const files: string[] = [];
  if (groups !== undefined) {
    const all = [...await listTestFiles("tests"), ...await listTestFiles("packages")];
    await writeGroups(all.filter((file) => isGrouped?.(file)), groups);
    files.push(groups);
  }
  const words = ["test", "-A", `--preload=${PRELOAD}`, `--junit-path=${report}`, ...args, ...files, ...more];
  console.log(`\n== ${name} tests: deno ${words.join(" ")}`);
  const options = {
    env: { DENO_JOBS: `${JOBS}` },
    limitMs: LANE_LIMIT_MS,
    isHeldBack: LANES_AT_A_TIME[part] > 1,
  };
  const isPassed = await runDeno(words, options) === 0;
  if (groups !== undefined) await Deno.remove(groups, { recursive: true });
  const tests = readReport(await Deno.readTextFile(report).catch(() => ""));
  for (const test of tests.filter(({ outcome }) => outcome === "skipped")) {
    console.log(`skipped in ${test.file}: ${test.name}`);
  }
  return isPassed ? [] : failuresOf(name, tests);
}

/** What failed in a lane; the lane alone when its report names no test, as after an error outside of tests. */
export function failuresOf(lane: string, tests: readonly ReportedTest[]): string[] {
  const failed = tests.filter(({ outcome }) => outcome === "failed");
  return failed.length === 0 ? [lane] : failed.map(({ file, name }) => `${lane}: ${file} => ${name}`);
}

/** Checks the types of everything; prints what is wrong at once, and resolves to the name of this step if it failed. */
async function checkTypes(): Promise<string[]> {
  console.log("== types: deno check");
  if (await runDeno(["check", "--quiet"]) === 0) return [];
  console.error("\n== the types are wrong, as the lines above say; the tests run to their end");
  return ["types"];
}

if (import.meta.main) {
  const [name = "", ...more] = Deno.args;
  const parts = PARTS[name];
  if (parts === undefined) {
    console.error("Usage: deno run -A tools/test.ts quick|thorough|all [ARGUMENTS FOR deno test]");
    Deno.exit(2);
  }
  if (parts.includes("quick")) {
    await Deno.remove(reportsFolder, { recursive: true }).catch(() => {});
  }
  await Deno.mkdir(reportsFolder, { recursive: true });
  // The check uses one core, so the first lane runs beside it.
  const types = parts.includes("quick") ? checkTypes() : Promise.resolve([]);
  const failed: string[] = [];
  for (const part of parts) {
    await forEachBounded(lanes.filter((lane) => lane.part === part), LANES_AT_A_TIME[part], async (lane) => {
      failed.push(...await runLane(lane, more));
    });
  }
  failed.unshift(...await types);
  if (failed.length > 0) console.error(`\n== tests failed in: ${failed.join("; ")}`);
  Deno.exit(failed.length > 0 ? 1 : 0);
}
