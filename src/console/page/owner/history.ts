/** History: the calls of tools, with their arguments masked. */
import { useMemo, useState } from "preact/hooks";
import type { HistoryValue } from "../../../api_values.ts";
import { inputOf, parseValue } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Facts, nameOf, State } from "../kit/parts.ts";
import { Heading, type Row, Split } from "../kit/split.ts";
import { durationText, Moment } from "../kit/time.ts";
import { Lines, Name, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { history } from "./computer.ts";

const T = texts.history;

export function History(): View {
  const [outcome, setOutcome] = useState("");
  const items = useMemo(
    () => history.value.filter((record) => outcome === "" || record.outcome === outcome).reverse(),
    [history.value, outcome],
  );
  const outcomes = [...new Set(history.value.map((record) => record.outcome))];
  return html`
    <${Split} path=${["history"]} search=${texts.filter} file="a2c-history.jsonl"
      tools=${html`<select aria-label=${T.outcome} value=${outcome} onChange=${inputOf(setOutcome)}>
      <option value="">${T.anyOutcome}</option>${
        outcomes.map((each) => html`<option value=${each}>${each}</option>`)
      }</select>`}
      lists=${[{
        title: T.title,
        items,
        none: T.none,
        row: recordRow,
        keyOf: ({ id }: HistoryValue) => `${id}`,
      }]}
      detail=${(record: HistoryValue) => html`<${RecordDetail} key=${record.id} entry=${record} />`} />
  `;
}

function outcomeOf({ outcome, error_code }: HistoryValue): View {
  const kind = outcome === "ok" ? "good" : ["cancelled", "declined"].includes(outcome) ? "off" : "bad";
  return html`<${State} kind=${kind}><small>${outcome} ${error_code}</small><//>`;
}

export function recordRow(record: HistoryValue): Row {
  const { started_at, tool, server, duration_ms } = record;
  return [
    html`<${Name} text=${tool} />`,
    html`<${Moment} at=${started_at} /> · ${durationText(duration_ms)} · ${nameOf(server)}`,
    outcomeOf(record),
  ];
}

export function RecordDetail({ entry: record }: { entry: HistoryValue }): View {
  const { started_at, tool, server, agent, client, duration_ms, arguments: given, is_cut } = record;
  return html`
    <${Heading} about=${outcomeOf(record)}>
      <${Name} text=${tool} />
      <//>
      <${Facts} rows=${[
        [T.when, html`<${Moment} at=${started_at} />`],
        [T.duration, durationText(duration_ms)],
        [T.server, nameOf(server)],
        [T.agent, agent === null ? texts.now.you : nameOf(agent)],
        [T.client, nameOf(client)],
      ]} />
      <h3>${T.arguments}${is_cut && `: ${T.cut}`}</h3>
      <${Lines} text=${is_cut ? given : JSON.stringify(parseValue(given), null, 2)} of=${nameText(tool)} />
  `;
}
