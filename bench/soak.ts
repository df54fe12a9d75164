/**
 * Runs a Computer under constant calls, with MCP servers that crash, hang, print garbage and are reconfigured at random,
 * and with connections that are cut. The Computer must answer each call exactly once, and must not leak processes, file
 * descriptors, listeners or memory.
 *
 * ```sh
 * deno run -A bench/soak.ts                        # half an hour
 * deno run -A bench/soak.ts --minutes 3 --seed 7   # the same faults in each run; --journal FILE logs them
 * ```
 *
 * The exit code is 1 if a requirement was broken. Linux only, because it reads `/proc`.
 */
import { parseArgs } from "node:util";
import { Soak } from "./soak/soak.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    minutes: { type: "string", default: "30" },
    seed: { type: "string", default: `${Math.floor(Math.random() * 1_000_000)}` },
    journal: { type: "string" },
    callers: { type: "string", default: "8" },
  },
});

const soak = await Soak.open({
  minutes: Number(values.minutes),
  seed: Number(values.seed),
  callers: Number(values.callers),
  journal: values.journal,
});
const breaches = await soak.run();
console.log(
  breaches.length === 0 ? "\nall is well" : `\n${breaches.length} breaches:\n${breaches.join("\n")}`,
);
Deno.exit(breaches.length === 0 ? 0 : 1);
