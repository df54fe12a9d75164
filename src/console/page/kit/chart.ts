/** Small charts of figures over time, as SVG. */
import { html } from "./html.ts";
import type { View } from "./words.ts";
import { texts } from "../texts.ts";

export interface Series {
  readonly name: string;
  readonly points: readonly { readonly at: string; readonly value: number }[];
}

interface ChartProps {
  readonly label: string;
  readonly series: readonly Series[];
  /** Writes a value with its unit. */
  readonly format?: (value: number) => string;
  /** A limit, drawn as a line; the chart reaches up to it. */
  readonly bound?: number;
}

const WIDTH = 320;
const HEIGHT = 72;

/** A line for each series, from zero to the highest value, with the last values in words. */
export function Chart(
  { label, series, format = (value) => value.toLocaleString("en"), bound }: ChartProps,
): View {
  const points = series.flatMap((each) => each.points);
  const times = points.map(({ at }) => Date.parse(at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(bound ?? 0, ...points.map(({ value }) => value)) || 1;
  const x = (at: string) => (WIDTH * (Date.parse(at) - from) / (to - from || 1)).toFixed(1);
  const y = (value: number) => (HEIGHT - 2 - (HEIGHT - 4) * value / most).toFixed(1);
  const lasts = series.map(({ name, points }) => ({ name, last: points.at(-1)?.value }));
  const summary = lasts.map(({ name, last }) =>
    `${name} ${last === undefined ? texts.noValue : format(last)}`
  );
  return html`
    <figure class="chart card">
      <figcaption><strong>${label}</strong><small class="faint">${texts.upTo} ${format(
        most,
      )}</small></figcaption>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label=${`${label}: ${
        summary.join(", ")
      }`}>
          ${bound !== undefined &&
            html`<line class="bound" x1="0" x2=${WIDTH} y1=${y(bound)} y2=${y(bound)} />`}
          ${series.map(({ name, points }, index) =>
            html`<polyline key=${name} class=${`series-${index % 6}`} points=${
              points.map(({ at, value }) => `${x(at)},${y(value)}`).join(" ")
            } />`
          )}
        </svg>
      <ul class="legend">${lasts.map(({ name, last }, index) =>
        html`<li key=${name} class=${`series-${index % 6}`}>${name}${" "}<strong>${
          last === undefined ? texts.noValue : format(last)
        }</strong></li>`
      )}</ul>
    </figure>
  `;
}
