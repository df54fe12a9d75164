/** The measurements: which Server gets which load, in which order, and what that costs. */
import type { Generator } from "./generator.ts";
import type { LoadCommand } from "./load.ts";
import type { BenchOptions } from "./options.ts";
import { type Cell, describeBytes, type Round } from "./results.ts";
import { type Contender, type Program, RunningServer } from "./servers.ts";
import { Histogram, seededRandom, shuffled } from "./statistics.ts";

/** The most calls that one Agent has in flight. More calls are distributed over more offices. */
const IN_FLIGHT_PER_OFFICE = 32;
/** The warm-up before each measurement, in milliseconds. */
const CELL_WARM_UP_MS = 300;
/** How many members join and leave in parallel. */
const CHURN_AT_ONCE = 16;
/** The number of members of the office that receives notifications. */
const BROADCAST_MEMBERS = 201;
/** How many members connect and leave before the memory of a Server is measured for the first time. */
const MEMORY_WARM_UP = 200;
/** How long to wait after the last connection before the memory is measured, in milliseconds. */
const SETTLE_MS = 2_000;

/** A contender that can run. */
export interface Entrant {
  readonly contender: Contender;
  readonly program: Program;
}

/** Shows the current step. */
export type Progress = (text: string) => void;

/** Measures the contenders in interleaved rounds. Their order depends only on the seed. */
export class Bench {
  readonly #options: BenchOptions;
  readonly #entrants: readonly Entrant[];
  readonly #generators: readonly Generator[];
  readonly #progress: Progress;
  readonly #random: () => number;

  constructor(
    { options, entrants, generators, progress }: {
      readonly options: BenchOptions;
      readonly entrants: readonly Entrant[];
      readonly generators: readonly Generator[];
      readonly progress: Progress;
    },
  ) {
    this.#options = options;
    this.#entrants = entrants;
    this.#generators = generators;
    this.#progress = progress;
    this.#random = seededRandom(options.seed);
  }

  /** Measures calls, connections that join and leave, and notifications, on Servers that keep running. */
  async measureLoad(): Promise<Cell[]> {
    const { sections, payloads, inFlight, warmUpMs } = this.#options;
    await using servers = new ServerSet();
    for (const { contender, program } of this.#entrants) await servers.start(contender.name, program);
    const cells: Cell[] = [];
    const plan = sections.includes("calls")
      ? payloads.flatMap((payloadBytes) => inFlight.map((count) => ({ payloadBytes, inFlight: count })))
      : [];
    if (plan.length > 0) await this.#calls(servers, { payloadBytes: 300, inFlight: 32 }, warmUpMs);
    for (const what of plan) cells.push(await this.#calls(servers, what));
    if (sections.includes("churn")) cells.push(await this.#churn(servers));
    if (sections.includes("broadcast")) cells.push(await this.#broadcast(servers));
    return cells;
  }

  /** Measures the memory of idle connections, in a new process for each round. */
  async measureIdle(): Promise<Cell> {
    const { connections } = this.#options;
    const label = `${connections.toLocaleString("en-US")} idle connections`;
    return await this.#interleave({ section: "idle", label }, async ({ contender, program }, round) => {
      await using server = await RunningServer.start(program);
      const crowd = { port: server.port, version: contender.version, office: "own" as const };
      const gather = async (size: number, id: string) => {
        const share = Math.floor(size / this.#generators.length);
        await this.#each((_, index) => ({
          do: "gather",
          key: id,
          crowd: {
            ...crowd,
            size: index === 0 ? size - share * (this.#generators.length - 1) : share,
            id: `${id}${index}`,
          },
        }));
      };
      await gather(MEMORY_WARM_UP, `w${round}`);
      await this.#each(() => ({ do: "disconnect", key: `w${round}` }));
      await pause(SETTLE_MS);
      const heapBefore = contender.hasHeap ? await server.heapBytes() : NaN;
      const residentBefore = await server.residentBytes();
      await gather(connections, `i${round}`);
      await pause(SETTLE_MS);
      const residentAfter = await server.residentBytes();
      const heapAfter = contender.hasHeap ? await server.heapBytes() : NaN;
      const collectedAfter = contender.hasHeap ? await server.residentBytes() : NaN;
      await this.#each(() => ({ do: "disconnect", key: `i${round}` }));
      return withoutHoles({
        residentBytes: (residentAfter - residentBefore) / connections,
        heapBytes: (heapAfter - heapBefore) / connections,
        collectedBytes: (collectedAfter - residentBefore) / connections,
      });
    });
  }

  async #calls(
    servers: ServerSet,
    { payloadBytes, inFlight }: { readonly payloadBytes: number; readonly inFlight: number },
    warmUpMs = CELL_WARM_UP_MS,
  ): Promise<Cell> {
    const offices = Math.ceil(inFlight / IN_FLIGHT_PER_OFFICE);
    const using = this.#generators.slice(0, Math.min(offices, this.#generators.length));
    const shareOf = (total: number, index: number) =>
      Math.floor(total / using.length) + (index < total % using.length ? 1 : 0);
    const connect = ({ contender }: Entrant) =>
      this.#each((_, index) => ({
        do: "connect",
        key: contender.name,
        pairs: Array.from({ length: shareOf(offices, index) }, (_, office) => ({
          port: servers.get(contender.name).port,
          version: contender.version,
          id: `${index}-${office}`,
          payloadBytes,
        })),
      }), using);
    const call = ({ contender }: Entrant, durationMs: number) =>
      this.#load(servers.get(contender.name), using, (index) => ({
        do: "call",
        key: contender.name,
        inFlight: shareOf(inFlight, index),
        durationMs,
      }));
    const label = `${describeBytes(payloadBytes)}, ${inFlight} in flight`;
    return await this.#interleave(
      { section: "calls", label, payloadBytes, inFlight },
      (entrant) => call(entrant, this.#options.roundMs),
      {
        before: async (entrant) => {
          await connect(entrant);
          await call(entrant, warmUpMs);
        },
        after: ({ contender }) => this.#each(() => ({ do: "disconnect", key: contender.name }), using),
      },
    );
  }

  #churn(servers: ServerSet): Promise<Cell> {
    const label = `${CHURN_AT_ONCE} at once`;
    return this.#interleave({ section: "churn", label }, ({ contender }, round) => {
      const server = servers.get(contender.name);
      const size = Math.max(1, Math.floor(CHURN_AT_ONCE / this.#generators.length));
      return this.#load(server, this.#generators, (index) => ({
        do: "churn",
        crowd: {
          port: server.port,
          version: contender.version,
          office: "own",
          size,
          id: `x${round}-${index}`,
        },
        durationMs: this.#options.roundMs,
      }));
    });
  }

  #broadcast(servers: ServerSet): Promise<Cell> {
    const label = `to ${BROADCAST_MEMBERS - 1} members`;
    const first = this.#generators.slice(0, 1);
    return this.#interleave(
      { section: "broadcast", label },
      ({ contender }) =>
        this.#load(servers.get(contender.name), first, () => ({
          do: "broadcast",
          key: contender.name,
          durationMs: this.#options.roundMs,
        })),
      {
        before: ({ contender: { name, version } }) => {
          const crowd = {
            port: servers.get(name).port,
            version,
            size: BROADCAST_MEMBERS,
            office: "shared",
            id: "b",
          } as const;
          return this.#each(() => ({ do: "gather", key: name, crowd }), first);
        },
        after: ({ contender }) => this.#each(() => ({ do: "disconnect", key: contender.name }), first),
      },
    );
  }

  /** Runs the rounds. A contender that fails is reported at once and gets no further rounds of this measurement. */
  async #interleave(
    what: Omit<Cell, "rounds">,
    run: (entrant: Entrant, round: number) => Promise<Round>,
    { before, after }: {
      readonly before?: (entrant: Entrant) => Promise<unknown>;
      readonly after?: (entrant: Entrant) => Promise<unknown>;
    } = {},
  ): Promise<Cell> {
    const rounds = Object.fromEntries(this.#entrants.map(({ contender }) => [contender.name, [] as Round[]]));
    const failed = new Set<Entrant>();
    const attempt = async (entrant: Entrant, step: () => Promise<unknown> | undefined) => {
      if (failed.has(entrant)) return;
      await step()?.catch((error) => {
        failed.add(entrant);
        this.#progress(`FAILED: ${entrant.contender.title}, ${what.label}: ${error.message}`);
      });
    };
    for (const entrant of this.#entrants) await attempt(entrant, () => before?.(entrant));
    for (let round = 0; round < this.#options.rounds; round++) {
      this.#progress(`${what.section}: ${what.label}, round ${round + 1} of ${this.#options.rounds}`);
      for (const entrant of shuffled(this.#entrants, this.#random)) {
        const values = rounds[entrant.contender.name];
        await attempt(entrant, () => run(entrant, round).then((value) => values?.push(value)));
        if (failed.has(entrant)) values?.push(undefined);
      }
    }
    for (const entrant of this.#entrants) await attempt(entrant, () => after?.(entrant));
    return { ...what, rounds };
  }

  /** Sends a command to each generator, and waits for all outcomes. */
  async #each(
    command: (generator: Generator, index: number) => LoadCommand,
    generators = this.#generators,
  ): Promise<void> {
    await Promise.all(generators.map((generator, index) => generator.run(command(generator, index))));
  }

  /** Runs load on a Server, and measures its cost. */
  async #load(
    server: RunningServer,
    generators: readonly Generator[],
    command: (index: number) => LoadCommand,
  ): Promise<Round> {
    const cpuOfGenerators = async () =>
      (await Promise.all(generators.map((generator) => generator.cpuSeconds()))).reduce(
        (sum, one) => sum + one,
        0,
      );
    const [serverBefore, generatorsBefore] = [await server.cpuSeconds(), await cpuOfGenerators()];
    const outcomes = await Promise.all(generators.map((generator, index) => generator.run(command(index))));
    const serverSeconds = await server.cpuSeconds() - serverBefore;
    const generatorSeconds = await cpuOfGenerators() - generatorsBefore;
    const times = new Histogram();
    for (const outcome of outcomes) times.merge(new Histogram(outcome.times));
    const count = outcomes.reduce((sum, outcome) => sum + outcome.count, 0);
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

/** The running Servers by name, which are stopped together. */
class ServerSet implements AsyncDisposable {
  readonly #servers = new Map<string, RunningServer>();

  async start(name: string, program: Program): Promise<void> {
    this.#servers.set(name, await RunningServer.start(program));
  }

  get(name: string): RunningServer {
    const server = this.#servers.get(name);
    if (server === undefined) throw new TypeError(`Cannot measure "${name}": it does not run`);
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server[Symbol.asyncDispose]()));
  }
}

function withoutHoles(round: Readonly<Record<string, number>>): Round {
  return Object.fromEntries(Object.entries(round).filter(([, value]) => !Number.isNaN(value)));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
