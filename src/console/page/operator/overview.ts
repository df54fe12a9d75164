/** Overview: whether the Server is ready, who is there, and what the last 15 minutes were like. */
import { signal } from "@preact/signals";
import type { OverviewValue, RateValue } from "../../../api_values.ts";
import { Chart } from "../kit/chart.ts";
import { connection } from "../kit/client.ts";
import { Ask } from "../kit/form.ts";
import { factsOf, stateOf, Table } from "../kit/parts.ts";
import { durationText, sizeText, spanText } from "../kit/time.ts";
import { html, lineOf, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.operator.overview;
/** What the Server tells of itself; the page reads it. */
export const overview = signal<OverviewValue | undefined>(undefined);

export function readyState({ ready }: OverviewValue): View {
  if (connection.value === "lost") return stateOf("bad", texts.head.notConnected);
  return stateOf(ready ? "good" : "bad", ready ? T.ready : T.notReady);
}

export function Overview(): View {
  const { value } = overview;
  if (value === undefined) return null;
  const { unready, refused_files, members, offices, uptime_s, options, shared } = value;
  const { rss, message_bytes, max_message_bytes } = value.memory;
  const bar = html`<progress aria-label=${T.messages} max=${max_message_bytes} value=${message_bytes} />`;
  return html`
    <div class="scroll">
      <div class="who">
        <h2 class="heading">${readyState(value)}</h2>
        ${unready !== null && lineOf(unready)}
        <div class="grow"></div>
        <${Ask} kind="danger" title=${T.drainTitle} about=${T.drainAbout} path="drain" />
      </div>
      ${refused_files.map((problem) => html`<p class="hint">${T.refusedFile} ${lineOf(problem)}</p>`)}
      ${shared && html`<p class="hint">${T.oneOfSeveral}</p>`}
      ${factsOf([
        [T.up, spanText(uptime_s * 1_000)],
        [texts.operator.offices.parts.members, T.counts(members)],
        [texts.operator.offices.title, html`<a href="#/offices">${offices.toLocaleString("en")}</a>`],
        [T.outside, members["none"] || null],
        [texts.memory, sizeText(rss)],
        [
          T.messages,
          html`<span class="stack">${
            T.of(sizeText(message_bytes), sizeText(max_message_bytes))
          }${bar}</span>`,
        ],
      ])}
      <h3>${T.last15m}</h3>${ratesOf(value.last15m)}
      <h3>${T.options}</h3>
      <${Table} isStacked label=${T.options} head=${T.optionHead} empty=${T.noOptions}
        rows=${options.map(optionRow)} />
    </div>
  `;
}

function optionRow({ name, value, default: usual }: OverviewValue["options"][number]): readonly unknown[] {
  return [name, [html`<code>${name}</code>`, lineOf(value), usual ?? texts.noValue]];
}

function ratesOf(samples: readonly RateValue[]): View {
  const series = (name: string, valueOf: (sample: RateValue) => number | undefined) => {
    const points = samples.map((sample) => ({ at: sample.at, value: valueOf(sample) }));
    return { name, points: points.filter(({ value }) => value !== undefined) };
  };
  const counted = (countsOf: (sample: RateValue) => RateValue["refusals"]) => {
    const names = [...new Set(samples.flatMap((sample) => Object.keys(countsOf(sample))))].sort();
    return names.map((name) => series(name, (sample) => countsOf(sample)[name] ?? 0));
  };
  const chartOf = (label: string, { counts, none }: { counts: ReturnType<typeof counted>; none: string }) =>
    counts.length === 0
      ? html`<p class="faint">${none}</p>`
      : html`<${Chart} label=${label} series=${counts} />`;
  const latencies = [series("p50", ({ p50_ms }) => p50_ms), series("p95", ({ p95_ms }) => p95_ms)];
  if (samples.length < 2) return html`<p class="faint">${T.counting}</p>`;
  return html`
    <div class="windows">
      <${Chart} label=${T.calls} series=${[series(T.answered, ({ calls_per_s }) => calls_per_s)]} />
      <${Chart} label=${T.latency} format=${durationText} series=${latencies} />
      ${chartOf(T.errors, { counts: counted(({ errors }) => errors), none: T.noErrors })}
      ${chartOf(T.refusals, { counts: counted(({ refusals }) => refusals), none: T.noRefusals })}
    </div>
  `;
}
