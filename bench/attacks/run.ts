/**
 * Runs hostile MCP servers against a Computer with default options: `deno run -A bench/attacks/run.ts [NAME…]`. Prints
 * the cost of each attack. Exit code 2 if a cost is above its limit.
 */
import { Agent } from "../../src/agent/agent.ts";
import { ServerProcess } from "../fixtures/server_process.ts";
import { ATTACKS, type HttpAttack, serveHttpAttack } from "./hostile_http.ts";

/** How long each attack runs, in seconds. */
const SECONDS = 6;
/** The most memory that the process of the Computer may use, in MiB. */
const MAX_MIB = 256;
/** The longest time for which the event loop may be blocked, in milliseconds. */
const MAX_STALL_MS = 100;

const STDIO_ATTACKS = [
  "nothing",
  "pings, stdin not read",
  "a line without end",
  "pages without end",
  "huge descriptions",
  "many small tools",
  "a list of distinct names",
  "a list of distinct objects",
  "many empty objects",
  "a million texts",
  "a list of distinct short texts",
  "a million values in rows",
  "lists in lists",
  "a text of escapes",
  "a message just below the limit",
  "a storm of notifications",
  "a storm of list changes",
  "log messages of 1 MiB",
  "answers that nobody asked for",
  "stray lines",
  "messages that are none",
];

/** Attacks with the results of calls of an Agent: how many results it fetches, and how many calls it makes at once. */
const RESULT_ATTACKS: Readonly<Record<string, { readonly times: number; readonly atOnce: number }>> = {
  "a tool result just below the limit": { times: 1, atOnce: 1 },
  "tool results just below the limit": { times: Infinity, atOnce: 1 },
  "tool results at the same time": { times: Infinity, atOnce: 8 },
};

/** The cost of one attack. */
interface Cost {
  readonly baseMib: number;
  readonly peakMib: number;
  readonly longestMs: number;
  readonly slowestMs: number;
  readonly calls: number;
  readonly wasEnded: boolean;
  readonly status: string;
  readonly lastError?: string;
}

let failures = 0;
const wanted = (name: string) => Deno.args.length === 0 || Deno.args.some((part) => name.includes(part));
for (const name of STDIO_ATTACKS.filter(wanted)) report(name, await attack(stdioConfig(name)));
for (const [name, calls] of Object.entries(RESULT_ATTACKS)) {
  if (wanted(name)) report(name, await attackCalls(name, calls));
}
for (const name of Object.keys(ATTACKS).filter(wanted)) {
  const { config, close } = serveHttpAttack(name as HttpAttack);
  report(name, await attack(config, { reads: name.startsWith("100 ") ? 100 : 0 }));
  // Endless streams are still open.
  await Promise.race([close(), new Promise((resolve) => setTimeout(resolve, 200))]);
}
Deno.exit(failures === 0 ? 0 : 2);

function stdioConfig(name: string): unknown {
  const server = new URL("./hostile_stdio.ts", import.meta.url).pathname;
  return {
    type: "stdio",
    default_tool_meta: { auto_apply: true },
    server_parameters: { command: Deno.execPath(), args: ["run", "-A", "--no-check", server, name] },
  };
}

/** Runs a Computer in an office, whose Agent calls the tool of the hostile server. */
async function attackCalls(
  name: string,
  { times, atOnce }: { readonly times: number; readonly atOnce: number },
): Promise<Cost | undefined> {
  await using server = await ServerProcess.start();
  await using agent = await Agent.connect({ url: server.url, office: "bench", name: "ada" });
  let isOver = false;
  let left = times;
  const attacking = attack(stdioConfig(name), { url: server.url }).finally(() => isOver = true);
  const call = async () => {
    while (!isOver && left > 0) {
      const calling = agent.computer("laptop").callTool("t0-0", {}, { timeoutMs: 5_000 });
      const result = await calling.catch(() => undefined);
      if (result?.isError === false) left--;
      // The Computer or the tool is not there yet, or too many requests are open.
      else await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  await Promise.all([...Array.from({ length: atOnce }, call), attacking]);
  return await attacking;
}

async function attack(
  config: unknown,
  { reads = 0, url }: { readonly reads?: number; readonly url?: string } = {},
): Promise<Cost | undefined> {
  const computer = new URL("./computer.ts", import.meta.url).pathname;
  const root = new URL("../../deno.json", import.meta.url).pathname;
  const args = ["run", "-A", "--no-check", "--config", root, computer];
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...args,
      JSON.stringify(config),
      String(SECONDS),
      String(reads),
      ...url === undefined ? [] : [url],
    ],
    stderr: "inherit",
  }).output();
  if (!success) return undefined;
  return JSON.parse(new TextDecoder().decode(stdout).trim().split("\n").at(-1) ?? "{}");
}

function report(name: string, cost: Cost | undefined): void {
  const isGood = cost !== undefined && cost.peakMib <= MAX_MIB && cost.longestMs <= MAX_STALL_MS;
  if (!isGood) failures++;
  const text = cost === undefined ? "the Computer died" : [
    `${cost.baseMib} -> ${cost.peakMib} MiB`,
    `stalled ${cost.longestMs} ms`,
    `slowest of ${cost.calls} calls elsewhere ${cost.slowestMs} ms`,
    cost.wasEnded ? "ended" : "held",
    cost.lastError ?? cost.status,
  ].join(", ");
  const limits = `at most ${MAX_MIB} MiB, stalled ${MAX_STALL_MS} ms${isGood ? "" : ", FAILED"}`;
  console.log(`${name}: ${text} (${limits})`);
}
