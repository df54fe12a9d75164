/** The memory of idle connections. */
import type { Cell, Round } from "./results.ts";
import { MAX_LONG_ROUNDS, type Named, type Rounds, shareOf } from "./rounds.ts";
import { type Contender, type Program, RunningServer } from "./servers.ts";

/** How many members connect and leave before the memory of a Server is measured for the first time. */
const WARM_UP_MEMBERS = 200;
/** How long to wait after the last connection before the memory is measured, in milliseconds. */
const SETTLE_MS = 2_000;

/** A contender that can run. */
export interface Entrant extends Named {
  readonly contender: Contender;
  readonly program: Program;
}

/** Measures the memory of idle connections, in a new process for each round. */
export async function measureIdle(rounds: Rounds, entrants: readonly Entrant[]): Promise<Cell> {
  const { connections } = rounds.options;
  const label = `up to ${connections.toLocaleString("en-US")} connections`;
  return await rounds.interleave({ section: "idle", label }, entrants, {
    run: (entrant, round) => measureOnce(rounds, entrant, `${round}`),
    after: async () => {
      for (let round = 0; round < MAX_LONG_ROUNDS; round++) await leave(rounds, `${round}`);
    },
    isLong: true,
  });
}

async function measureOnce(rounds: Rounds, { contender, program }: Entrant, key: string): Promise<Round> {
  const { generators, options } = rounds;
  const { hasHeap, version, maxConnections = Infinity } = contender;
  const connections = Math.min(options.connections, maxConnections);
  await using server = await RunningServer.start(program);
  const gather = (total: number) =>
    rounds.each((index) => {
      const size = shareOf(total, index, generators.length);
      return {
        do: "gather",
        key,
        crowd: { port: server.port, version, office: "own", size, id: `i${index}` },
      };
    });
  const measure = async () => {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const residentBytes = await server.residentBytes();
    const heapBytes = hasHeap ? await server.heapBytes() : NaN;
    return { residentBytes, heapBytes, collectedBytes: hasHeap ? await server.residentBytes() : NaN };
  };
  await gather(WARM_UP_MEMBERS);
  await leave(rounds, key);
  const before = await measure();
  await gather(connections);
  const after = await measure();
  await leave(rounds, key);
  // The memory before is measured after a collection, so that nothing is counted as freed by the connections.
  const base = hasHeap ? before.collectedBytes : before.residentBytes;
  const round = {
    connections,
    residentBytes: (after.residentBytes - base) / connections,
    heapBytes: (after.heapBytes - before.heapBytes) / connections,
    collectedBytes: (after.collectedBytes - base) / connections,
  };
  return Object.fromEntries(Object.entries(round).filter(([, value]) => !Number.isNaN(value)));
}

async function leave(rounds: Rounds, key: string): Promise<void> {
  await rounds.each(() => ({ do: "disconnect", key }));
}
