/**
 * Compares our Server with a minimal Socket.IO forwarder and with the official Servers, under the same load, in the same
 * run, in interleaved rounds.
 *
 * ```sh
 * deno task bench:relay           # everything
 * deno task bench:relay --quick   # the bare forwarder and our Server, about a minute
 * ```
 */
import { renderChart } from "./chart.ts";
import { judge, renderVerdicts, rowsBehind } from "./goals.ts";
import { Generator } from "./generator.ts";
import { Bench, type Entrant } from "./measure.ts";
import { type BenchOptions, HELP, parseOptions, SECTIONS } from "./options.ts";
import { openFilesLimit } from "./processes.ts";
import { BASELINE, type Cell } from "./results.ts";
import { listContenders } from "./servers.ts";
import { renderTable } from "./table.ts";

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
  const entrants = await prepare(options);
  const cells = await measure(await withinFileLimit(options), entrants);
  const titles = Object.fromEntries(entrants.map(({ contender }) => [contender.name, contender.title]));
  console.log(describeEnvironment(options));
  for (const section of SECTIONS) {
    const table = renderTable(cells.filter((cell) => cell.section === section), titles);
    if (table !== "") console.log(table);
  }
  for (const { contender: { name, title } } of entrants.filter(({ contender }) => contender.isOurs)) {
    console.log(renderVerdicts(title, judge(cells, name)));
    const behind = rowsBehind(cells, name, RUST);
    if (behind.length > 0) {
      console.log(`## Behind the official Rust Server: ${title}\n\n- ${behind.join("\n- ")}\n`);
    }
  }
  if (options.chart !== undefined) {
    await Deno.writeTextFile(options.chart, renderChart(cells, { titles, subtitle: describeMachine() }));
  }
  if (options.json !== undefined) await Deno.writeTextFile(options.json, `${JSON.stringify(cells)}\n`);
  return 0;
}

async function prepare({ only }: BenchOptions): Promise<Entrant[]> {
  const entrants: Entrant[] = [];
  for (const contender of await listContenders()) {
    if (only.length > 0 && !only.includes(contender.name) && contender.name !== BASELINE) continue;
    const program = await contender.prepare();
    if ("missing" in program) console.error(`SKIPPED: ${contender.title}: ${program.missing}`);
    else entrants.push({ contender, program });
  }
  return entrants;
}

async function measure(options: BenchOptions, entrants: readonly Entrant[]): Promise<Cell[]> {
  await using stack = new AsyncDisposableStack();
  const generators = Array.from({ length: options.generators }, () => stack.use(new Generator()));
  const bench = new Bench({ options, entrants, generators, progress: (text) => console.error(text) });
  const cells = await bench.measureLoad();
  if (options.sections.includes("idle")) cells.push(await bench.measureIdle());
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

function describeMachine(): string {
  const cpu = /^model name\s*: (.*)$/m.exec(readOr("/proc/cpuinfo"))?.[1];
  const memory = `${(Deno.systemMemoryInfo().total / 2 ** 30).toFixed(0)} GiB`;
  const machine = [`${navigator.hardwareConcurrency} cores`, ...cpu === undefined ? [] : [cpu], memory];
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Deno ${Deno.version.deno}, ${Deno.build.os}, ${machine.join(", ")}`;
}

function describeEnvironment({ rounds, roundMs, seed }: BenchOptions): string {
  const load = Deno.loadavg()[0]?.toFixed(1);
  return [
    describeMachine(),
    `medians of ${rounds} interleaved rounds of ${roundMs} ms, seed ${seed}, load average at the end ${load}`,
    "(0.95×) is the ratio to the bare forwarder, the median of the ratios within a round\n",
  ].join("\n");
}

function readOr(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}

if (import.meta.main) Deno.exit(await main(Deno.args));
