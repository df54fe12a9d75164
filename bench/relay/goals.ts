/** The goals of the relay, and whether a run meets them. Pure. */
import { type Cell, ratioOf, valueOf } from "./results.ts";

/** A goal with its measured value. */
export interface Verdict {
  readonly goal: string;
  /** The measured value, or `not measured`. */
  readonly value: string;
  /** `undefined` if it was not measured. */
  readonly isMet: boolean | undefined;
}

/** A bound for the ratio of our Server to another one, in one cell. */
interface Goal {
  readonly text: string;
  readonly find: (cell: Cell) => boolean;
  readonly metric: string;
  readonly to: string;
  readonly atLeast?: number;
  readonly atMost?: number;
}

const calls = (payloadBytes: number, inFlight = 32) => (cell: Cell) =>
  cell.section === "calls" && cell.payloadBytes === payloadBytes && cell.inFlight === inFlight;
const sectionOf = (name: Cell["section"]) => (cell: Cell) => cell.section === name;

const GOALS: readonly Goal[] = [
  {
    text: "calls/s at 300 B, 32 in flight: at least 1.3× the bare forwarder",
    find: calls(300),
    metric: "perSecond",
    to: "bare",
    atLeast: 1.3,
  },
  {
    text: "calls/s at 300 B, 32 in flight: at least 15× the official Python Server",
    find: calls(300),
    metric: "perSecond",
    to: "python",
    atLeast: 15,
  },
  ...([[300, 0.75], [100_000, 0.45], [900_000, 0.42]] as const).map(([payload, atMost]): Goal => ({
    text: `Server CPU per call at ${
      payload < 1_000 ? `${payload} B` : `${payload / 1_000} KB`
    }: at most ${atMost}× bare`,
    find: calls(payload),
    metric: "cpuUs",
    to: "bare",
    atMost,
  })),
  {
    text: "Server CPU per call at 300 B, one in flight: at most 1× bare",
    find: calls(300, 1),
    metric: "cpuUs",
    to: "bare",
    atMost: 1,
  },
  {
    text: "connections that come and go: at least 1× the bare forwarder",
    find: sectionOf("churn"),
    metric: "perSecond",
    to: "bare",
    atLeast: 1,
  },
  {
    text: "deliveries to an office: at least 1.5× the bare forwarder",
    find: sectionOf("broadcast"),
    metric: "perSecond",
    to: "bare",
    atLeast: 1.5,
  },
  {
    text: "RSS per idle connection: at most 0.95× bare",
    find: sectionOf("idle"),
    metric: "residentBytes",
    to: "bare",
    atMost: 0.95,
  },
];

/** The most latency that a call between processes may add, in milliseconds. */
const MAX_CLUSTER_MS = 1.5;

/** Compares the results of one contender with the goals. */
export function judge(cells: readonly Cell[], ours: string): Verdict[] {
  const ratios = GOALS.map(({ text, find, metric, to, atLeast = 0, atMost = Infinity }): Verdict => {
    const cell = cells.find(find);
    const ratio = cell === undefined ? undefined : ratioOf(cell, metric, { of: ours, to });
    if (ratio === undefined) return { goal: text, value: "not measured", isMet: undefined };
    return {
      goal: text,
      value: `${ratio.toFixed(ratio < 10 ? 3 : 0)}×`,
      isMet: ratio >= atLeast && ratio <= atMost,
    };
  });
  return [...ratios, judgeCluster(cells)];
}

function judgeCluster(cells: readonly Cell[]): Verdict {
  const goal = `p50 of a call between processes: at most ${MAX_CLUSTER_MS} ms above one inside a process`;
  const cell = cells.find(({ section, inFlight }) => section === "cluster" && inFlight === 1);
  const across = cell === undefined ? undefined : valueOf(cell, "across", "p50Ms");
  const inside = cell === undefined ? undefined : valueOf(cell, "inside", "p50Ms");
  if (across === undefined || inside === undefined) return { goal, value: "not measured", isMet: undefined };
  const addedMs = across - inside;
  return { goal, value: `${addedMs.toFixed(2)} ms`, isMet: addedMs <= MAX_CLUSTER_MS };
}

/** The metrics that are compared with another contender. */
const COMPARED = [
  { metric: "perSecond", title: "per second", isLessBetter: false },
  { metric: "cpuUs", title: "CPU", isLessBetter: true },
  { metric: "p50Ms", title: "p50", isLessBetter: true },
  { metric: "p99Ms", title: "p99", isLessBetter: true },
  { metric: "residentBytes", title: "RSS", isLessBetter: true },
] as const;

/** The rows in which one contender is worse than another one, with their ratio. */
export function rowsBehind(cells: readonly Cell[], ours: string, other: string): string[] {
  return cells.flatMap((cell) => {
    const worse = COMPARED.flatMap(({ metric, title, isLessBetter }) => {
      const ratio = ratioOf(cell, metric, { of: ours, to: other });
      if (ratio === undefined || (isLessBetter ? ratio <= 1 : ratio >= 1)) return [];
      return [`${title} ${ratio.toFixed(2)}×`];
    });
    return worse.length === 0 ? [] : [`${cell.section}, ${cell.label}: ${worse.join(", ")}`];
  });
}

/**
 * Renders the verdicts, one line each.
 *
 * @param options `isQuick`: a short run, with fewer connections, whose figures are not judged.
 */
export function renderVerdicts(
  title: string,
  verdicts: readonly Verdict[],
  { isQuick = false }: { readonly isQuick?: boolean } = {},
): string {
  const lines = verdicts.map(({ goal, value, isMet }) => {
    if (isQuick) return `- not judged  ${goal}: ${value}`;
    const mark = isMet === undefined ? "      –" : isMet ? "    met" : "NOT MET";
    return `- ${mark}  ${goal}: ${value}`;
  });
  return `## Goals: ${title}\n\n${lines.join("\n")}\n`;
}
