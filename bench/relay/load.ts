/**
 * The load generator, which runs in a separate process. It reads commands from stdin, one JSON object per line, and writes
 * the outcome of each command to stdout. All Servers get the same load generator.
 */
import { Histogram } from "./statistics.ts";
import { Pair, type PairOptions } from "./pair.ts";
import { activity } from "./raw_peer.ts";
import { broadcast, churn, Crowd, type CrowdOptions } from "./crowd.ts";

/** A command to a generator. The answer is a {@linkcode LoadOutcome}. */
export type LoadCommand =
  | { readonly do: "connect"; readonly key: string; readonly pairs: readonly PairOptions[] }
  | { readonly do: "call"; readonly key: string; readonly inFlight: number; readonly durationMs: number }
  | { readonly do: "gather"; readonly key: string; readonly crowd: CrowdOptions }
  | { readonly do: "broadcast"; readonly key: string; readonly durationMs: number }
  | { readonly do: "churn"; readonly crowd: CrowdOptions; readonly durationMs: number }
  | { readonly do: "disconnect"; readonly key: string };

/** The outcome of a command. */
export interface LoadOutcome {
  /** The number of calls, connections or received notifications. */
  readonly count: number;
  readonly seconds: number;
  /** The counts of a {@linkcode Histogram}. */
  readonly times: readonly number[];
  /** The number of calls without an answer. */
  readonly lost?: number;
  readonly error?: string;
}

/** Calls in flight are lost after this time without any message in either direction, in milliseconds. */
const LOST_AFTER_MS = 1_000;

const pairs = new Map<string, readonly Pair[]>();
const crowds = new Map<string, Crowd>();

async function carryOut(command: LoadCommand): Promise<LoadOutcome> {
  switch (command.do) {
    case "connect": {
      pairs.set(command.key, await Promise.all(command.pairs.map((options) => Pair.connect(options))));
      return { count: command.pairs.length * 2, seconds: 0, times: [] };
    }
    case "call":
      return await call(pairs.get(command.key) ?? [], command);
    case "gather": {
      const crowd = await Crowd.gather(command.crowd);
      crowds.set(command.key, crowd);
      return { count: crowd.size, seconds: 0, times: [] };
    }
    case "broadcast": {
      const crowd = crowds.get(command.key);
      if (crowd === undefined) throw new TypeError(`Cannot broadcast: no crowd "${command.key}"`);
      return await broadcast(crowd, command.durationMs);
    }
    case "churn":
      return await churn(command.crowd, command.durationMs);
    case "disconnect": {
      await Promise.all((pairs.get(command.key) ?? []).map((pair) => pair[Symbol.asyncDispose]()));
      await crowds.get(command.key)?.[Symbol.asyncDispose]();
      pairs.delete(command.key);
      crowds.delete(command.key);
      return { count: 0, seconds: 0, times: [] };
    }
  }
}

/**
 * Keeps `inFlight` calls in flight, distributed over the pairs, and waits for the last call. When nothing was sent or
 * received for a while, the calls in flight count as lost. The time of that wait does not count.
 */
async function call(
  all: readonly Pair[],
  { inFlight, durationMs }: { readonly inFlight: number; readonly durationMs: number },
): Promise<LoadOutcome> {
  const times = new Histogram();
  const startMs = performance.now();
  let count = 0;
  let lost = 0;
  let waitedMs = 0;
  const caller = async (pair: Pair) => {
    while (true) {
      const sentMs = performance.now();
      if (sentMs - startMs - waitedMs >= durationMs) return;
      if (!await pair.call()) {
        lost++;
        continue;
      }
      times.add(performance.now() - sentMs);
      count++;
    }
  };
  const watch = watchForSilence((silenceMs) => {
    waitedMs += silenceMs;
    for (const pair of all) pair.giveUp();
  });
  const callers = Array.from({ length: inFlight }, (_, index) => {
    const pair = all[index % all.length];
    if (pair === undefined) throw new TypeError("Cannot call: no pair is connected");
    return caller(pair);
  });
  await Promise.race([Promise.all(callers), ...all.map((pair) => pair.ended())]).finally(() =>
    clearInterval(watch)
  );
  return { count, seconds: (performance.now() - startMs - waitedMs) / 1000, times: times.toJSON(), lost };
}

/** Calls back after each time in which nothing was sent or received, if it lasted `LOST_AFTER_MS`. */
function watchForSilence(onSilence: (silenceMs: number) => void): ReturnType<typeof setInterval> {
  let { count } = activity;
  let sinceMs = performance.now();
  return setInterval(() => {
    const nowMs = performance.now();
    if (activity.count === count && nowMs - sinceMs < LOST_AFTER_MS) return;
    if (activity.count === count) onSilence(nowMs - sinceMs);
    ({ count } = activity);
    sinceMs = nowMs;
  }, LOST_AFTER_MS / 10);
}

/** Yields the lines of stdin. */
async function* lines(): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
    const whole = (rest + chunk).split("\n");
    rest = whole.pop() ?? "";
    yield* whole;
  }
}

if (import.meta.main) {
  for await (const line of lines()) {
    const outcome = await carryOut(JSON.parse(line)).catch((error) => ({
      count: 0,
      seconds: 0,
      times: [],
      error: String(error),
    }));
    console.log(JSON.stringify(outcome));
  }
  Deno.exit(0);
}
