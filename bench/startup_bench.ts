/**
 * Measures how long a Computer takes to start its MCP servers: 20 servers with a cold compile cache and with a warm one,
 * and 50 servers compared with 50 clients of the MCP SDK, in alternating rounds. Before that, it measures how long the
 * programs themselves take to start.
 *
 * ```sh
 * deno run -A bench/startup_bench.ts     # the results alone; a number behind it is that of the rounds
 * deno bench -A bench/startup_bench.ts   # and the comparison by deno bench
 * ```
 *
 * Servers whose start needs the processor do not start faster in parallel: on a machine with two cores, 20 such starts
 * take ten times as long as one. Therefore the Computer is compared with clients of the MCP SDK, and the servers of that
 * comparison only wait.
 */
import type { ServerCommand } from "./fixtures/bare_client.ts";
import { echoServer, everythingServer, freshDenoDir, waitingServer } from "./startup/servers.ts";
import { measurePrograms } from "./startup/programs.ts";
import { startBare, startWithComputer, times } from "./startup/starts.ts";

const ROUNDS = Number(Deno.args[0] ?? 5);
/** The most time that a Computer may take, as a multiple of the time of the MCP SDK's clients for the same servers. */
const TARGET_RATIO = 1.1;
/** How long the slowest of 50 servers waits, in seconds. */
const WAIT_SECONDS = 1;

type Server = (env?: Readonly<Record<string, string>>) => ServerCommand;

/** Starts 20 servers with a cold cache, then with a warm one, and then one server alone. */
async function measureColdAndWarm(name: string, server: Server): Promise<void> {
  await using folder = await freshDenoDir();
  const env = { DENO_DIR: folder.path };
  const coldMs = await startWithComputer(times(20, server(env)));
  const warmMs = await medianOf(() => startWithComputer(times(20, server(env))));
  const aloneMs = await medianOf(() => startWithComputer(times(1, server(env))));
  console.log(
    `20 × ${name}: cold ${ms(coldMs)}, warm ${ms(warmMs)}; one alone, warm: ${ms(aloneMs)} ` +
      `(${(warmMs / aloneMs).toFixed(1)} ×; ${navigator.hardwareConcurrency} processors)`,
  );
}

/** Starts many servers with a Computer, and the same servers with clients of the MCP SDK. */
async function compare(what: string, servers: readonly ServerCommand[]): Promise<void> {
  const alone = await medianOf(() => startWithComputer(servers.slice(0, 1)));
  const ratios: number[] = [];
  const taken = { computer: [] as number[], bare: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const isComputerFirst = round % 2 === 0;
    const first = await (isComputerFirst ? startWithComputer : startBare)(servers);
    const second = await (isComputerFirst ? startBare : startWithComputer)(servers);
    const [computer, bare] = isComputerFirst ? [first, second] : [second, first];
    taken.computer.push(computer);
    taken.bare.push(bare);
    ratios.push(computer / bare);
  }
  console.log(
    `${what}: Computer ${ms(median(taken.computer))}, plain clients ${ms(median(taken.bare))}, ` +
      `${median(ratios).toFixed(2)} × (at most ${TARGET_RATIO}); one alone ${ms(alone)}`,
  );
}

async function medianOf(run: () => Promise<number>): Promise<number> {
  return median([await run(), await run(), await run()]);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}

await measurePrograms();
await measureColdAndWarm("a light server", echoServer);
await measureColdAndWarm("server-everything", everythingServer);
await compare("20 × server-everything", times(20, everythingServer()));
await compare("50 × a light server", times(50, echoServer()));
await compare(`50 × a server that waits ${WAIT_SECONDS} s`, times(50, waitingServer(WAIT_SECONDS)));

const many = times(50, waitingServer(WAIT_SECONDS));
const group = `50 servers that wait ${WAIT_SECONDS} s`;
Deno.bench({
  name: "plain clients",
  group,
  baseline: true,
  n: 3,
  warmup: 0,
  fn: async () => void await startBare(many),
});
Deno.bench({ name: "Computer", group, n: 3, warmup: 0, fn: async () => void await startWithComputer(many) });
