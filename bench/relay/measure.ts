/** The measurements of Servers under load: calls, connections that come and go, and broadcasts. */
import { type Cell, describeBytes } from "./results.ts";
import { type Named, type Rounds, shareOf, type Target } from "./rounds.ts";

/** The most calls that one Agent has in flight. More calls are distributed over more offices. */
const IN_FLIGHT_PER_OFFICE = 32;
/** The warm-up before each measurement, in milliseconds. */
const WARM_UP_MS = 300;
/** With more bytes in flight, a round takes seconds: it ends when all calls are answered. */
const MAX_BYTES_IN_SHORT_ROUND = 50_000_000;
/** How many members join and leave in parallel. */
const CHURN_AT_ONCE = 16;
/** The number of members of the office that receives notifications. */
const BROADCAST_MEMBERS = 201;

/** What calls look like. */
export interface CallLoad {
  readonly payloadBytes: number;
  readonly inFlight: number;
}

/** Measures relayed calls. */
export async function measureCalls(
  rounds: Rounds,
  targets: readonly Target[],
  { payloadBytes, inFlight, warmUpMs = WARM_UP_MS, ...what }:
    & CallLoad
    & { readonly warmUpMs?: number }
    & Pick<Cell, "section" | "baseline">,
): Promise<Cell> {
  const offices = Math.ceil(inFlight / IN_FLIGHT_PER_OFFICE);
  const generators = rounds.generators.slice(0, offices);
  const connect = ({ name, port, computerPort, version }: Target) =>
    rounds.each((index) => ({
      do: "connect",
      key: name,
      pairs: Array.from({ length: shareOf(offices, index, generators.length) }, (_, office) => ({
        port,
        version,
        // Names are unique among all cells, and among all targets, which may share a Redis.
        id: `${name}-${payloadBytes}-${inFlight}-${warmUpMs}-${index}-${office}`,
        payloadBytes,
        ...computerPort === undefined ? {} : { computerPort },
      })),
    }), generators);
  const call = (target: Target, durationMs: number) =>
    rounds.load(target, (index) => ({
      do: "call",
      key: target.name,
      inFlight: shareOf(inFlight, index, generators.length),
      durationMs,
    }), generators);
  const label = `${describeBytes(payloadBytes)}, ${inFlight} in flight`;
  return await rounds.interleave({ ...what, label, payloadBytes, inFlight }, targets, {
    before: async (target) => {
      await connect(target);
      await call(target, warmUpMs);
    },
    run: (target) => call(target, rounds.options.roundMs),
    after: (target) => disconnect(rounds, target),
    isLong: payloadBytes * inFlight > MAX_BYTES_IN_SHORT_ROUND,
  });
}

/** Measures members that connect, join an office and leave at once. */
export async function measureChurn(rounds: Rounds, targets: readonly Target[]): Promise<Cell> {
  const generators = rounds.generators.slice(0, CHURN_AT_ONCE);
  return await rounds.interleave({ section: "churn", label: `${CHURN_AT_ONCE} at once` }, targets, {
    run: (target, round) =>
      rounds.load(target, (index) => ({
        do: "churn",
        crowd: {
          port: target.port,
          version: target.version,
          office: "own",
          size: shareOf(CHURN_AT_ONCE, index, generators.length),
          id: `x${round}-${index}`,
        },
        durationMs: rounds.options.roundMs,
      }), generators),
  });
}

/** Measures the notifications of one member to all others of its office. */
export async function measureBroadcast(rounds: Rounds, targets: readonly Target[]): Promise<Cell> {
  const generators = rounds.generators.slice(0, 1);
  const label = `to ${BROADCAST_MEMBERS - 1} members`;
  return await rounds.interleave({ section: "broadcast", label }, targets, {
    before: async ({ name, port, version }) => {
      const crowd = { port, version, size: BROADCAST_MEMBERS, office: "shared", id: "b" } as const;
      await rounds.each(() => ({ do: "gather", key: name, crowd }), generators);
    },
    run: (target) =>
      rounds.load(
        target,
        () => ({ do: "broadcast", key: target.name, durationMs: rounds.options.roundMs }),
        generators,
      ),
    after: (target) => disconnect(rounds, target),
  });
}

/** Disconnects whatever the generators have connected to a contender, also where a step failed. */
async function disconnect(rounds: Rounds, { name }: Named): Promise<void> {
  await rounds.each(() => ({ do: "disconnect", key: name }));
}
