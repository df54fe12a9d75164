/**
 * Keeps the table of attack tests in SECURITY.md: who attacks, the file with the tests, and how many of them passed in
 * a run. Takes the JUnit report of that run (`deno test --junit-path=FILE`) and writes the table; with `--check` it
 * compares the table with the report and fails when they differ.
 *
 * @module
 */

import { runDeno } from "./deno.ts";

const securityFile = new URL("../SECURITY.md", import.meta.url);
const attacksFolder = "tests/attacks/";
const TABLE = /(<!-- attacks -->)[^]*?(<!-- \/attacks -->)/;

/** One file of attack tests. */
export interface Attack {
  readonly file: string;
  /** Who attacks and how, as the first line of the file says it. */
  readonly attacker: string;
  readonly passed: number;
}

/** A test that passed, and the file that the report names for it: the one that calls `Deno.test`. */
export interface PassedTest {
  readonly file: string;
  readonly name: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' };

/** The tests that passed, from a JUnit report. */
export function readPassed(junit: string): PassedTest[] {
  const unescape = (text: string) => text.replaceAll(/&(\w+);/g, (all, name) => ENTITIES[name] ?? all);
  return junit.split("<testcase ").slice(1).flatMap((testcase) => {
    if (/<(?:failure|error|skipped)\b/.test(testcase)) return [];
    const [, name = "", file = ""] = /^name="([^"]*)" classname="([^"]*)"/.exec(testcase) ?? [];
    return [{ file: unescape(file).replace(/^\.\//, ""), name: unescape(name) }];
  });
}

/** The rows of the table, one for each file of attack tests, in the order of their names. */
export async function readAttacks(passed: readonly PassedTest[]): Promise<Attack[]> {
  const attacks: Attack[] = [];
  for await (const { name } of Deno.readDir(new URL(`../${attacksFolder}`, import.meta.url))) {
    if (!name.endsWith("_test.ts")) continue;
    const file = `${attacksFolder}${name}`;
    const text = await Deno.readTextFile(new URL(`../${file}`, import.meta.url));
    const attacker = /^\/\*\* Attacker: (.+?)\.?(?: \*\/)?$/m.exec(text)?.[1];
    if (attacker === undefined) {
      throw new TypeError(`Cannot list "${file}": no "Attacker:" in its first line`);
    }
    // A test that a helper declares is reported for the helper, so its name has to be found in the file.
    const isOwn = (test: PassedTest) =>
      test.file === file || (!test.file.startsWith(attacksFolder) && text.includes(`"${test.name}"`));
    attacks.push({ file, attacker, passed: passed.filter(isOwn).length });
  }
  return attacks.toSorted((a, b) => a.file < b.file ? -1 : 1);
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
  const [report] = Deno.args.filter((argument) => !argument.startsWith("--"));
  if (report === undefined) {
    console.error("Usage: deno run -A tools/attacks.ts JUNIT_REPORT [--check]");
    Deno.exit(2);
  }
  const table = tableOf(await readAttacks(readPassed(await Deno.readTextFile(report))));
  const text = await Deno.readTextFile(securityFile);
  if (Deno.args.includes("--check")) {
    const written = TABLE.exec(text)?.[0] ?? "";
    const isSame = withoutPadding(written).includes(withoutPadding(table));
    if (!isSame) {
      console.error("The attack tests in SECURITY.md are not those of this run. Expected:\n\n" + table);
      console.error(`\nRun: deno run -A tools/attacks.ts ${report}`);
    } else console.log(`The attack tests in SECURITY.md are those of this run`);
    Deno.exit(isSame ? 0 : 1);
  }
  await Deno.writeTextFile(
    securityFile,
    text.replace(TABLE, (_, start, end) => `${start}\n\n${table}\n\n${end}`),
  );
  Deno.exit(await runDeno(["fmt", "--quiet", "SECURITY.md"]));
}
