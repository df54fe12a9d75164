/** Checks the samples of a soak against the requirements. Pure. */
import type { Measure } from "./computer_process.ts";

/** One measurement of the Computer's process under load. */
export interface Sample extends Measure {
  readonly minute: number;
}

/** The measurements of the same Computer without MCP servers, before and after the load. */
export interface Idle {
  readonly before: Measure;
  readonly after: Measure;
}

/** The largest part by which the memory may grow after the first sixth of the soak: minute five of thirty. */
const MAX_GROWTH = 0.1;
/** The most by which the heap of an idle Computer may grow, in MiB: the content of its bounded caches. */
const MAX_IDLE_HEAP_GROWTH_MIB = 20;

/** The resident memory after a sixth of the soak and at its end, each the median of several samples, in MiB. */
export function memoryTrend(samples: readonly Sample[], minutes: number): { early: number; late: number } {
  const spread = Math.max(minutes / 15, 0.25);
  const around = (minute: number) =>
    median(
      samples.filter((sample) => Math.abs(sample.minute - minute) <= spread).map(({ rssMib }) => rssMib),
    );
  return { early: around(minutes / 6), late: around(minutes - spread) };
}

/** The broken requirements; empty for a good run. */
export function judge(
  soak: { readonly samples: readonly Sample[]; readonly idle: Idle; readonly minutes: number },
): string[] {
  const { samples, idle, minutes } = soak;
  const { early, late } = memoryTrend(samples, minutes);
  return [
    ...exceeds("resident memory in MiB", { value: late, limit: early * (1 + MAX_GROWTH) }),
    ...exceeds("heap of the idle Computer in MiB", {
      value: idle.after.heapMib,
      limit: idle.before.heapMib + MAX_IDLE_HEAP_GROWTH_MIB,
    }),
    ...exceeds("open descriptors", { value: idle.after.descriptorCount, limit: idle.before.descriptorCount }),
    ...exceeds("zombies", { value: idle.after.zombies, limit: 0 }),
    ...resourceBreaches(idle),
  ];
}

function resourceBreaches({ before, after }: Idle): string[] {
  if (before.resources === undefined || after.resources === undefined) return [];
  const limits = before.resources;
  return Object.entries(after.resources).flatMap(([kind, value]) =>
    exceeds(`Deno resources of the kind ${kind}`, { value, limit: limits[kind] ?? 0 })
  );
}

function exceeds(
  what: string,
  { value, limit }: { readonly value: number; readonly limit: number },
): string[] {
  return value <= limit ? [] : [`${what}: ${round(value)}, at most ${round(limit)}`];
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
