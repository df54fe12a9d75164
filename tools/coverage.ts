/**
 * Tells the line coverage of the packages from the profiles that a test run left in the given folder (`DENO_COVERAGE_DIR`), and
 * fails when it is too low.
 *
 * @module
 */

import { join } from "@std/path";
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

/**
 * Removes the profiles that nothing was written into, and returns how many they were. A program that is killed at its end,
 * as tests do, may leave one, and `deno coverage` stops at it.
 */
export async function removeEmptyProfiles(folder: string): Promise<number> {
  let removed = 0;
  for await (const { name } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if ((await Deno.stat(path)).size > 0) continue;
    await Deno.remove(path);
    removed++;
  }
  return removed;
}

if (import.meta.main) {
  const [folder] = Deno.args;
  if (folder === undefined) {
    console.error("Usage: deno run -A tools/coverage.ts FOLDER");
    Deno.exit(2);
  }
  const removed = await removeEmptyProfiles(folder);
  if (removed > 0) console.log(`${removed} empty profiles of programs that were killed do not count`);
  const sources = `^${new URL("../", import.meta.url).href}(packages/\\w+/)?src/`;
  const { code, stdout, stderr } = await captureDeno(["coverage", "--lcov", `--include=${sources}`, folder]);
  if (code !== 0) {
    console.error(stderr);
    Deno.exit(code);
  }
  const { found, hit } = countLines(stdout);
  const percent = found === 0 ? 0 : hit / found * 100;
  console.log(
    `${hit} of ${found} lines of the packages ran: ${percent.toFixed(1)} % (at least ${minimumPercent} %)`,
  );
  Deno.exit(percent < minimumPercent ? 1 : 0);
}
