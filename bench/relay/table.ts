/** The report as text, with one table for each section. Pure. */
import type { Section } from "./options.ts";
import { BASELINE, type Cell, ratioOf, totalOf, valueOf } from "./results.ts";

/** A column of a table. */
interface Column {
  readonly title: string;
  readonly metric: string;
  readonly show: (value: number) => string;
  /** Whether the ratio to the baseline follows the value. */
  readonly hasRatio?: boolean;
  /** Whether it is the sum over all rounds, not the median. */
  readonly isTotal?: boolean;
}

const whole = (value: number) => Math.round(value).toLocaleString("en-US");
const ms = (value: number) => value < 10 ? value.toFixed(2) : value.toFixed(0);
const percent = (value: number) => `${Math.round(value * 100)} %`;
const kilobytes = (value: number) => (value / 1_000).toFixed(1);

const latency: readonly Column[] = [
  { title: "p50 ms", metric: "p50Ms", show: ms },
  { title: "p95 ms", metric: "p95Ms", show: ms },
  { title: "p99 ms", metric: "p99Ms", show: ms },
];
/** The processor time of a second; a Server with several threads may use more than one core. */
const shares: readonly Column[] = [
  { title: "Server CPU", metric: "serverShare", show: percent },
  { title: "generator CPU", metric: "generatorShare", show: percent },
];
const calls: readonly Column[] = [
  { title: "calls/s", metric: "perSecond", show: whole, hasRatio: true },
  { title: "CPU µs per call", metric: "cpuUs", show: whole, hasRatio: true },
  ...latency,
  ...shares,
  { title: "lost", metric: "lost", show: whole, isTotal: true },
];

/** A process that uses more than this share of a core has no time left. */
const BUSY_SHARE = 0.9;

const SECTION_TABLES: Readonly<
  Record<Section, { readonly title: string; readonly columns: readonly Column[] }>
> = {
  calls: {
    title: "Relayed calls",
    columns: calls,
  },
  idle: {
    title: "Memory per idle connection",
    columns: [
      { title: "connections", metric: "connections", show: whole },
      { title: "RSS KB", metric: "residentBytes", show: kilobytes, hasRatio: true },
      { title: "RSS KB, collected", metric: "collectedBytes", show: kilobytes, hasRatio: true },
      { title: "heap KB, collected", metric: "heapBytes", show: kilobytes, hasRatio: true },
    ],
  },
  churn: {
    title: "Connections that come, join and leave",
    columns: [
      { title: "connections/s", metric: "perSecond", show: whole, hasRatio: true },
      { title: "CPU µs per connection", metric: "cpuUs", show: whole, hasRatio: true },
      ...latency,
      ...shares,
    ],
  },
  broadcast: {
    title: "Notifications to an office",
    columns: [
      { title: "deliveries/s", metric: "perSecond", show: whole, hasRatio: true },
      { title: "CPU µs per delivery", metric: "cpuUs", show: (value) => value.toFixed(1), hasRatio: true },
      ...latency,
      ...shares,
    ],
  },
  cluster: {
    title: "One process and three on Redis",
    columns: calls,
  },
};

/** The table of one section as Markdown, which is also readable as plain text. */
export function renderTable(cells: readonly Cell[], titles: Readonly<Record<string, string>>): string {
  const [first] = cells;
  if (first === undefined) return "";
  const { title, columns } = SECTION_TABLES[first.section];
  const header = ["", "", ...columns.map((column) => column.title)];
  const rows = cells.flatMap((cell) =>
    Object.keys(cell.rounds).map((contender, index) => [
      index === 0 ? cell.label : "",
      titles[contender] ?? contender,
      ...columns.map((column) => renderValue(cell, contender, column)),
    ])
  );
  return `## ${title}\n\n${align([header, ...rows])}\n`;
}

/** The rows in which the load generator, not the Server, was the limit. */
export function rowsLimitedByGenerator(
  cells: readonly Cell[],
  titles: Readonly<Record<string, string>>,
): string[] {
  return cells.flatMap((cell) =>
    Object.keys(cell.rounds)
      .filter((name) => (valueOf(cell, name, "generatorShare") ?? 0) > BUSY_SHARE)
      .map((name) => `${cell.section}, ${cell.label}: ${titles[name] ?? name}`)
  );
}

function renderValue(cell: Cell, contender: string, { metric, show, hasRatio, isTotal }: Column): string {
  const value = (isTotal === true ? totalOf : valueOf)(cell, contender, metric);
  if (value === undefined) return "–";
  const ratio = hasRatio === true && contender !== (cell.baseline ?? BASELINE)
    ? ratioOf(cell, metric, { of: contender })
    : undefined;
  return ratio === undefined ? show(value) : `${show(value)} (${ratio.toFixed(2)}×)`;
}

/** Rows of Markdown with aligned columns; numbers are aligned to the right. */
function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => (row[column] ?? "").length))
  );
  const line = (row: readonly string[]) => {
    const parts = widths.map((width, column) => {
      const text = row[column] ?? "";
      return column < 2 ? text.padEnd(width) : text.padStart(width);
    });
    return `| ${parts.join(" | ")} |`;
  };
  const rule = widths.map((width, column) => column < 2 ? "-".repeat(width) : `${"-".repeat(width - 1)}:`);
  const [header = [], ...rest] = rows;
  return [line(header), `| ${rule.join(" | ")} |`, ...rest.map(line)].join("\n");
}
