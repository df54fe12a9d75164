/** Interleaved rounds: runs the same step on all contenders in turn, and measures what each step costs. */
import type { Generator } from "./generator.ts";
import type { LoadCommand } from "./load.ts";
import type { BenchOptions } from "./options.ts";
import type { Cell, Round } from "./results.ts";
import { Histogram, seededRandom, shuffled } from "./statistics.ts";

/** A contender in tables and charts. */
export interface Named {
  readonly name: string;
  readonly title: string;
}

/** One Server, or several that work together, under load. */
export interface Target extends Named {
  readonly port: number;
  /** The port for Computers, if it is another one than for Agents. */
  readonly computerPort?: number;
  /** The protocol version that it accepts. */
  readonly version: string;
  /** The processor time that all its processes have used so far, in seconds. */
  cpuSeconds(): Promise<number>;
}

/** Shows the current step. */
export type Progress = (text: string) => void;

/** The most rounds of a measurement whose rounds take seconds. */
export const MAX_LONG_ROUNDS = 5;

/** Runs rounds. The order of the contenders in a round depends only on the seed. */
export class Rounds {
  readonly options: BenchOptions;
  readonly generators: readonly Generator[];
  readonly #progress: Progress;
  readonly #random: () => number;

  constructor(
    { options, generators, progress }: {
      readonly options: BenchOptions;
      readonly generators: readonly Generator[];
      readonly progress: Progress;
    },
  ) {
    this.options = options;
    this.generators = generators;
    this.#progress = progress;
    this.#random = seededRandom(options.seed);
  }

  /** Runs all rounds of a cell. A contender that fails is reported at once and gets no further rounds of this cell. */
  async interleave<Contender extends Named>(
    what: Omit<Cell, "rounds">,
    contenders: readonly Contender[],
    { run, before, after, isLong = false }: {
      readonly run: (contender: Contender, round: number) => Promise<Round>;
      readonly before?: (contender: Contender) => Promise<unknown>;
      readonly after?: (contender: Contender) => Promise<unknown>;
      /** Whether a round takes seconds: then there are at most {@linkcode MAX_LONG_ROUNDS}. */
      readonly isLong?: boolean;
    },
  ): Promise<Cell> {
    const count = isLong ? Math.min(this.options.rounds, MAX_LONG_ROUNDS) : this.options.rounds;
    const rounds = Object.fromEntries(contenders.map(({ name }) => [name, [] as Round[]]));
    const failed = new Set<Contender>();
    const attempt = async (contender: Contender, step: () => Promise<unknown> | undefined) => {
      if (failed.has(contender)) return;
      await step()?.catch((error) => {
        failed.add(contender);
        this.#progress(`FAILED: ${contender.title}, ${what.label}: ${error.message}`);
      });
    };
    for (const contender of contenders) await attempt(contender, () => before?.(contender));
    for (let round = 0; round < count; round++) {
      this.#progress(`${what.section}: ${what.label}, round ${round + 1} of ${count}`);
      for (const contender of shuffled(contenders, this.#random)) {
        const values = rounds[contender.name];
        await attempt(contender, () => run(contender, round).then((value) => values?.push(value)));
        if (failed.has(contender)) values?.push(undefined);
      }
    }
    for (const contender of contenders) await after?.(contender);
    return { ...what, rounds };
  }

  /** Sends a command to each generator, and waits for all outcomes. */
  async each(command: (index: number) => LoadCommand, generators = this.generators): Promise<void> {
    await Promise.all(generators.map((generator, index) => generator.run(command(index))));
  }

  /** Runs load on a target, and measures its cost. */
  async load(
    target: Target,
    command: (index: number) => LoadCommand,
    generators = this.generators,
  ): Promise<Round> {
    const [serverBefore, generatorsBefore] = [await target.cpuSeconds(), await sumOfCpu(generators)];
    const outcomes = await Promise.all(generators.map((generator, index) => generator.run(command(index))));
    const serverSeconds = await target.cpuSeconds() - serverBefore;
    const generatorSeconds = await sumOfCpu(generators) - generatorsBefore;
    const times = new Histogram();
    for (const outcome of outcomes) times.merge(new Histogram(outcome.times));
    const count = outcomes.reduce((sum, outcome) => sum + outcome.count, 0);
    if (count === 0) throw new TypeError("Cannot measure: nothing was answered");
    const lost = outcomes.reduce((sum, outcome) => sum + (outcome.lost ?? 0), 0);
    const seconds = Math.max(...outcomes.map((outcome) => outcome.seconds));
    return {
      perSecond: count / seconds,
      p50Ms: times.percentile(0.5),
      p95Ms: times.percentile(0.95),
      p99Ms: times.percentile(0.99),
      cpuUs: serverSeconds / count * 1e6,
      serverShare: serverSeconds / seconds,
      generatorShare: generatorSeconds / generators.length / seconds,
      lost,
    };
  }
}

/** The sum of the processor time of several processes, in seconds. */
export async function sumOfCpu(
  processes: readonly { readonly cpuSeconds: () => Promise<number> }[],
): Promise<number> {
  const seconds = await Promise.all(processes.map((process) => process.cpuSeconds()));
  return seconds.reduce((sum, one) => sum + one, 0);
}

/** The part of `total` for one of `count` generators, so that all parts are as equal as possible. */
export function shareOf(total: number, index: number, count: number): number {
  return Math.floor(total / count) + (index < total % count ? 1 : 0);
}
