/** Overview: whether the Server is ready, who is there, and what the last 15 minutes were like. */
import { useState } from "preact/hooks";
import { Chart } from "../kit/chart.ts";
import { act } from "../kit/client.ts";
import { html } from "../kit/html.ts";
import { Button, Dialog, Facts, Failure, say, State } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { durationText, sizeText, spanText } from "../kit/time.ts";
import { Line, Name, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { type Overview as Values, type RateSample, Table, useEvery } from "./server.ts";

const T = texts.operator.overview;
/** How often the figures are read, in milliseconds. */
const INTERVAL_MS = 5_000;

export function Overview(): View {
  const { value, error, again } = useReading<Values>("overview", { on: ["audit"] });
  const [isDraining, setDraining] = useState(false);
  useEvery(INTERVAL_MS, again);
  if (value === undefined) {
    return html`
      <div class="scroll">
        <${Failure} text=${error} />
      </div>
    `;
  }
  const { ready, unready, members, offices, uptime_s, memory, options, shared } = value;
  return html`
    <div class="scroll">
      <div class="who">
        <h2 class="heading">
          <${State} kind=${ready ? "good" : "bad"}>${ready
            ? texts.operator.ready
            : texts.operator.notReady}<//></h2>
          ${unready !== null && html`<${Line} text=${unready} />`}
          <div class="grow"></div>
          <${Button} kind="danger" onPress=${() => setDraining(true)}>${T.drain}<//></div>
      <${Failure} text=${error} />
      ${shared && html`<p class="hint">${texts.operator.oneOfSeveral}</p>`}
      <${Facts} rows=${[
        [T.up, spanText(uptime_s * 1_000)],
        [T.members, T.counts(members)],
        [T.offices, html`<a href="#/offices">${offices.toLocaleString("en")}</a>`],
        [T.outside, members["none"] ? T.connections(members["none"]) : null],
        [T.memory, sizeText(memory.rss)],
        [
          T.messages,
          html`<span class="stack">${
            T.of(sizeText(memory.message_bytes), sizeText(memory.max_message_bytes))
          }<progress aria-label=${T.messages} max=${memory.max_message_bytes} value=${memory.message_bytes} /></span>`,
        ],
      ]} />
      <${Rates} samples=${value.last15m} />
      <h3>${T.options}</h3>
      <${Table} label=${T.options} head=${T.optionHead} empty=${T.noOptions}
        rows=${options.map(({ name, value, default: usual }) => [
          name,
          [html`<code>${name}</code>`, html`<${Name} text=${value} />`, usual ?? texts.noValue],
        ])} />
      ${isDraining && html`<${Drain} onClose=${() => setDraining(false)} />`}
    </div>
  `;
}

function Rates({ samples }: { samples: readonly RateSample[] }): View {
  const series = (name: string, valueOf: (sample: RateSample) => number | undefined) => ({
    name,
    points: samples.flatMap((sample) => {
      const value = valueOf(sample);
      return value === undefined ? [] : [{ at: sample.at, value }];
    }),
  });
  const reasons = [...new Set(samples.flatMap(({ refusals }) => Object.keys(refusals)))].sort();
  return html`
    <h3>${T.last15m}</h3>
    ${samples.length < 2 && html`<p class="faint calm">${T.counting}</p>`}
    <div class="windows">
      <${Chart} label=${T.calls} series=${[series(T.answered, ({ calls_per_s }) => calls_per_s)]}
        format=${(value: number) => value.toLocaleString("en", { maximumFractionDigits: 1 })} />
      <${Chart} label=${T.latency} format=${durationText}
        series=${[series("p50", ({ p50_ms }) => p50_ms), series("p95", ({ p95_ms }) => p95_ms)]} />
      ${reasons.length === 0
        ? html`<div class="card"><strong>${T.refusals}</strong><p class="faint">${T.noRefusals}</p></div>`
        : html`<${Chart} label=${T.refusals} series=${
          reasons.map((reason) => series(reason, ({ refusals }) => refusals[reason] ?? 0))
        } />`}
    </div>
  `;
}

function Drain({ onClose }: { onClose: () => void }): View {
  const drain = async () => {
    await act("drain");
    say(T.draining);
    onClose();
  };
  return html`
    <${Dialog} title=${T.drainTitle} onClose=${onClose}>
      <p>${T.drainAbout}</p>
      <div class="actions">
        <${Button} kind="danger" onPress=${drain}>${T.drain}<//></div>
    <//>
  `;
}
