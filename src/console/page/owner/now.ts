/** Now: what waits for the owner, what runs, and what was called last. */
import { useEffect, useState } from "preact/hooks";
import type { HistoryValue, RunningValue, WaitingValue } from "../../../api_values.ts";
import { run } from "../kit/client.ts";
import { Form, parseValue, recordOf, type Values } from "../kit/form.ts";
import { Button, Do, Pager, stateOf } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { headingOf, type Row, Split } from "../kit/split.ts";
import { now, sinceOf, spanText } from "../kit/time.ts";
import {
  failureOf,
  html,
  lineOf,
  linesOf,
  membersOf,
  nameOf,
  proseOf,
  uriOf,
  type View,
} from "../kit/words.ts";
import { texts } from "../texts.ts";
import { calls, history, waiting } from "./computer.ts";
import { RecordDetail, recordRow } from "./history.ts";

const T = texts.now;
/** The last calls that are shown here. */
const MAX_RECENT = 30;

type Call = WaitingValue | RunningValue;
type Entry = Call | HistoryValue;

export function Now(): View {
  const keyOf = (entry: Entry) => "outcome" in entry ? entry.call : entry.id;
  // A call that waits for the owner runs, too, but is no news here.
  const running = (calls.value?.running ?? []).filter(({ id, awaits }) =>
    awaits !== "confirmer" && waiting.value.every((each) => each.id !== id)
  );
  const recent = history.value.slice(-MAX_RECENT).reverse();
  const calm = html`
    <div class="empty">
      <p><strong>${T.calmTitle}</strong></p>
      <p>${T.calm}</p>
    </div>
  `;
  const none = calls.value ? T.nothingWaits : texts.loading;
  return html`<${Split} path=${["now"]} first=${waiting.value[0] ?? null} otherwise=${calm} lists=${[
    { title: T.waiting, items: waiting.value, none, row: callRow, keyOf },
    { title: T.running, items: running, row: callRow, keyOf },
    { title: T.recent, items: recent, none: texts.history.none, row: recordRow, keyOf },
  ]} detail=${(entry: Entry) => html`<${detailOf(entry)} key=${keyOf(entry)} entry=${entry} />`} />`;
}

function detailOf(entry: Entry): (props: { entry: never }) => View {
  if ("outcome" in entry) return RecordDetail;
  if (!("kind" in entry)) return RunningDetail;
  return entry.kind === "call" ? Approval : Asking;
}

function callRow(call: Call): Row {
  const asks = "kind" in call && call.kind === "question";
  return [
    nameOf(call.name),
    html`${nameOf(call.server)} · ${asks ? T.asks : callerOf(call)}`,
    "kind" in call
      ? html`<${TimeLeft} call=${call} />`
      : html`<span class="left"><small>${sinceOf(call.since)}</small>${progressOf(call)}</span>`,
  ];
}

function progressOf({ progress: { progress, total } = { progress: 0 } }: RunningValue): View {
  return html`<progress aria-label=${T.progress} max=${total ?? 1} value=${total && progress}></progress>`;
}

function TimeLeft({ call: { since, ends_at } }: { call: WaitingValue }): View {
  if (ends_at === undefined) return html`<small class="faint">${sinceOf(since)}</small>`;
  const endsAt = Date.parse(ends_at);
  const leftMs = Math.max(0, endsAt - now.value);
  return html`<span class="left ${leftMs < 15_000 ? "hot" : ""}"><small>${T.left(spanText(leftMs))}</small>
    <progress aria-hidden="true" max=${endsAt - Date.parse(since)} value=${leftMs}></progress></span>`;
}

/** The Agent as the Server knows it, then what the request says. */
function callerOf(call: Call): View {
  const { agent, client, is_local } = call;
  if (is_local) return T.you;
  const claimed = "claimed_agent" in call && call.claimed_agent !== agent ? call.claimed_agent : "";
  const says = client === undefined ? T.callsItself : T.forAsItSays;
  const name = client ?? claimed;
  return html`<span>${agent === undefined ? T.unknownAgent : [T.agent, " ", nameOf(agent)]}${
    name !== "" && html`<span>, ${says} ${nameOf(name)}</span>`
  }</span>`;
}

/** Who does what with which tool. */
function whoOf(call: Call, does: string): View {
  return html`<span>${callerOf(call)} ${does} <strong>${nameOf(call.tool)}</strong> ${T.of}
    ${" "}<strong>${nameOf(call.server)}</strong></span>`;
}

/** How long buttons wait for a person to see that another call has come under the pointer, in milliseconds. */
const ARMING_MS = 450;

function Approval({ entry: call }: { entry: WaitingValue }): View {
  const [isRead, setRead] = useState(false);
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), ARMING_MS);
    return () => clearTimeout(timer);
  }, []);
  const { id, title, name, digest: shown, annotations = {}, description = "" } = call;
  const decide = (path: string, options: Values = {}) => () => run(path, { arguments: [id], options });
  const isOff = !isRead || !isArmed;
  const about = html`${whoOf(call, T.wantsToRun)}<${TimeLeft} call=${call} />`;
  return html`
    ${headingOf(title ? lineOf(title, 120) : nameOf(name), about)}
    ${hintsOf(annotations)}${call.must_ask && html`<p class="faint">${T.mustAsk}</p>`}${changesOf(call)}
    <h3>${T.arguments}</h3>
    <${Arguments} id=${id} onRead=${() => setRead(true)} />
    ${description !== "" && html`<h3>${T.description}</h3>${proseOf(description, 16_384)}`}
    <div class="actions bar">
      <${Button} kind="primary" keys="A" isOff=${isOff} onPress=${decide("calls/allow", { shown })}>
        ${T.allow}<//>
      ${call.has_always !== false && html`
        <${Button} isOff=${isOff} onPress=${decide("calls/allow", { shown, always: true })}>${T.always}<//>
      `}
      <${Button} kind="danger" keys="D" isOff=${!isArmed} onPress=${decide("calls/deny")}>${T.deny}<//>
    </div>
  `;
}

const HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = texts.hints;

/** What the MCP server says of its tool. */
export function hintsOf(annotations: Values): View {
  const told = Object.entries(HINTS).flatMap(([hint, says]) => says[String(annotations[hint])] ?? []);
  const badge = (text: string) =>
    html`<span class="badge ${text === texts.hints.destructiveHint.true ? "bad" : ""}">${text}</span>`;
  return told.length > 0 &&
    html`<p class="hints"><small class="faint">${texts.hintsAsItSays}</small>${told.map(badge)}</p>`;
}

export function changesOf({ changed, changes = [] }: Pick<WaitingValue, "changed" | "changes">): View {
  if (changed === undefined && changes.length === 0) return null;
  const removedOf = (text: string) => html`<del>${linesOf(text)}</del>`;
  const addedOf = (text: string) => html`<ins>${linesOf(text)}</ins>`;
  return html`<section class="card changes">
    <h3>${T.changed}${changed !== undefined && html`: ${lineOf(changed)}`}</h3>${
    changes.map(({ member, removed, added }) =>
      html`<div><strong>${nameOf(member)}</strong>${removed.map(removedOf)}${added.map(addedOf)}</div>`
    )
  }</section>`;
}

/** The arguments of a call, which can be allowed when the last page of them was shown. */
function Arguments({ id, onRead }: { id: string; onRead: () => void }): View {
  const [page, setPage] = useState(1);
  const { value, error } = useReading<{ page: number; pages: number; text: string }>("calls/show", {
    arguments: [id],
    options: { page },
  });
  useEffect(() => {
    if (value !== undefined && value.page >= value.pages) onRead();
  }, [value]);
  if (value === undefined) return failureOf(error);
  const { pages, text } = value;
  if (pages === 1) return membersOf(recordOf(parseValue(text)), T.arguments);
  return html`
    <${Pager} page=${page} pages=${pages} onPage=${setPage} />
    <div key=${page}>${linesOf(text, { first: 200_000 })}</div>
    <small class="faint">${T.readFirst}</small>
  `;
}

/** A question of an MCP server, or a sign-in that waits for the browser. */
export function Asking({ entry: asked }: { entry: WaitingValue }): View {
  const { id, server, question = { mode: "form", message: "" } } = asked;
  const { mode, message, schema = {}, url = "", user_code, problems = [] } = question;
  const send = (content: Values) =>
    run("calls/answer", { arguments: [id], options: { content: JSON.stringify(content) } });
  const decline = html`<${Button} onPress=${() =>
    run("calls/decline", { arguments: [id] })}>${T.decline}<//>`;
  const form = mode === "form" ? { schema, submit: T.answer } : { schema: T.pasteSchema, submit: T.paste };
  const about = html`${whoOf(asked, T.calls)}<${TimeLeft} call=${asked} />`;
  return html`
    ${headingOf([T.serverAsks, " ", nameOf(server)], about)}
    ${proseOf(message, 16_384)}${problems.map(failureOf)}
    ${mode !== "form" && html`
      <p>${uriOf(url)}</p>
      <p><a class="button primary" href=${/^https?:/.test(url) ? url : undefined} target="_blank"
              rel="noopener noreferrer">${T.openPage}</a></p>
    `}
    ${user_code !== undefined && html`<p>${T.code} <strong class="code">${nameOf(user_code)}</strong></p>`}
    ${mode === "url"
      ? html`
        <div class="actions">
          <${Button} onPress=${() => send({})}>${T.done}<//>${decline}</div>
      `
      : html`<${Form} ...${form} onSubmit=${send}>${decline}<//>`}
  `;
}

function RunningDetail({ entry: call }: { entry: RunningValue }): View {
  const { progress: { progress, total, message } = { progress: 0 }, cancelled = false, awaits } = call;
  return html`
    ${headingOf(nameOf(call.name), whoOf(call, T.runs))}${progressOf(call)}
    <p class="faint">${stateOf("busy", cancelled ? T.cancelling : T.awaits[awaits ?? "nobody"])}
      ${" "}${sinceOf(call.since)}${total !== undefined &&
        ` · ${progress} / ${total}`}${message !== undefined && html`<span> · ${lineOf(message)}</span>`}</p>
    <div class="actions bar">
      <${Do} kind="danger" keys="C" path="calls/cancel" of=${[call.id]} name=${call.tool} />
    </div>
  `;
}
