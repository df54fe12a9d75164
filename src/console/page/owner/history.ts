/** History: the calls of tools, with their arguments masked. */
import { html } from "../kit/html.ts";
import { useMemo, useState } from "preact/hooks";
import { Listbox } from "../kit/listbox.ts";
import { inputOf } from "../kit/form.ts";
import {
  Button,
  Empty,
  Facts,
  focusDetail,
  goTo,
  Heading,
  saveFile,
  Search,
  Split,
  State,
} from "../kit/parts.ts";
import { route } from "../kit/route.ts";
import { durationText, Moment } from "../kit/time.ts";
import { Lines, Name, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { history, type HistoryRecord } from "./computer.ts";

const T = texts.history;

export function History(): View {
  const [words, setWords] = useState("");
  const [outcome, setOutcome] = useState("");
  const shown = useMemo(() => {
    const wanted = words.toLowerCase().split(/\s+/);
    return history.value.filter((record) => {
      if (outcome !== "" && record.outcome !== outcome) return false;
      const { tool, server, agent, client, error_code, arguments: given } = record;
      const text = [tool, server, agent, client, record.outcome, error_code, given].join(" ")
        .toLowerCase();
      return wanted.every((word) => text.includes(word));
    }).reverse();
  }, [history.value, words, outcome]);
  const outcomes = [...new Set(history.value.map((record) => record.outcome))];
  const chosen = history.value.find(({ id }) => `${id}` === route.value[1]) ?? shown[0];
  const save = () =>
    saveFile("a2c-history.jsonl", shown.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return html`
    <${Split} back=${route.value[1] === undefined ? undefined : ["history"]}
      list=${html`
        <div class="tools">
          <${Search} label=${T.filter} value=${words} onInput=${setWords} />
          <select aria-label=${T.outcome} value=${outcome} onChange=${inputOf(setOutcome)}>
                  <option value="">${T.anyOutcome}</option>${outcomes.map((each) =>
                    html`<option key=${each} value=${each}>${each}</option>`
                  )}</select>
          <${Button} label=${T.saveAs} onPress=${save}>${T.save}<//></div>
              <p class="faint calm">${T.count(shown.length, history.value.length)}</p>
              ${shown.length === 0
                ? html`<${Empty} title=${history.value.length === 0 ? T.none : T.noMatch} />`
                : html`
                  <${Listbox} label=${T.title} items=${shown} keyOf=${({ id }: HistoryRecord) => `${id}`}
                    chosen=${chosen && `${chosen.id}`} onChoose=${(id: string) =>
                      goTo(["history", id], { isStep: false })} onOpen=${focusDetail}
                    rowHeight=${RECORD_HEIGHT} row=${(record: HistoryRecord) =>
                      html`<${RecordRow} record=${record} />`} />
                `}
      `}
      detail=${chosen && html`<${RecordDetail} key=${chosen.id} record=${chosen} />`} />
  `;
}

function kindOf(outcome: string): "good" | "bad" | "off" {
  if (outcome === "ok") return "good";
  return outcome === "cancelled" ? "off" : "bad";
}

function outcomeText({ outcome, error_code }: HistoryRecord): string {
  return error_code === null ? outcome : `${outcome} ${error_code}`;
}

/** The height of a row of a call. */
export const RECORD_HEIGHT = 36;

export function RecordRow({ record }: { record: HistoryRecord }): View {
  const { started_at, tool, server, outcome, duration_ms } = record;
  return html`
    <small class="faint moment"><${Moment} at=${started_at} /></small>
    <span class="grow cut"><${Name} text=${tool} /> <small class="faint">${server !== null &&
      html`<${Name} text=${server} />`}</small></span>
    <small class="faint figure">${durationText(duration_ms)}</small>
    <${State} kind=${kindOf(outcome)}><small class="outcome">${outcomeText(record)}</small><//>
  `;
}

export function RecordDetail({ record }: { record: HistoryRecord }): View {
  const { started_at, tool, server, agent, client, outcome, duration_ms, arguments: given, is_cut } = record;
  return html`
    <${Heading}>
      <${Name} text=${tool} />
      <//>
      <p class="who">
        <${State} kind=${kindOf(outcome)}>${outcomeText(record)}<//></p>
        <${Facts} rows=${[
          [T.when, html`<${Moment} at=${started_at} />`],
          [T.duration, durationText(duration_ms)],
          [T.server, server !== null && html`<${Name} text=${server} />`],
          [T.agent, agent === null ? texts.now.you : html`<${Name} text=${agent} />`],
          [T.client, client !== null ? html`<${Name} text=${client} />` : null],
        ]} />
        <h3>${T.arguments}${is_cut && html`<span>: ${T.cut}</span>`}</h3>
    <${Lines} text=${indented(given)} of=${nameText(tool)} />
  `;
}

/** JSON with indents; a text that was cut as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
