/**
 * Runs the benchmarks one after another, all on the same state of the code, and writes their results to
 * `docs/benchmarks.md` and `docs/benchmarks.svg`. A benchmark that fails leaves both as they are. Linux only.
 *
 * ```sh
 * deno task bench:page            # about an hour
 * deno task bench:page --quick    # about a quarter of an hour
 * deno task bench:page --quick hub gateway   # these alone, printed instead of written
 * ```
 */
import { fromFileUrl, join } from "@std/path";
import { renderChart } from "../relay/chart.ts";
import { describeMachine, describeOtherLoad } from "../relay/main.ts";
import { checkEnded, mergeReports, type Output, type RelayReport, replacePart, withResults } from "./page.ts";

const root = fromFileUrl(new URL("../../", import.meta.url));
const pagePath = join(root, "docs", "benchmarks.md");
const chartPath = join(root, "docs", "benchmarks.svg");
const RELAY = "bench/relay/main.ts";
const QUESTIONS = "packages/documents/bench/questions/main.ts";

interface Section {
  readonly name: string;
  /** The command lines behind `deno run -A`. */
  readonly full: readonly string[];
  /** Fewer rounds and cases; those of `full` by default. */
  readonly quick?: readonly string[];
}

/** In the order in which they run: short ones first, so that what cannot work is seen early. */
const SECTIONS: readonly Section[] = [
  { name: "gateway", full: ["bench/gateway_bench.ts"] },
  { name: "hub", full: ["bench/hub_bench.ts"] },
  { name: "computer", full: ["bench/call_bench.ts"] },
  { name: "metrics-and-traces", full: ["bench/observed.ts"], quick: ["bench/observed.ts 5"] },
  {
    name: "hostile-clients",
    full: ["timing.ts", "strangers.ts", "crowd.ts", "members.ts"].map((file) => `bench/attacks/${file}`),
    quick: ["timing.ts", "strangers.ts 4", "crowd.ts 2 3"].map((line) => `bench/attacks/${line}`),
  },
  {
    name: "hostile-mcp-servers",
    full: ["bench/attacks/run.ts"],
    quick: ["bench/attacks/run.ts nothing huge changes bomb unfinished"],
  },
  { name: "startup", full: ["bench/startup_bench.ts"], quick: ["bench/startup_bench.ts 3"] },
  { name: "documents", full: ["packages/documents/bench/documents_bench.ts"] },
  {
    name: "relay",
    full: [RELAY],
    quick: [
      `${RELAY} --section calls,churn,broadcast,cluster --rounds 5 --payload 300,100000,900000 --in-flight 1,32`,
      `${RELAY} --section idle --rounds 3 --connections 3000`,
    ],
  },
  { name: "questions", full: [QUESTIONS], quick: [`${QUESTIONS} support contracts office code`] },
];

async function main(args: readonly string[]): Promise<void> {
  const isQuick = args.includes("--quick");
  const names = args.filter((arg) => arg !== "--quick");
  const known = SECTIONS.map(({ name }) => name);
  for (const name of names) {
    if (!known.includes(name)) {
      throw new TypeError(`No section named "${name}". Sections: ${known.join(", ")}`);
    }
  }
  const chosen = SECTIONS.filter(({ name }) => names.length === 0 || names.includes(name));
  const template = await Deno.readTextFile(pagePath);
  // A part without markers is found before the benchmarks have run.
  for (const { name } of chosen) replacePart(template, name, "");
  const environment = await describeRun(isQuick);
  const outputs: Output[] = [];
  for (const { name, full, quick = full } of chosen) {
    for (const line of isQuick ? quick : full) outputs.push(await measure(name, line));
  }
  const page = await formatted(withResults(template, { environment, outputs }));
  if (names.length > 0) return console.log(page);
  const { cells, titles } = mergeReports(outputs.flatMap(({ report }) => report ?? []));
  await Deno.writeTextFile(chartPath, renderChart(cells, { titles, subtitle: describeMachine() }));
  await Deno.writeTextFile(pagePath, page);
}

async function measure(section: string, line: string): Promise<Output> {
  const command = `deno run -A ${line}`;
  const json = line.startsWith(RELAY) ? await Deno.makeTempFile() : undefined;
  const beganAt = new Date();
  const loadBefore = loadAverage();
  console.error(`${beganAt.toISOString().slice(11, 19)} ${command}`);
  const args = ["run", "-A", ...line.split(" "), ...json === undefined ? [] : ["--json", json]];
  const ended = await capture(Deno.execPath(), args);
  const seconds = (Date.now() - beganAt.getTime()) / 1_000;
  console.error(`exit code ${ended.code} after ${Math.round(seconds)} s\n`);
  checkEnded({ command, ...ended });
  const output = { section, command, beganAt, seconds, load: [loadBefore, loadAverage()] as const, ...ended };
  if (json === undefined) return output;
  const report: RelayReport = JSON.parse(await Deno.readTextFile(json));
  await Deno.remove(json);
  return { ...output, report };
}

/** The machine, the versions and the state of the code. */
async function describeRun(isQuick: boolean): Promise<string> {
  const disturbed = describeOtherLoad();
  const versions = ["python3", "cargo"].map(async (program) => {
    const { stdout } = await capture(program, ["--version"]).catch(() => ({ stdout: "" }));
    return stdout.trim() || `no ${program}`;
  });
  const [commit, changes, ...others] = await Promise.all([
    capture("git", ["rev-parse", "--short", "HEAD"]),
    capture("git", ["status", "--porcelain"]),
    ...versions,
  ]);
  const state = `\`${commit.stdout.trim()}\`${
    changes.stdout === "" ? "" : " with changes that are not committed"
  }`;
  const machine = `${describeMachine()}, Linux ${Deno.osRelease().split("-")[0]}; ${others.join("; ")}`;
  return `${isQuick ? "The quick size" : "The full size"} at commit ${state}. ${machine}.${
    disturbed === undefined ? "" : `\n\n**${disturbed}.**`
  }`;
}

/** Runs a program, shows what it prints, and resolves to all of it. */
async function capture(
  program: string,
  args: readonly string[],
): Promise<Pick<Output, "code" | "stdout" | "stderr">> {
  const process = new Deno.Command(program, {
    args: [...args],
    cwd: root,
    env: { NO_COLOR: "1" },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ code }, stdout, stderr] = await Promise.all([
    process.status,
    readAndShow(process.stdout),
    readAndShow(process.stderr),
  ]);
  return { code, stdout, stderr };
}

async function readAndShow(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    text += part;
    Deno.stderr.writeSync(new TextEncoder().encode(part));
  }
  return text;
}

function loadAverage(): number {
  return Deno.loadavg()[0] ?? NaN;
}

async function formatted(page: string): Promise<string> {
  const deno = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext", "md", "-"],
    cwd: root,
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = deno.stdin.getWriter();
  await writer.write(new TextEncoder().encode(page));
  await writer.close();
  const { success, stdout } = await deno.output();
  if (!success) throw new TypeError("Cannot format the page: deno fmt failed");
  return new TextDecoder().decode(stdout);
}

await main(Deno.args);
