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

/** How many tests of each attack file passed, by the file's path, from a JUnit report. */
export function countPassed(junit: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [, attributes = ""] of junit.matchAll(/<testsuite ([^>]*)>/g)) {
    const attribute = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";
    const file = attribute("name").replace(/^\.\//, "");
    if (!file.startsWith(attacksFolder)) continue;
    const left = ["disabled", "errors", "failures"].reduce((sum, name) => sum + Number(attribute(name)), 0);
    counts.set(file, Number(attribute("tests")) - left);
  }
  return counts;
}

/** The rows of the table, one for each file of attack tests, in the order of their names. */
export async function readAttacks(passed: ReadonlyMap<string, number>): Promise<Attack[]> {
  const attacks: Attack[] = [];
  for await (const { name } of Deno.readDir(new URL(`../${attacksFolder}`, import.meta.url))) {
    if (!name.endsWith("_test.ts")) continue;
    const file = `${attacksFolder}${name}`;
    const text = await Deno.readTextFile(new URL(`../${file}`, import.meta.url));
    const attacker = /^\/\*\* Attacker: (.+?)\.?(?: \*\/)?$/m.exec(text)?.[1];
    if (attacker === undefined) {
      throw new TypeError(`Cannot list "${file}": no "Attacker:" in its first line`);
    }
    attacks.push({ file, attacker, passed: passed.get(file) ?? 0 });
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
  const table = tableOf(await readAttacks(countPassed(await Deno.readTextFile(report))));
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
