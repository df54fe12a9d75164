/**
 * Keeps the table of attack tests in SECURITY.md: who attacks, the file with the tests, and how many of them passed in
 * a run. Reads the JUnit reports that `deno task test` left and writes the table; with `--check` it compares the table with
 * the reports and fails when they differ.
 *
 * @module
 */

import { root, runDeno } from "./deno.ts";
import { readReport, type ReportedTest, reportsFolder } from "./test.ts";

const securityFile = new URL("../SECURITY.md", import.meta.url);
/** Attacks that measure time run in the serial lane. */
const attackFolders = ["tests/attacks/", "tests/serial/"];
const TABLE = /(<!-- attacks -->)[^]*?(<!-- \/attacks -->)/;

/** One file of attack tests. */
export interface Attack {
  readonly file: string;
  /** Who attacks and how, as the first line of the file says it. */
  readonly attacker: string;
  readonly passed: number;
}

/** The rows of the table, one for each file of attack tests, in the order of their names. */
export async function readAttacks(tests: readonly ReportedTest[]): Promise<Attack[]> {
  const passed = tests.filter(({ outcome }) => outcome === "passed");
  const attacks: Attack[] = [];
  for (const file of await listTestFiles()) {
    const text = await Deno.readTextFile(new URL(`../${file}`, import.meta.url));
    const attacker = /^\/\*\* Attacker: (.+?)\.?(?: \*\/)?$/m.exec(text)?.[1];
    if (attacker === undefined && !file.startsWith("tests/attacks/")) continue;
    if (attacker === undefined) {
      throw new TypeError(`Cannot list "${file}": no "Attacker:" in its first line`);
    }
    // A test that a helper declares is reported for the helper, so its name has to be found in the file.
    const isOwn = (test: ReportedTest) =>
      test.file === file || (!test.file.startsWith("tests/attacks/") && text.includes(`"${test.name}"`));
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

/** The table as Markdown. */
export function tableOf(attacks: readonly Attack[]): string {
  const rows = attacks.map(({ attacker, file, passed }) =>
    `| ${attacker} | [\`${file}\`](${file}) | ${passed} |`
  );
  const total = attacks.reduce((sum, { passed }) => sum + passed, 0);
  return ["| attacker | tests | passed |", "| --- | --- | --- |", ...rows, `| all | | ${total} |`].join("\n");
}

/** A table without the padding that a formatter adds. */
function withoutPadding(table: string): string {
  return table.replaceAll(/ +/g, " ").replaceAll(/-+/g, "-").replaceAll("| |", "||");
}

if (import.meta.main) {
  const table = tableOf(await readAttacks(await readReports()));
  const text = await Deno.readTextFile(securityFile);
  if (Deno.args.includes("--check")) {
    const written = TABLE.exec(text)?.[0] ?? "";
    const isSame = withoutPadding(written).includes(withoutPadding(table));
    if (!isSame) {
      console.error("The attack tests in SECURITY.md are not those of this run. Expected:\n\n" + table);
      console.error("\nRun: deno run -A tools/attacks.ts");
    } else console.log(`The attack tests in SECURITY.md are those of this run`);
    Deno.exit(isSame ? 0 : 1);
  }
  await Deno.writeTextFile(
    securityFile,
    text.replace(TABLE, (_, start, end) => `${start}\n\n${table}\n\n${end}`),
  );
  Deno.exit(await runDeno(["fmt", "--quiet", "SECURITY.md"]));
}
