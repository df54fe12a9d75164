/** Draws the results as an SVG chart: one panel of bars for each measurement. Pure. */
import { BASELINE, type Cell, describeBytes, ratioOf, valueOf } from "./results.ts";

const WIDTH = 1_000;
const MARGIN = 24;
const HEADER_HEIGHT = 84;
const PANEL_WIDTH = (WIDTH - 3 * MARGIN) / 2;
const NAME_WIDTH = 122;
/** The space right of the longest bar, for its value and its ratio. */
const VALUE_WIDTH = 112;
const BAR_HEIGHT = 18;
const BAR_STEP = 24;
const TITLE_HEIGHT = 30;
const AXIS_HEIGHT = 38;
const TICKS = 4;

/** The colors on white and on black, by the name of the contender. */
const COLORS: Readonly<Record<string, { readonly light: string; readonly dark: string }>> = {
  bare: { light: "#8c959f", dark: "#768390" },
  ours: { light: "#0969da", dark: "#539bf5" },
  inside: { light: "#0969da", dark: "#539bf5" },
  redis: { light: "#8250df", dark: "#986ee2" },
  across: { light: "#54a3ff", dark: "#316dca" },
  python: { light: "#bf8700", dark: "#c69026" },
  rust: { light: "#cf222e", dark: "#e5534b" },
};

/** One panel of the chart. */
interface Panel {
  readonly title: string;
  /** The text below the axis. */
  readonly unit: string;
  readonly metric: string;
  readonly cell: Cell;
  /** Converts a value of the metric to the unit of the axis. */
  readonly scale: number;
}

/** Draws the cells. `subtitle` says when and where they were measured. */
export function renderChart(
  cells: readonly Cell[],
  { titles, subtitle }: { readonly titles: Readonly<Record<string, string>>; readonly subtitle: string },
): string {
  const panels = choosePanels(cells);
  const heights = panels.map(({ cell }) =>
    TITLE_HEIGHT + Object.keys(cell.rounds).length * BAR_STEP + AXIS_HEIGHT
  );
  const panelHeight = Math.max(0, ...heights);
  const height = HEADER_HEIGHT + Math.ceil(panels.length / 2) * (panelHeight + MARGIN);
  const drawn = panels.map((panel, index) => {
    const x = MARGIN + index % 2 * (PANEL_WIDTH + MARGIN);
    const y = HEADER_HEIGHT + Math.floor(index / 2) * (panelHeight + MARGIN);
    return `<g transform="translate(${x} ${y})">${drawPanel(panel, titles)}</g>`;
  });
  const heading = "The relay: our Server and others under the same load";
  const note = "medians; × is the ratio to the first bar, the median of all rounds";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">`,
    `<title id="title">${escape(heading)}</title>`,
    `<style>${styleSheet()}</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="heading" x="${MARGIN}" y="34">${escape(heading)}</text>`,
    `<text class="note" x="${MARGIN}" y="56">${escape(`${subtitle}; ${note}`)}</text>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

/** The ticks of an axis: round numbers from 0 to the first one that is not below the maximum. */
export function chooseTicks(max: number): number[] {
  if (!(max > 0)) return [0, 1];
  const raw = max / TICKS;
  const magnitude = 10 ** Math.floor(Math.log10(raw));
  const step = magnitude * ([1, 2, 2.5, 5, 10].find((factor) => factor * magnitude >= raw) ?? 10);
  return Array.from(
    { length: Math.ceil(max / step) + 1 },
    (_, index) => Number((index * step).toPrecision(12)),
  );
}

/** Calls per second and CPU time by payload, at 32 in flight where that was measured; then memory, churn and broadcast. */
function choosePanels(cells: readonly Cell[]): Panel[] {
  const more = "more is better";
  const less = "less is better";
  const calls = cells.filter(({ section }) => section === "calls");
  const inFlight = calls.some((cell) => cell.inFlight === 32) ? 32 : calls[0]?.inFlight;
  const chosen = calls.filter((cell) => cell.inFlight === inFlight);
  const of = (section: string, rest: Omit<Panel, "cell">) =>
    cells.filter((cell) => cell.section === section).map((cell): Panel => ({
      cell,
      ...rest,
      title: `${rest.title}: ${cell.label}`,
    }));
  const ofCalls = chosen.flatMap((cell): Panel[] => {
    const where = `${describeBytes(cell.payloadBytes ?? 0)}, ${cell.inFlight} in flight`;
    const rest = { cell, scale: 1 };
    return [
      { ...rest, title: `Calls: ${where}`, unit: `calls per second, ${more}`, metric: "perSecond" },
      {
        ...rest,
        title: `Server CPU: ${where}`,
        unit: `µs of processor time per call, ${less}`,
        metric: "cpuUs",
      },
    ];
  });
  return [
    ...ofCalls,
    ...of("idle", {
      title: "Memory",
      unit: `KB of RSS per connection, ${less}`,
      metric: "residentBytes",
      scale: 1e-3,
    }),
    ...of("cluster", { title: "Cluster", unit: `median latency in ms, ${less}`, metric: "p50Ms", scale: 1 }),
    ...of("churn", {
      title: "Churn",
      unit: `connections per second, ${more}`,
      metric: "perSecond",
      scale: 1,
    }),
    ...of("broadcast", {
      title: "Broadcast",
      unit: `deliveries per second, ${more}`,
      metric: "perSecond",
      scale: 1,
    }),
  ];
}

function drawPanel(
  { title, unit, metric, cell, scale }: Panel,
  titles: Readonly<Record<string, string>>,
): string {
  const names = Object.keys(cell.rounds);
  const values = names.map((name) => (valueOf(cell, name, metric) ?? NaN) * scale);
  const ticks = chooseTicks(Math.max(0, ...values.filter((value) => !Number.isNaN(value))));
  const span = PANEL_WIDTH - NAME_WIDTH - VALUE_WIDTH;
  const toX = (value: number) => round(NAME_WIDTH + value / (ticks.at(-1) ?? 1) * span);
  const bottom = TITLE_HEIGHT + names.length * BAR_STEP;
  const axis = ticks.map((tick) => {
    const x = toX(tick);
    return `<line class="grid" x1="${x}" x2="${x}" y1="${TITLE_HEIGHT - 4}" y2="${bottom}"/>` +
      `<text class="tick" x="${x}" y="${bottom + 14}">${show(tick)}</text>`;
  });
  const bars = names.map((name, index) => {
    const value = values[index] ?? NaN;
    const y = TITLE_HEIGHT + index * BAR_STEP;
    const middle = y + BAR_HEIGHT / 2 + 4;
    const label = `<text class="name" x="${NAME_WIDTH - 8}" y="${middle}">${
      escape(titles[name] ?? name)
    }</text>`;
    if (Number.isNaN(value)) {
      return `${label}<text class="value" x="${NAME_WIDTH + 6}" y="${middle}">not measured</text>`;
    }
    const ratio = name === (cell.baseline ?? BASELINE) ? undefined : ratioOf(cell, metric, { of: name });
    const text = ratio === undefined ? show(value) : `${show(value)} (${ratio.toFixed(2)}×)`;
    const width = round(toX(value) - NAME_WIDTH);
    return `${label}<rect class="bar ${name}" x="${NAME_WIDTH}" y="${y}" width="${width}" height="${BAR_HEIGHT}" rx="2"/>` +
      `<text class="value" x="${round(toX(value) + 6)}" y="${middle}">${text}</text>`;
  });
  const middle = round(NAME_WIDTH + span / 2);
  return [
    `<text class="title" x="0" y="14">${escape(title)}</text>`,
    ...axis,
    ...bars,
    `<line class="axis" x1="${NAME_WIDTH}" x2="${NAME_WIDTH}" y1="${TITLE_HEIGHT - 4}" y2="${bottom}"/>`,
    `<text class="unit" x="${middle}" y="${bottom + 30}">${escape(unit)}</text>`,
  ].join("");
}

function styleSheet(): string {
  const rules = [
    "text{font:12px system-ui,sans-serif;fill:var(--text)}",
    ".heading{font-size:18px;font-weight:600}.title{font-size:13px;font-weight:600}",
    ".note,.tick,.unit{fill:var(--faint)}.tick,.unit{font-size:11px;text-anchor:middle}.name{text-anchor:end}",
    ".value{paint-order:stroke;stroke:var(--ground);stroke-width:3px}.ground{fill:var(--ground)}.grid{stroke:var(--grid)}.axis{stroke:var(--faint)}",
  ];
  const bars = (theme: "light" | "dark") =>
    Object.entries(COLORS).map(([name, color]) => `.bar.${name}{fill:${color[theme]}}`).join("");
  const light = ":root{--ground:#ffffff;--text:#1f2328;--faint:#59636e;--grid:#d1d9e0}";
  const dark = ":root{--ground:#0d1117;--text:#e6edf3;--faint:#9198a1;--grid:#30363d}";
  return `${light}${rules.join("")}${bars("light")}@media(prefers-color-scheme:dark){${dark}${bars("dark")}}`;
}

function show(value: number): string {
  const digits = Math.abs(value) < 1 ? 2 : Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString("en-US", { maximumFractionDigits: digits });
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
