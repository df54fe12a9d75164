/**
 * What it costs to observe the relay: calls/s and processor time per call of a Server with metrics, and of one with traces,
 * relative to the same Server without. The Servers take turns in short rounds, with 32 calls in flight.
 *
 * ```sh
 * deno run -A bench/observed.ts [rounds]   # 15 by default
 * ```
 */
import { Pair } from "./relay/pair.ts";
import { ourProgram, type Program, RunningServer } from "./relay/servers.ts";
import { medianRatio } from "./relay/statistics.ts";

const IN_FLIGHT = 32;
const WARM_UP_CALLS = 8_000;
/** Enough that a hundredth of a second, the unit of the processor time, is a few percent of a round. */
const CALLS: Readonly<Record<number, number>> = { 300: 4_000, 100_000: 400 };

const { command, args } = ourProgram();
/** Nobody collects the traces: what counts is the Server's own work. */
const TRACED = [
  "OTEL_DENO=true",
  "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9",
  "OTEL_METRIC_EXPORT_INTERVAL=3600000",
];

/** The Servers to compare; the first one is the base. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  plain: ourProgram(),
  metrics: ourProgram(["--metrics-port", "0"]),
  traces: { command: "env", args: [...TRACED, command, ...args] },
  "plain again": ourProgram(),
};

interface Round {
  readonly callsPerSecond: number;
  readonly cpuPerCall: number;
}

async function run(server: RunningServer, pair: Pair, calls: number): Promise<Round> {
  const cpuBefore = await server.cpuSeconds();
  const startMs = performance.now();
  let left = calls;
  const caller = async () => {
    while (left-- > 0) await pair.call();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, caller));
  const seconds = (performance.now() - startMs) / 1_000;
  return { callsPerSecond: calls / seconds, cpuPerCall: (await server.cpuSeconds() - cpuBefore) / calls };
}

async function compare(payloadBytes: number, rounds: number): Promise<void> {
  const names = Object.keys(PROGRAMS);
  await using stack = new AsyncDisposableStack();
  const contenders = [];
  for (const [id, program] of Object.entries(PROGRAMS)) {
    const server = stack.use(await RunningServer.start(program));
    const options = { port: server.port, version: "0.2.0", id: id.replace(" ", "-"), payloadBytes };
    const pair = stack.use(await Pair.connect(options));
    await run(server, pair, payloadBytes > 10_000 ? 500 : WARM_UP_CALLS);
    contenders.push({ server, pair, results: [] as Round[] });
  }
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? contenders : contenders.toReversed();
    for (const { server, pair, results } of order) {
      results.push(await run(server, pair, CALLS[payloadBytes] ?? 1_000));
    }
  }
  const [base] = contenders;
  for (const [index, { results }] of contenders.entries()) {
    const ratio = (of: (round: Round) => number) =>
      medianRatio(results.map(of), base?.results.map(of) ?? [])?.toFixed(3);
    const [speed, cpu] = [ratio((round) => round.callsPerSecond), ratio((round) => round.cpuPerCall)];
    console.log(
      `${names[index]}, calls of ${payloadBytes} bytes: calls/s ${speed} ×, CPU per call ${cpu} ×`,
    );
  }
}

const rounds = Number(Deno.args[0] ?? 15);
for (const payloadBytes of [300, 100_000]) await compare(payloadBytes, rounds);
Deno.exit(0);
