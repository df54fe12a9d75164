/**
 * Measures how long a check of arguments blocks the process, for each hostile input schema of the test corpus: at the
 * first call of its tool, when the schema is read, and at a later call.
 *
 * ```sh
 * deno run -A bench/hostile_schemas_bench.ts   # exit code 2 if a check takes longer than 100 ms
 * ```
 */
import { checkArguments } from "../src/computer/tools/arguments.ts";
import { hostileSchemas } from "../tests/attacks/_hostile_schemas.ts";

/** The longest time that one check may take, in milliseconds. */
const TARGET_MS = 100;

let longestMs = 0;
for (const scale of [1, 4]) {
  for (const { name, schema, args } of hostileSchemas(scale)) {
    const bytes = JSON.stringify(schema).length;
    const heapBytes = Deno.memoryUsage().heapUsed;
    const [firstMs, verdict] = timed(() => checkArguments(schema, args));
    const grownBytes = Deno.memoryUsage().heapUsed - heapBytes;
    const [laterMs] = timed(() => checkArguments(schema, args));
    longestMs = Math.max(longestMs, firstMs, laterMs);
    const outcome = verdict.uncheckedBecause ?? `${verdict.problems.length} problems`;
    console.log(
      `${name} (${Math.round(bytes / 1024)} KiB): ${firstMs.toFixed(1)} ms, then ${laterMs.toFixed(1)} ms, ` +
        `${(grownBytes / 2 ** 20).toFixed(1)} MiB: ${outcome}`,
    );
  }
}
console.log(`longest: ${longestMs.toFixed(1)} ms (at most ${TARGET_MS})`);
if (longestMs > TARGET_MS) Deno.exit(2);

function timed<T>(run: () => T): [number, T] {
  const startMs = performance.now();
  const result = run();
  return [performance.now() - startMs, result];
}
