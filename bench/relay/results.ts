/** The results: values by contender and round, and their medians and ratios. Pure. */
import { median, medianRatio } from "./statistics.ts";
import type { Section } from "./options.ts";

/** The contender with which all others are compared. */
export const BASELINE = "bare";

/** The values of one contender in one round, by metric; `undefined` if the round failed. */
export type Round = Readonly<Record<string, number>> | undefined;

/** One measurement of all contenders. */
export interface Cell {
  readonly section: Section;
  /** The parameters, such as `300 B, 32 in flight`. */
  readonly label: string;
  readonly payloadBytes?: number;
  readonly inFlight?: number;
  /** The contender that all others are compared with; {@linkcode BASELINE} by default. */
  readonly baseline?: string;
  /** By the name of the contender. */
  readonly rounds: Readonly<Record<string, readonly Round[]>>;
}

/** The median of a metric over the rounds of a contender. */
export function valueOf(cell: Cell, contender: string, metric: string): number | undefined {
  const values = metricOf(cell, contender, metric).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : median(values);
}

/** The sum of a metric over the rounds of a contender. */
export function totalOf(cell: Cell, contender: string, metric: string): number | undefined {
  const values = metricOf(cell, contender, metric).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
}

/** The ratio of one contender to another: the median of the ratios of each round. */
export function ratioOf(
  cell: Cell,
  metric: string,
  { of, to = cell.baseline ?? BASELINE }: { readonly of: string; readonly to?: string },
): number | undefined {
  return medianRatio(metricOf(cell, of, metric), metricOf(cell, to, metric));
}

function metricOf(cell: Cell, contender: string, metric: string): (number | undefined)[] {
  return (cell.rounds[contender] ?? []).map((round) => round?.[metric]);
}

/** A size as text: `300 B`, `10 KB`, `900 KB`. */
export function describeBytes(bytes: number): string {
  return bytes < 1_000 ? `${bytes} B` : `${bytes / 1_000} KB`;
}
