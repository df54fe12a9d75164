/**
 * Runs the Python SDK's own tests with our Server in place of theirs. Takes versions as arguments; without any it runs
 * the newest suite, or all of them when `A2C_TEST_SIZE` is `full`. The first run of a version downloads the SDK's source
 * distribution, which holds the tests, and installs it into `.suites/<version>/`.
 *
 * @module
 */

import { fromFileUrl } from "@std/path";
import { leftOutOf, type Suite, suites } from "./suites.ts";
import { isFullSize } from "../../fixtures/test_size.ts";

const here = fromFileUrl(new URL("./", import.meta.url));
const root = fromFileUrl(new URL("../../../", import.meta.url));
/** The tests mostly wait, so more processes than cores finish sooner. */
const PROCESSES = 4;
/** Some of the SDK's tests race with themselves; the SDK runs its own end-to-end tests with three retries. */
const RETRIES = 2;

interface Report {
  readonly test: string;
  readonly outcome: "passed" | "failed" | "skipped";
  readonly wire: boolean;
}

async function run(command: string, args: readonly string[], options: Partial<Deno.CommandOptions> = {}) {
  const child = new Deno.Command(command, { args: [...args], stdin: "null", ...options }).spawn();
  return (await child.status).code;
}

/** The folder of an installed suite, or `undefined` when there is no suitable Python. */
async function install({ version }: Suite): Promise<string | undefined> {
  const folder = `${root}.suites/${version}`;
  const code = await run("sh", [`${here}install.sh`, version, folder]);
  if (code === 0) return folder;
  if (code !== NO_PYTHON) throw new TypeError(`Cannot install the suite ${version}: exit code ${code}`);
  return undefined;
}

/** What `install.sh` ends with when the machine has no suitable Python. */
const NO_PYTHON = 3;

async function readReports(path: string): Promise<Report[]> {
  const lines = (await Deno.readTextFile(path)).split("\n").filter((line) => line !== "");
  // A test that is tried again reports again: its last outcome counts.
  const last = new Map(
    lines.map((line) => JSON.parse(line) as Report).map((report) => [report.test, report]),
  );
  return [...last.values()];
}

async function runSuite(suite: Suite, folder: string): Promise<boolean> {
  const report = await Deno.makeTempFile();
  const args = ["-m", "pytest", "-p", "swap_server", "-p", "no:cacheprovider", "-q", "--no-header"];
  args.push("--disable-warnings", "--tb=short", "--timeout", "120", "--reruns", `${RETRIES}`);
  args.push("-n", `${PROCESSES}`, "--dist", "loadfile");
  const leftOut = leftOutOf(suite);
  for (const { test } of leftOut) args.push("--deselect", `tests/${test}`);
  const server = [Deno.execPath(), "run", "-A", "--no-check", `${root}server.ts`];
  const code = await run(`${folder}/venv/bin/python`, [
    ...args,
    ...suite.files.map((file) => `tests/${file}`),
  ], {
    cwd: `${folder}/source`,
    env: { PYTHONPATH: here, A2C_SERVER: JSON.stringify(server), A2C_SWAP_REPORT: report, NO_COLOR: "1" },
  });
  const reports = await readReports(report);
  await Deno.remove(report);
  const passed = reports.filter(({ wire, outcome }) => wire && outcome === "passed").length;
  console.log(
    `Python SDK ${suite.version}: ${passed} of its tests passed on our Server, ${leftOut.length} left out`,
  );
  if (passed < suite.minimumPassed) {
    console.error(`Expected at least ${suite.minimumPassed} tests to pass on our Server: ${passed} did`);
  }
  return code === 0 && passed >= suite.minimumPassed;
}

function chosenSuites(): readonly Suite[] {
  if (Deno.args.length > 0) return suites.filter(({ version }) => Deno.args.includes(version));
  return isFullSize ? suites : suites.slice(0, 1);
}

let areAllWell = true;
for (const suite of chosenSuites()) {
  const folder = await install(suite);
  if (folder === undefined) console.log(`Python SDK ${suite.version}: skipped, no suitable Python`);
  else areAllWell = await runSuite(suite, folder) && areAllWell;
}
Deno.exit(areAllWell ? 0 : 1);
