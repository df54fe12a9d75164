/**
 * Tells the line coverage of `src/` from the profiles that a test run left in the given folder
 * (`deno test --coverage=FOLDER --coverage-raw-data-only`), and fails when it is too low.
 *
 * @module
 */

import { captureDeno } from "./deno.ts";

const minimumPercent = 90;

/** The lines that a report in the lcov format counts, and those of them that ran. */
export function countLines(lcov: string): { readonly found: number; readonly hit: number } {
  const sum = (record: string) =>
    [...lcov.matchAll(new RegExp(`^${record}:(\\d+)$`, "gm"))].reduce(
      (total, [, count]) => total + Number(count),
      0,
    );
  return { found: sum("LF"), hit: sum("LH") };
}

if (import.meta.main) {
  const [folder] = Deno.args;
  if (folder === undefined) {
    console.error("Usage: deno run -A tools/coverage.ts FOLDER");
    Deno.exit(2);
  }
  const sources = `^${new URL("../src/", import.meta.url).href}`;
  const { code, stdout, stderr } = await captureDeno(["coverage", "--lcov", `--include=${sources}`, folder]);
  if (code !== 0) {
    console.error(stderr);
    Deno.exit(code);
  }
  const { found, hit } = countLines(stdout);
  const percent = found === 0 ? 0 : hit / found * 100;
  console.log(`${hit} of ${found} lines of src/ ran: ${percent.toFixed(1)} % (at least ${minimumPercent} %)`);
  Deno.exit(percent < minimumPercent ? 1 : 0);
}
