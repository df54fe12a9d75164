/** Runs one soak, between two measurements of an idle Computer. */
import { Agent } from "../../src/agent/agent.ts";
import {
  type ComputerListener,
  ComputerProcess,
  HungCommandError,
  type Measure,
} from "./computer_process.ts";
import { growthOf, takeCensus } from "./census.ts";
import { Director } from "./director.ts";
import { Journal } from "./journal.ts";
import { ProcessWatch, type States } from "./leaks.ts";
import { Ledger } from "./ledger.ts";
import { Load } from "./load.ts";
import { HttpPlace, Office } from "./office.ts";
import { isThere } from "./proc.ts";
import { Random } from "../../tests/fixtures/random.ts";
import { firstSlots, type Slots, type Stage, toConfig } from "./scenery.ts";
import { judge, memoryTrend, type Sample } from "./verdict.ts";

const SAMPLE_INTERVAL_MS = 10_000;
/** The number of samples after which one is printed and the processes are checked. */
const SAMPLES_PER_LINE = 3;
/** How long to wait for answers after the last call, in milliseconds. */
const DRAIN_MS = 20_000;
/** The time limit for the process of a closed Computer to exit, in milliseconds. */
const EXIT_MS = 10_000;
/** The smallest growth of a class of objects to report. Smaller growth comes from caches and chance. */
const MIN_GROWTH = 50;

/** The options of a soak. */
export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  /** The most calls in flight. */
  readonly callers: number;
  /** The file for each step and for the log lines of the Computer. */
  readonly journal: string | undefined;
}

/** A soak: the office, the Computer under load, and the measurements. */
export class Soak {
  readonly #options: SoakOptions;
  readonly #random: Random;
  readonly #ledger = new Ledger();
  readonly #journal: Journal;
  readonly #samples: Sample[] = [];
  readonly #watch: ProcessWatch;
  readonly #run: string;
  readonly #startMs = performance.now();
  readonly #office: Office;
  readonly #http = new HttpPlace();
  readonly #stage: Stage;
  #computer: ComputerProcess;

  private constructor(options: SoakOptions, office: Office) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#journal = new Journal(options.journal);
    this.#office = office;
    this.#run = `${Deno.pid}-${Date.now()}`;
    this.#watch = new ProcessWatch(this.#run);
    this.#stage = { run: this.#run, httpUrl: this.#http.url };
    this.#computer = ComputerProcess.start(this.#run, this.#listener());
  }

  static async open(options: SoakOptions): Promise<Soak> {
    return new Soak(options, await Office.open());
  }

  /** Runs the soak; resolves to the requirements that were broken. */
  async run(): Promise<readonly string[]> {
    const { minutes, seed, callers } = this.#options;
    console.log(`soaking for ${minutes} minutes with seed ${seed} and ${callers} callers`);
    this.#ledger.watchAcks();
    const slots = firstSlots(this.#random);
    try {
      await this.#rehearse(slots);
      await this.#openComputer();
      await this.#warmUp(slots);
      const before = await this.#idle("before");
      await this.#soak(slots);
      const after = await this.#idle("after");
      this.#report();
      await this.#takeSnapshot("after");
      await this.#compare();
      for (const breach of judge({ samples: this.#samples, idle: { before, after }, minutes })) {
        this.#ledger.breach(breach);
      }
    } catch (error) {
      if (!(error instanceof HungCommandError)) throw error;
      this.#ledger.breach(error.message);
    } finally {
      await this.#close();
    }
    return this.#ledger.breaches;
  }

  /** Takes the first heap snapshot with another Computer, because a snapshot takes more memory than the Computer itself. */
  async #rehearse(slots: Slots): Promise<void> {
    await this.#openComputer();
    await this.#warmUp(slots);
    await this.#idle("in the rehearsal");
    await this.#takeSnapshot("before");
    await this.#closeComputer();
    this.#computer = ComputerProcess.start(this.#run, this.#listener());
  }

  async #openComputer(): Promise<void> {
    await this.#computer.send({ do: "open", config: { servers: {} } });
    await this.#join();
  }

  async #join(): Promise<void> {
    await this.#computer.send({ do: "join", url: this.#office.computerWire.url, office: "soak" });
  }

  /** Loads what is loaded on first use and then kept: the guard, the transports, the MCP client. */
  async #warmUp(slots: Slots): Promise<void> {
    await this.#computer.send({ do: "reconfigure", config: toConfig(slots, this.#stage) });
    for (let second = 0; second < 10; second++) {
      await sleep(1_000);
      const { calm, quiet } = await this.#states();
      if (calm?.status === "running" && quiet?.status === "running") break;
    }
  }

  /** Measures the Computer without an office and without MCP servers. */
  async #idle(when: string): Promise<Measure> {
    await this.#computer.send({ do: "leave" });
    await this.#computer.send({ do: "reconfigure", config: { servers: {} } });
    await sleep(3_000);
    const left = this.#watch.ofServers();
    for (const { pid, commandLine } of left) this.#ledger.breach(`process ${pid} was left: ${commandLine}`);
    const measure = await this.#computer.measure();
    console.log(`idle ${when}: ${describeMeasure(measure)}`);
    console.log(`  descriptors: ${describeCounts(measure.descriptors)}`);
    return measure;
  }

  async #soak(slots: Slots): Promise<void> {
    await this.#join();
    const agent = await this.#connectAgent();
    const { minutes, callers } = this.#options;
    const servers = slots.map(({ name }) => name);
    const over = new AbortController();
    const load = new Load({
      agent,
      computer: this.#computer,
      ledger: this.#ledger,
      servers,
      callers,
      maxPauseMs: 250,
    });
    const director = this.#direct(load, slots);
    await this.#computer.send({ do: "reconfigure", config: toConfig(slots, this.#stage) });
    const calling = load.run(over.signal, this.#random.fork());
    const directing = director.run(over.signal);
    await this.#sampleFor(minutes * 60_000, director);
    over.abort();
    await Promise.race([
      Promise.all([calling, directing]).then(() => this.#ledger.drained()),
      sleep(DRAIN_MS),
    ]);
    for (const { what } of this.#ledger.open) this.#ledger.breach(`${what} was never answered`);
    console.log(`steps: ${describeCounts(director.counts)}`);
    await agent.close();
  }

  async #connectAgent(): Promise<Agent> {
    const agent = await Agent.connect({ url: this.#office.agentWire.url, office: "soak", name: "agent" });
    agent.on("failed", ({ error }) => this.#ledger.breach(`the Agent failed for good: ${error.message}`));
    return agent;
  }

  #direct(load: Load, slots: Slots): Director {
    return new Director({
      stage: this.#stage,
      computer: this.#computer,
      office: this.#office,
      http: this.#http,
      load,
      ledger: this.#ledger,
      random: this.#random.fork(),
      onStep: (text) => this.#journal.write(`step ${text}`),
    }, slots);
  }

  async #sampleFor(ms: number, director: Director): Promise<void> {
    const startMs = performance.now();
    while (performance.now() - startMs < ms && !director.isHung) {
      await sleep(Math.min(SAMPLE_INTERVAL_MS, ms - (performance.now() - startMs)));
      const sample = { ...await this.#computer.measure(), minute: (performance.now() - startMs) / 60_000 };
      this.#journal.write(`memory ${describeMeasure(sample)}`);
      if (this.#samples.push(sample) % SAMPLES_PER_LINE !== 0) continue;
      const states = await this.#states();
      for (const { pid, tag } of this.#watch.findLeaks(director.slots, states)) {
        this.#ledger.breach(`process ${pid} of ${tag} is still there`);
      }
      for (const { what } of this.#ledger.overdue()) this.#ledger.breach(`${what} is without an answer`);
      console.log(
        `${sample.minute.toFixed(1)} min: ${describeMeasure(sample)}, ${this.#describeCalls(states)}`,
      );
    }
  }

  #describeCalls(states: States): string {
    const { sent, answered, acks, acksTwice, open } = this.#ledger;
    const statuses = Map.groupBy(Object.values(states), ({ status }) => status);
    const servers = [...statuses].map(([status, { length }]) => `${length} ${status}`).join(" ");
    const calls =
      `${sent} calls, ${answered} answered, ${open.size} in flight, ${acks} acks, ${acksTwice} twice`;
    return `${this.#watch.all().length} processes, servers: ${servers}; ${calls}`;
  }

  async #states(): Promise<States> {
    return await this.#computer.send({ do: "states" }) as States;
  }

  #report(): void {
    console.log("outcomes:");
    for (const [outcome, count] of [...this.#ledger.outcomes].sort()) console.log(`  ${outcome}: ${count}`);
    const { early, late } = memoryTrend(this.#samples, this.#options.minutes);
    const growth = (late / early - 1) * 100;
    console.log(
      `memory: ${early.toFixed(1)} MiB at a sixth, ${late.toFixed(1)} MiB at the end (${
        growth.toFixed(1)
      } %)`,
    );
    console.log(`log lines of the Computer: ${describeCounts(this.#journal.counts)}`);
  }

  /** Compares the objects of the idle Computer before and after the soak, such as listeners and timers. */
  async #compare(): Promise<void> {
    const [before, after] = await Promise.all(
      ["before", "after"].map((when) => takeCensus(this.#snapshotFile(when))),
    );
    if (before === undefined || after === undefined) return;
    const grown = growthOf(before, { after, atLeast: MIN_GROWTH });
    console.log("objects of the idle Computer that became more:");
    for (const [name, was, is] of grown) console.log(`  ${name || "(no name)"}: ${was} → ${is}`);
    for (const [name, was, is] of grown) {
      if (mustNotGrow(name)) this.#ledger.breach(`objects of class ${name}: ${was} before, ${is} after`);
    }
  }

  async #takeSnapshot(when: string): Promise<void> {
    await this.#computer.send({ do: "snapshot", file: this.#snapshotFile(when) });
  }

  #snapshotFile(when: string): string {
    return `${Deno.env.get("TMPDIR") ?? "/tmp"}/soak-${this.#run}-${when}.heapsnapshot`;
  }

  async #close(): Promise<void> {
    await this.#closeComputer();
    await this.#http[Symbol.asyncDispose]();
    await this.#office[Symbol.asyncDispose]();
    for (const when of ["before", "after"]) await Deno.remove(this.#snapshotFile(when)).catch(() => {});
    console.log(`took ${Math.round((performance.now() - this.#startMs) / 1000)} s`);
  }

  /** Closes the Computer, and checks that its process exits and that no child process outlives it. */
  async #closeComputer(): Promise<void> {
    const ledger = this.#ledger;
    const computer = this.#computer;
    const children = computer.children;
    await computer.send({ do: "close" }).catch((error: Error) => ledger.breach(`close: ${error.message}`));
    const code = await computer.end(EXIT_MS);
    if (code !== 0) {
      ledger.breach(code === undefined ? "something keeps the closed Computer alive" : `exit code ${code}`);
    }
    if (code === undefined) computer.kill();
    await sleep(500);
    for (const { pid } of children.filter(isThere)) ledger.breach(`child ${pid} outlived the Computer`);
    for (const { pid, commandLine } of this.#watch.all()) {
      ledger.breach(`process ${pid} outlived the Computer: ${commandLine}`);
    }
  }

  #listener(): ComputerListener {
    return {
      onLog: ({ log, level, fields }) => {
        if (log === "tool call") this.#ledger.noteRun(String(fields["req_id"]));
        else this.#journal.note({ level, log, fields });
        if (level === "error") this.#ledger.breach(`the Computer logged: ${log} ${JSON.stringify(fields)}`);
      },
      onFailed: (message) => this.#ledger.breach(`the Computer's connection failed for good: ${message}`),
    };
  }
}

/** Whether objects of a class belong to an MCP server, a request or a wait: an idle Computer must have as many as before. */
function mustNotGrow(name: string): boolean {
  return /^(AbortSignal|AbortController|Timeout|EventTarget|Deadline|Client|Mcp\w+|Supervised\w+|Catalogue)$/
    .test(name);
}

function describeMeasure(measure: Measure): string {
  const { rssMib, heapMib, heapTotalMib, externalMib, descriptorCount, zombies, resources } = measure;
  const memory = `${rssMib.toFixed(0)} MiB RSS, heap ${heapMib.toFixed(1)} of ${heapTotalMib.toFixed(1)}, ${
    externalMib.toFixed(1)
  } external`;
  const known = Object.values(resources ?? {}).reduce((sum, count) => sum + count, 0);
  return `${memory}, ${descriptorCount} descriptors, ${known} resources, ${zombies} zombies`;
}

function describeCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
}
