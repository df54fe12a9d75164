/** History: the calls of tools, with their arguments masked, and what Agents have read. */
import { useMemo } from "preact/hooks";
import type { EndedCallValue, HistoryValue, ReadValue } from "../../../api_values.ts";
import { parseValue } from "../kit/form.ts";
import { factsOf, stateOf } from "../kit/parts.ts";
import { headingOf, type Row, Split } from "../kit/split.ts";
import { durationText, momentOf } from "../kit/time.ts";
import { html, lineOf, linesOf, nameOf, nameText, uriOf, type View } from "../kit/words.ts";
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

function outcomeOf(record: HistoryValue): View {
  const { outcome } = record;
  const isRead = record.kind === "read";
  if (isRead && outcome === "ok") return html`<small>${T.reads(record.reads)}</small>`;
  const isOff = ["cancelled", "declined", "refused"].includes(outcome);
  const kind = outcome === "ok" ? "good" : isOff ? "off" : "bad";
  const count = isRead ? record.reads : record.calls;
  const more = outcome === "refused" ? T.times(count) : !isRead && record.error_code;
  return stateOf(kind, html`<small>${outcome} ${more}</small>`);
}

function whatOf(record: HistoryValue): View {
  if (record.kind === "call") return nameOf(record.tool);
  const { read, query } = record;
  return query === undefined ? uriOf(read) : html`${uriOf(read)}: ${lineOf(query)}`;
}

/** Whether it was a call that ran, and not one of the records that stand for several calls or reads. */
function isRun(record: HistoryValue): record is EndedCallValue {
  return record.kind === "call" && record.outcome !== "refused";
}

/** When, and how long: of several calls or reads the last time, and since the first. */
function timesOf(record: HistoryValue): { readonly at: string; readonly ms: number; readonly first: string } {
  const first = record.kind === "call" ? record.started_at : record.first_at;
  if (isRun(record)) return { at: first, ms: record.duration_ms, first };
  const { last_at: at } = record;
  return { at, ms: Date.parse(at) - Date.parse(first), first };
}

export function recordRow(record: HistoryValue): Row {
  const { at, ms } = timesOf(record);
  const duration = isRun(record) ? [" · ", durationText(ms)] : [];
  const server = record.server === null ? [] : [" · ", nameOf(record.server)];
  return [whatOf(record), [momentOf(at), ...duration, ...server], outcomeOf(record)];
}

export function RecordDetail({ entry: record }: { entry: HistoryValue }): View {
  const { at, ms, first } = timesOf(record);
  const hasRun = isRun(record);
  return html`
    ${headingOf(whatOf(record), outcomeOf(record))}
    ${factsOf([
      [hasRun ? T.when : T.lastTime, momentOf(at)],
      [T.firstTime, !hasRun && ms > 0 && momentOf(first)],
      [T.duration, hasRun && durationText(ms)],
      [T.server, nameOf(record.server)],
      [texts.now.agent, record.agent === null ? texts.now.you : nameOf(record.agent)],
      [T.client, nameOf(record.client)],
    ])}
    ${record.kind === "call" ? argumentsOf(record) : documentsOf(record)}
  `;
}

function argumentsOf({ tool, arguments: given, is_cut }: EndedCallValue): View {
  return html`
    <h3>${T.arguments}${is_cut && `: ${T.cut}`}</h3>
    ${linesOf(is_cut ? given : JSON.stringify(parseValue(given), null, 2), { of: nameText(tool) })}
  `;
}

function documentsOf({ documents, more_documents: more }: ReadValue): View {
  return documents.length > 0 && html`
    <h3>${T.documents}</h3>
    <ul>${documents.map((uri) => html`<li key=${uri}>${uriOf(uri)}</li>`)}</ul>
    ${more > 0 && html`<p>${T.more(more)}</p>`}
  `;
}
