/** A Computer with default options in a separate process: `deno run -A computer.ts CONFIG SECONDS [READS [SERVER]]`. */
import { cpuUsage } from "node:process";
import { Computer } from "../../src/computer/computer.ts";

/** How often the delay of the event loop is measured, in milliseconds. */
const LOOK_MS = 5;

const [config = "{}", seconds = "5", reads = "0", url] = Deno.args;

const good = { type: "stdio", default_tool_meta: { auto_apply: true }, server_parameters: goodServer() };
await using computer = Computer.open({ name: "laptop", config: { servers: { good } } });
await computer.ready();
if (url !== undefined) await computer.join({ url, office: "bench" });
// The first call also loads modules, so it is not measured.
await computer.callTool("good_echo", {});
const baseMib = rssMib();
let peakMib = baseMib;
let wasEnded = false;
let longestMs = 0;
let lastMs = performance.now();
let lastCpuMs = usedCpuMs();

const timer = setInterval(() => {
  const nowMs = performance.now();
  const cpuMs = usedCpuMs();
  // On a busy machine the process may have to wait for the processor, which is not counted as a delay.
  longestMs = Math.max(longestMs, Math.min(nowMs - lastMs - LOOK_MS, cpuMs - lastCpuMs));
  lastMs = nowMs;
  lastCpuMs = cpuMs;
  peakMib = Math.max(peakMib, rssMib());
  wasEnded ||= (computer.servers.get("hostile")?.restarts ?? 0) > 0;
}, LOOK_MS);

await computer.reconfigure({ servers: { good, hostile: JSON.parse(config) } });
await computer.ready({ timeoutMs: 2_000 });
const asked = Array.from(
  { length: Number(reads) },
  (_, index) =>
    computer.readResource(`file:///${index}`, { mcpServer: "hostile", timeoutMs: 3_000 }).catch(() => {}),
);
const untilMs = performance.now() + Number(seconds) * 1_000;
let slowestMs = 0;
let calls = 0;
while (performance.now() < untilMs) {
  const startMs = performance.now();
  const { isError } = await computer.callTool("good_echo", {}, { timeoutMs: 10_000 });
  if (isError) throw new Error("Cannot call the good server's tool: it failed");
  slowestMs = Math.max(slowestMs, performance.now() - startMs);
  calls++;
  await new Promise((resolve) => setTimeout(resolve, 20));
}
await Promise.all(asked);
clearInterval(timer);
const { status, lastError } = computer.servers.get("hostile") ?? {};
const round = Math.round;
console.log(JSON.stringify({
  baseMib: round(baseMib),
  peakMib: round(peakMib),
  longestMs: round(longestMs),
  slowestMs: round(slowestMs),
  calls,
  wasEnded,
  status,
  lastError,
}));

/** The processor time of all threads. */
function usedCpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1_000;
}

function rssMib(): number {
  return Deno.memoryUsage().rss / 1024 / 1024;
}

function goodServer(): unknown {
  const server = new URL("../../tests/fixtures/stdio_server.ts", import.meta.url).pathname;
  const script = JSON.stringify({ tools: [{ name: "good_echo", inputSchema: { type: "object" } }] });
  return { command: Deno.execPath(), args: ["run", "-A", "--no-check", server, script] };
}
