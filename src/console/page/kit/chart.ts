/** Small charts of figures over time, as SVG. */
import { texts } from "../texts.ts";
import { html, type View } from "./words.ts";

export interface Series {
  readonly name: string;
  readonly points: readonly { readonly at: string; readonly value: number }[];
}

interface ChartProps {
  readonly label: string;
  readonly series: readonly Series[];
  /** Writes a value with its unit. */
  readonly format?: (value: number) => string;
}

const WIDTH = 320;
const HEIGHT = 72;

/** A line for each series, from zero to the highest value, with the last values in words. */
export function Chart({ label, series, format = (value) => value.toLocaleString("en") }: ChartProps): View {
  const points = series.flatMap((each) => each.points);
  const times = points.map(({ at }) => Date.parse(at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const most = Math.max(...points.map(({ value }) => value), 0) || 1;
  const place = ({ at, value }: Series["points"][number]) =>
    `${(WIDTH * (Date.parse(at) - from) / (to - from || 1)).toFixed(1)},${
      (HEIGHT - 2 - (HEIGHT - 4) * value / most).toFixed(1)
    }`;
  const lasts = series.map(({ name, points }) => {
    const last = points.at(-1);
    return [name, last === undefined ? texts.noValue : format(last.value)] as const;
  });
  return html`
    <figure class="chart card">
      <figcaption><strong>${label}</strong><small class="faint">${texts.upTo} ${format(
        most,
      )}</small></figcaption>
      <svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"
        aria-label="${label}: ${lasts.map((each) => each.join(" ")).join(", ")}">
          ${series.map(({ points }, index) =>
            html`<polyline class="series-${index % 3}" points=${points.map(place).join(" ")} />`
          )}</svg>
      <ul class="legend">${lasts.map(([name, last], index) =>
        html`<li class="series-${index % 3}">${name} <strong>${last}</strong></li>`
      )}</ul>
    </figure>
  `;
}
