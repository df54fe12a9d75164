/**
 * Measures how much time a Computer adds to a tool call. The same call is made in three ways: directly to the MCP server
 * with the client of the MCP SDK, through a Computer in this process, and from an Agent through a Server in a separate
 * process. One call runs at a time, and the three ways take turns, so that other load on the machine slows all of them
 * equally.
 *
 * ```sh
 * deno run -A bench/call_bench.ts     # the results; exit code 2 if the Computer adds 0.3 ms or more
 * deno bench -A bench/call_bench.ts   # the same, and the comparison by deno bench
 * ```
 */
import { fromFileUrl } from "@std/path";
import { Agent } from "../src/agent/agent.ts";
import { Computer } from "../src/computer/computer.ts";
import { connectBare } from "./fixtures/bare_client.ts";
import { ServerProcess } from "./fixtures/server_process.ts";

/** The most that the Computer may add to the median of a call, in milliseconds. */
const TARGET_MS = 0.3;
const WARM_UP_CALLS = 500;
const PAYLOADS = [
  { name: "20 bytes", text: "x".repeat(20), calls: 4_000 },
  { name: "100 KB", text: "x".repeat(100_000), calls: 600 },
] as const;

const echo = {
  command: Deno.execPath(),
  args: [
    "run",
    "-A",
    "--no-config",
    "--quiet",
    fromFileUrl(new URL("fixtures/echo_server.ts", import.meta.url)),
  ],
};
const config = {
  servers: { echo: { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters: echo } },
};

const server = await ServerProcess.start();
const client = await connectBare(echo);
const computer = Computer.open({ name: "computer", config });
await computer.ready();
await computer.join({ url: server.url, office: "bench" });
const agent = await Agent.connect({ url: server.url, office: "bench", name: "agent" });
const remote = agent.computer("computer");

/** The three ways. Each function makes one call and checks its result. */
const ways = {
  straight: async (text: string) => check(await client.callTool({ name: "echo", arguments: { text } })),
  computer: async (text: string) => check(await computer.callTool("echo", { text })),
  office: async (text: string) => check(await remote.callTool("echo", { text })),
} as const;
type Way = keyof typeof ways;
const names: readonly Way[] = ["straight", "computer", "office"];

function check(result: object): void {
  const isAnswer = "content" in result && !("isError" in result && result.isError === true);
  if (!isAnswer) throw new TypeError("Cannot go on: a call failed");
}

/** The times of each way in milliseconds, in ascending order. */
async function measure(text: string, calls: number): Promise<Record<Way, number[]>> {
  const times: Record<Way, number[]> = { straight: [], computer: [], office: [] };
  for (let call = 0; call < calls; call++) {
    for (let turn = 0; turn < names.length; turn++) {
      const way = names[(call + turn) % names.length] ?? "straight";
      const startMs = performance.now();
      await ways[way](text);
      times[way].push(performance.now() - startMs);
    }
  }
  for (const way of names) times[way].sort((a, b) => a - b);
  return times;
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.floor(sorted.length * part)] ?? NaN;
}

/** Prints the times of each way, and returns how much the Computer adds to the median, in milliseconds. */
function report(name: string, times: Record<Way, number[]>): number {
  const base = { p50: quantile(times.straight, 0.5), p99: quantile(times.straight, 0.99) };
  for (const way of names) {
    const [p50, p99] = [quantile(times[way], 0.5), quantile(times[way], 0.99)];
    const added = `added p50 ${(p50 - base.p50).toFixed(3)}, p99 ${(p99 - base.p99).toFixed(3)}`;
    console.log(`${name}, ${way.padEnd(8)}  p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms; ${added}`);
  }
  return quantile(times.computer, 0.5) - base.p50;
}

let addedMs = 0;
for (const { name, text, calls } of PAYLOADS) {
  await measure(text, Math.min(WARM_UP_CALLS, calls));
  const added = report(name, await measure(text, calls));
  console.log(`${name}: the Computer adds ${added.toFixed(3)} ms to the median (below ${TARGET_MS} ms)`);
  addedMs = Math.max(addedMs, added);
}

if (import.meta.main) {
  await agent.close();
  await computer.close();
  await client.close();
  await server.close();
  Deno.exit(addedMs < TARGET_MS ? 0 : 2);
}

for (const { name, text } of PAYLOADS) {
  for (const way of names) {
    Deno.bench({ name: way, group: name, baseline: way === "straight", fn: () => ways[way](text) });
  }
}
// deno bench has no hook after the last benchmark. The Server and the MCP servers end with this process.
globalThis.addEventListener("unload", () => server.kill());
