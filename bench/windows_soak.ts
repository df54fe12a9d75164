/**
 * Runs eight windows of MCP clients and commands of one user on one seat, and kills and closes them at random. No
 * call may run twice or be answered twice, and none that has begun may be lost without an error that says so.
 *
 * ```sh
 * deno run -A bench/windows_soak.ts                        # an hour
 * deno run -A bench/windows_soak.ts --minutes 5 --seed 7
 * ```
 *
 * The exit code is 1 if a requirement was broken. Not for Windows.
 */
import { parseArgs } from "node:util";
import { Random } from "../tests/fixtures/random.ts";
import { WindowStorm } from "../tests/integration/_window_storm.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    minutes: { type: "string", default: "60" },
    seed: { type: "string", default: `${Math.floor(Math.random() * 1_000_000)}` },
    windows: { type: "string", default: "8" },
  },
});

console.log(`seed ${values.seed}, ${values.minutes} minutes, ${values.windows} windows`);
const { counts, breaches } = await WindowStorm.run({
  windows: Number(values.windows),
  durationMs: Number(values.minutes) * 60_000,
  random: new Random(Number(values.seed)),
});
for (const [what, count] of Object.entries(counts)) console.log(`${what}: ${count}`);
console.log(breaches.length === 0 ? "all is well" : `${breaches.length} breaches:\n${breaches.join("\n")}`);
Deno.exit(breaches.length === 0 ? 0 : 1);
