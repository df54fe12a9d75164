/**
 * Compares our Server with a minimal Socket.IO forwarder and with the official Servers, under the same load, in the same
 * run, in interleaved rounds.
 *
 * ```sh
 * deno task bench:relay           # everything; exit code 2 if a goal is missed
 * deno task bench:relay --quick   # the bare forwarder and our Server, about a minute
 * ```
 */
import { CLUSTER_TITLES, measureCluster, whyNoCluster } from "./cluster.ts";
import { judge, renderVerdicts, rowsBehind } from "./goals.ts";
import { Generator } from "./generator.ts";
import { type Entrant, measureIdle } from "./idle.ts";
import { measureBroadcast, measureCalls, measureChurn } from "./measure.ts";
import { Rounds, type Target } from "./rounds.ts";
import { type BenchOptions, HELP, OURS, parseOptions, SECTIONS } from "./options.ts";
import { openFilesLimit } from "./processes.ts";
import { BASELINE, type Cell } from "./results.ts";
import { listContenders, RunningServer } from "./servers.ts";
import { renderTable, rowsLimitedByGenerator } from "./table.ts";

const RUST = "rust";
/** The open files of a process besides its connections. */
const RESERVED_FILES = 200;
/** The part of the file limit for connections: our Server reserves the rest for other files. */
const CONNECTIONS_SHARE = 0.7;

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(args);
  if (options === "help") {
    console.log(HELP);
    return 0;
  }
  const busy = describeOtherLoad();
  const entrants = await prepare(options);
  const cells = await measure(await withinFileLimit(options), entrants);
  const titles = {
    ...CLUSTER_TITLES,
    ...Object.fromEntries(entrants.map(({ name, title }) => [name, title])),
  };
  console.log(describeEnvironment(options));
  if (busy !== undefined) console.log(`${busy}\n`);
  for (const section of SECTIONS) {
    const table = renderTable(cells.filter((cell) => cell.section === section), titles);
    if (table !== "") console.log(table);
  }
  for (const row of rowsLimitedByGenerator(cells, titles)) {
    console.log(`LIMITED BY THE GENERATOR, not by the Server: ${row}`);
  }
  const ours = entrants.find(({ name }) => name === OURS);
  if (ours !== undefined) {
    console.log(renderVerdicts(ours.title, judge(cells, OURS), options));
    const behind = rowsBehind(cells, OURS, RUST);
    if (behind.length > 0) console.log(`## Behind the official Rust Server\n\n- ${behind.join("\n- ")}\n`);
  }
  const report = { machine: describeMachine(), titles, options, cells };
  if (options.json !== undefined) await Deno.writeTextFile(options.json, `${JSON.stringify(report)}\n`);
  return !options.isQuick && judge(cells, OURS).some(({ isMet }) => isMet === false) ? 2 : 0;
}

async function prepare({ only }: BenchOptions): Promise<Entrant[]> {
  const entrants: Entrant[] = [];
  for (const contender of listContenders()) {
    const isWanted = only.length === 0 || only.includes(contender.name);
    // Ratios need the baseline.
    if (!isWanted && contender.name !== BASELINE) continue;
    const program = await contender.prepare();
    if ("missing" in program) console.error(`SKIPPED: ${contender.title}: ${program.missing}`);
    else entrants.push({ name: contender.name, title: contender.title, contender, program });
  }
  return entrants;
}

/** Measures all Servers under load, then the memory of idle connections, then a cluster. */
async function measure(options: BenchOptions, entrants: readonly Entrant[]): Promise<Cell[]> {
  const { sections } = options;
  await using stack = new AsyncDisposableStack();
  const generators = Array.from({ length: options.generators }, () => stack.use(new Generator()));
  const rounds = new Rounds({ options, generators, progress: (text) => console.error(text) });
  const cells = await measureLoad(rounds, entrants);
  if (sections.includes("idle")) cells.push(await measureIdle(rounds, entrants));
  if (sections.includes("cluster")) {
    const reason = await whyNoCluster();
    if (reason === undefined) cells.push(...await measureCluster(rounds));
    else console.error(`SKIPPED: one process and three on Redis: ${reason}`);
  }
  return cells;
}

/** Measures calls, churn and broadcasts, with one process of each Server throughout. */
async function measureLoad(rounds: Rounds, entrants: readonly Entrant[]): Promise<Cell[]> {
  const { sections, payloads, inFlight, warmUpMs } = rounds.options;
  const section = "calls";
  const loads = sections.includes(section)
    ? payloads.flatMap((payloadBytes) =>
      inFlight.map((count) => ({ section, payloadBytes, inFlight: count } as const))
    )
    : [];
  await using stack = new AsyncDisposableStack();
  const targets: Target[] = [];
  for (const { name, title, contender: { version }, program } of entrants) {
    const server = stack.use(await RunningServer.start(program));
    targets.push({ name, title, version, port: server.port, cpuSeconds: () => server.cpuSeconds() });
  }
  const cells: Cell[] = [];
  if (loads.length > 0) {
    await measureCalls(rounds, targets, { section, payloadBytes: 300, inFlight: 32, warmUpMs });
  }
  for (const load of loads) cells.push(await measureCalls(rounds, targets, load));
  if (sections.includes("churn")) cells.push(await measureChurn(rounds, targets));
  if (sections.includes("broadcast")) cells.push(await measureBroadcast(rounds, targets));
  return cells;
}

async function withinFileLimit(options: BenchOptions): Promise<BenchOptions> {
  const limit = await openFilesLimit();
  if (limit === undefined) return options;
  const most = Math.floor(limit * CONNECTIONS_SHARE) - RESERVED_FILES;
  if (options.connections <= most) return options;
  console.error(`REDUCED: ${most} idle connections, since a process may open ${limit} files`);
  return { ...options, connections: most };
}

/** The date, the version of Deno and the machine. */
export function describeMachine(): string {
  const cpu = /^model name\s*: (.*)$/m.exec(readOr("/proc/cpuinfo"))?.[1];
  const memory = `${(Deno.systemMemoryInfo().total / 2 ** 30).toFixed(0)} GiB`;
  const machine = [`${navigator.hardwareConcurrency} cores`, ...cpu === undefined ? [] : [cpu], memory];
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Deno ${Deno.version.deno}, ${Deno.build.os}, ${machine.join(", ")}`;
}

function describeEnvironment({ rounds, roundMs, seed }: BenchOptions): string {
  return [
    describeMachine(),
    `medians of ${rounds} interleaved rounds of ${roundMs} ms, seed ${seed}`,
    "(0.95×) is the ratio to the first row of the same block, the median of the ratios within a round\n",
  ].join("\n");
}

/** A warning if other programs use the processor; an estimate, since the load average is that of the last minute. */
export function describeOtherLoad(): string | undefined {
  const [load = 0] = Deno.loadavg();
  if (load < navigator.hardwareConcurrency / 2) return undefined;
  const rest = "calls per second and latencies are disturbed, CPU time per call less so";
  return `DISTURBED: the load average before the run was ${load.toFixed(1)}; ${rest}`;
}

function readOr(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
