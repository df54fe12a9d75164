/** One process of our Server against three on Redis, where the Agent and the Computer are in different processes. */
import { measureCalls } from "./measure.ts";
import { cpuSecondsOf } from "./processes.ts";
import type { Cell } from "./results.ts";
import { type Rounds, sumOfCpu, type Target } from "./rounds.ts";
import { helpOfOurServer, ourProgram, RunningServer } from "./servers.ts";

/** How long redis-server may take to accept connections, in milliseconds. */
const REDIS_START_MS = 10_000;

/** Names and titles of the contenders; the first one is the baseline. */
export const CLUSTER_TITLES = {
  inside: "one process",
  redis: "one on Redis",
  across: "three on Redis",
} as const;

/** The reason why a cluster cannot be measured here, or `undefined`. */
export async function whyNoCluster(): Promise<string | undefined> {
  if (!(await helpOfOurServer()).includes("--redis")) return "server.ts has no option --redis";
  const version = new Deno.Command("redis-server", { args: ["--version"], stdout: "null" });
  try {
    await version.output();
  } catch {
    return "no redis-server on PATH";
  }
}

/** Measures calls inside a process and between processes. */
export async function measureCluster(rounds: Rounds): Promise<Cell[]> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await Redis.start());
  const start = async (options: readonly string[]) =>
    stack.use(await RunningServer.start(ourProgram(options)));
  const onRedis = ["--redis", redis.url];
  const inside = await start([]);
  const alone = await start(onRedis);
  const processes = [await start(onRedis), await start(onRedis), await start(onRedis)] as const;
  const [first, second] = processes;
  const targets: Target[] = [
    target("inside", [inside], { port: inside.port }),
    target("redis", [alone, redis], { port: alone.port }),
    target("across", [...processes, redis], { port: first.port, computerPort: second.port }),
  ];
  const cells: Cell[] = [];
  const what = { section: "cluster", baseline: "inside", payloadBytes: 300 } as const;
  await measureCalls(rounds, targets, { ...what, inFlight: 32, warmUpMs: rounds.options.warmUpMs });
  for (const inFlight of rounds.options.inFlight) {
    cells.push(await measureCalls(rounds, targets, { ...what, inFlight }));
  }
  return cells;
}

function target(
  name: keyof typeof CLUSTER_TITLES,
  processes: readonly { readonly cpuSeconds: () => Promise<number> }[],
  ports: Pick<Target, "port" | "computerPort">,
): Target {
  const cpuSeconds = () => sumOfCpu(processes);
  return { name, title: CLUSTER_TITLES[name], version: "0.2.0", cpuSeconds, ...ports };
}

/** A redis-server of this run, which keeps nothing. */
class Redis implements AsyncDisposable {
  readonly url: string;
  readonly #process: Deno.ChildProcess;

  private constructor(process: Deno.ChildProcess, port: number) {
    this.#process = process;
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async start(): Promise<Redis> {
    const port = freePort();
    const process = new Deno.Command("redis-server", {
      args: ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
      stdout: "null",
    }).spawn();
    const redis = new Redis(process, port);
    const deadlineMs = performance.now() + REDIS_START_MS;
    while (!await isListening(port)) {
      if (performance.now() < deadlineMs) continue;
      await redis[Symbol.asyncDispose]();
      throw new TypeError("Cannot start redis-server: it accepts no connections");
    }
    return redis;
  }

  cpuSeconds(): Promise<number> {
    return cpuSecondsOf(this.#process.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGTERM");
    await this.#process.status;
  }
}

/** A port that was free a moment ago: redis-server cannot choose one by itself. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function isListening(port: number): Promise<boolean> {
  try {
    using _conn = await Deno.connect({ hostname: "127.0.0.1", port });
    return true;
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return false;
  }
}
