/** History: the calls of tools, with their arguments masked, and what Agents have read. */
import { useMemo } from "preact/hooks";
import type { HistoryValue } from "../../../api_values.ts";
import { parseValue } from "../kit/form.ts";
import { factsOf, stateOf } from "../kit/parts.ts";
import { headingOf, type Row, Split } from "../kit/split.ts";
import { durationText, momentOf } from "../kit/time.ts";
import { html, linesOf, nameOf, nameText, uriOf, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { history } from "./computer.ts";

const T = texts.history;

export function History(): View {
  const items = useMemo(() => [...history.value].reverse(), [history.value]);
  const keyOf = ({ call }: HistoryValue) => call;
  return html`
    <${Split} path=${["history"]} search=${T.search} file="a2c-history.jsonl"
      lists=${[{ title: T.title, items, none: T.none, row: recordRow, keyOf }]}
      detail=${(record: HistoryValue) => html`<${RecordDetail} key=${record.call} entry=${record} />`} />
  `;
}

function outcomeOf({ outcome, error_code, reads }: HistoryValue): View {
  if (reads !== undefined) return html`<small>${T.reads(reads)}</small>`;
  const kind = outcome === "ok" ? "good" : ["cancelled", "declined"].includes(outcome) ? "off" : "bad";
  return stateOf(kind, html`<small>${outcome} ${error_code}</small>`);
}

function whatOf({ tool, read }: HistoryValue): View {
  return read === undefined ? nameOf(tool) : uriOf(read);
}

export function recordRow(record: HistoryValue): Row {
  const { started_at, server, duration_ms } = record;
  const about = html`${momentOf(started_at)} · ${durationText(duration_ms)} · ${nameOf(server)}`;
  return [whatOf(record), about, outcomeOf(record)];
}

export function RecordDetail({ entry: record }: { entry: HistoryValue }): View {
  const { started_at, tool, read, server, agent, client, duration_ms, arguments: given, is_cut } = record;
  return html`
    ${headingOf(whatOf(record), outcomeOf(record))}
    ${factsOf([
      [T.when, momentOf(started_at)],
      [T.duration, durationText(duration_ms)],
      [T.server, nameOf(server)],
      [texts.now.agent, agent === null ? texts.now.you : nameOf(agent)],
      [T.client, nameOf(client)],
    ])}
    ${read === undefined && html`
      <h3>${T.arguments}${is_cut && `: ${T.cut}`}</h3>
      ${linesOf(is_cut ? given : JSON.stringify(parseValue(given), null, 2), { of: nameText(tool) })}
    `}
  `;
}
