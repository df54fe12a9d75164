/**
 * Prints the attack tests of a run: who attacks, the file with the tests, and how many of them passed. Reads the JUnit
 * reports that `deno task test` left.
 *
 * @module
 */

import { root } from "./deno.ts";
import { readReport, type ReportedTest, reportsFolder } from "./test.ts";

/** Attacks that measure time run in the serial lane. */
const attackFolders = ["tests/attacks/", "tests/serial/"]
  .flatMap((folder) => [folder, `packages/documents/${folder}`]);

/** One file of attack tests. */
export interface Attack {
  readonly file: string;
  /** Who attacks and how, as the first line of the file says it. */
  readonly attacker: string;
  readonly passed: number;
}

/** One for each file of attack tests, in the order of their names. */
export async function readAttacks(tests: readonly ReportedTest[]): Promise<Attack[]> {
  const passed = tests.filter(({ outcome }) => outcome === "passed");
  const attacks: Attack[] = [];
  for (const file of await listTestFiles()) {
    const text = await Deno.readTextFile(new URL(`../${file}`, import.meta.url));
    const attacker = /^\/\*\* Attacker: (.+?)\.?(?: \*\/)?$/m.exec(text)?.[1];
    if (attacker === undefined && !file.includes("tests/attacks/")) continue;
    if (attacker === undefined) {
      throw new TypeError(`Cannot list "${file}": no "Attacker:" in its first line`);
    }
    // A test that a helper declares is reported for the helper, so its name has to be found in the file.
    const isOwn = (test: ReportedTest) =>
      test.file === file || (!test.file.includes("tests/attacks/") && text.includes(`"${test.name}"`));
    attacks.push({ file, attacker, passed: passed.filter(isOwn).length });
  }
  return attacks;
}

async function listTestFiles(): Promise<string[]> {
  const files: string[] = [];
  for (const folder of attackFolders) {
    for await (const { name } of Deno.readDir(new URL(`../${folder}`, import.meta.url))) {
      if (name.endsWith("_test.ts")) files.push(`${folder}${name}`);
    }
  }
  return files.sort();
}

/** The tests in the reports of the last run; other results that tests leave beside them are passed over. */
async function readReports(): Promise<ReportedTest[]> {
  const tests: ReportedTest[] = [];
  for await (const { name } of Deno.readDir(`${root}${reportsFolder}`)) {
    if (!name.endsWith(".xml")) continue;
    tests.push(...readReport(await Deno.readTextFile(`${root}${reportsFolder}/${name}`)));
  }
  return tests;
}

/** A line for each file, and one for all. */
export function listOf(attacks: readonly Attack[]): string {
  const lines = attacks.map(({ attacker, file, passed }) => `${passed} passed: ${file}: ${attacker}`);
  const total = attacks.reduce((sum, { passed }) => sum + passed, 0);
  return [...lines, `${total} attack tests passed`].join("\n");
}

if (import.meta.main) console.log(listOf(await readAttacks(await readReports())));
