/** Now: what waits for the owner, what runs, and what was called last. */
import { useEffect, useState } from "preact/hooks";
import type { HistoryValue, RunningValue, WaitingValue } from "../../../api_values.ts";
import { act } from "../kit/client.ts";
import { Form, parseValue, recordOf, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Button, Do, Empty, Failure, nameOf, Pager, State } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { Heading, type Row, Split } from "../kit/split.ts";
import { now, Since, spanText } from "../kit/time.ts";
import { Line, Lines, Members, Name, Prose, Uri, type View } from "../kit/words.ts";
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
    <${Empty}>
      <p><strong>${T.calmTitle}</strong></p>
      <p>${T.calm}</p>
      <//>
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
    html`<${Name} text=${call.name} />`,
    html`<${Name} text=${call.server} /> · ${asks ? T.asks : html`<${Caller} call=${call} />`}`,
    "kind" in call ? html`<${TimeLeft} call=${call} />` : html`
      <span class="left"><small><${Since} at=${call.since} /></small><${Progress} call=${call} /></span>
    `,
  ];
}

function Progress(
  { call: { progress: { progress, total } = { progress: 0 } } }: { call: RunningValue },
): View {
  return html`<progress aria-label=${T.progress} max=${total ?? 1} value=${total && progress}></progress>`;
}

function TimeLeft({ call: { since, ends_at } }: { call: WaitingValue }): View {
  if (ends_at === undefined) return html`<small class="faint"><${Since} at=${since} /></small>`;
  const endsAt = Date.parse(ends_at);
  const leftMs = Math.max(0, endsAt - now.value);
  return html`<span class="left ${leftMs < 15_000 ? "hot" : ""}"><small>${T.left(spanText(leftMs))}</small>
    <progress aria-hidden="true" max=${endsAt - Date.parse(since)} value=${leftMs}></progress></span>`;
}

/** The Agent as the Server knows it, then what the request says. */
function Caller({ call }: { call: Call }): View {
  const { agent, client, is_local } = call;
  if (is_local) return T.you;
  const claimed = "claimed_agent" in call && call.claimed_agent !== agent ? call.claimed_agent : "";
  const says = client === undefined ? T.callsItself : T.forAsItSays;
  const name = client ?? claimed;
  return html`<span>${agent === undefined ? T.unknownAgent : html`${T.agent} <${Name} text=${agent} />`}${
    name !== "" && html`<span>, ${says} <${Name} text=${name} /></span>`
  }</span>`;
}

/** Who does what with which tool. */
function Who({ call, does }: { call: Call; does: string }): View {
  return html`<span><${Caller} call=${call} /> ${does} <strong><${Name} text=${call.tool} /></strong> ${T.of}
    ${" "}<strong><${Name} text=${call.server} /></strong></span>`;
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
  const decide = (path: string, options: Values = {}) => () => act(path, { arguments: [id], options });
  const isOff = !isRead || !isArmed;
  return html`
    <${Heading} about=${html`
      <${Who} call=${call} does=${T.wantsToRun} />
      <${TimeLeft} call=${call} />
    `}>
      ${title ? html`<${Line} text=${title} max=${120} />` : html`<${Name} text=${name} />`}<//>
    <${Hints} annotations=${annotations} />
    ${call.must_ask && html`<p class="faint">${T.mustAsk}</p>`}
    <${Changes} tool=${call} />
    <h3>${T.arguments}</h3>
    <${Arguments} id=${id} onRead=${() => setRead(true)} />
    ${description !== "" && html`
      <h3>${T.description}</h3>
      <${Prose} text=${description} />
    `}
    <div class="actions bar">
      <${Button} kind="primary" keys="A" isOff=${isOff}
        onPress=${decide("calls/allow", { shown })}>${T.allow}<//>
      ${call.has_always !== false && html`
        <${Button} isOff=${isOff}
          onPress=${decide("calls/allow", { shown, always: true })}>${T
            .always}<//>
      `}
      <${Button} kind="danger" keys="D" isOff=${!isArmed}
        onPress=${decide("calls/deny")}>${T.deny}<//>
    </div>
  `;
}

const HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = texts.hints;

/** What the MCP server says of its tool. */
export function Hints({ annotations }: { annotations: Values }): View {
  const told = Object.entries(HINTS).flatMap(([hint, says]) => says[String(annotations[hint])] ?? []);
  return told.length > 0 &&
    html`<p class="hints"><small class="faint">${texts.hintsAsItSays}</small>${
      told.map((text) =>
        html`<span class="badge ${text === texts.hints.destructiveHint.true ? "bad" : ""}">${text}</span>`
      )
    }</p>`;
}

export function Changes(
  { tool: { changed, changes = [] } }: { tool: Pick<WaitingValue, "changed" | "changes"> },
): View {
  if (changed === undefined && changes.length === 0) return null;
  const lines = (text: string) => html`<${Lines} text=${text} />`;
  return html`<section class="card changes">
    <h3>${T.changed}${changed !== undefined && html`: <${Line} text=${changed} />`}</h3>
    ${
    changes.map(({ member, removed, added }) =>
      html`<div><strong><${Name} text=${member} /></strong>
        ${removed.map((text) => html`<del>${lines(text)}</del>`)}${
        added.map((text) => html`<ins>${lines(text)}</ins>`)
      }
      </div>`
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
  if (value === undefined) return html`<${Failure} text=${error} />`;
  const { pages, text } = value;
  if (pages === 1) return html`<${Members} label=${T.arguments} value=${recordOf(parseValue(text))} />`;
  return html`
    <${Pager} page=${page} pages=${pages} onPage=${setPage} />
    <${Lines} key=${page} text=${text} first=${200_000} />
    <small class="faint">${T.readFirst}</small>
  `;
}

/** A question of an MCP server, or a sign-in that waits for the browser. */
export function Asking({ entry: asked }: { entry: WaitingValue }): View {
  const { mode = "form", message = "", schema = {}, url = "", user_code, problems = [] } = asked.question ??
    {};
  const { id } = asked;
  const send = (content: Values) =>
    act("calls/answer", { arguments: [id], options: { content: JSON.stringify(content) } });
  const decline = html`<${Button} onPress=${() =>
    act("calls/decline", { arguments: [id] })}>${T.decline}<//>`;
  const form = mode === "form" ? { schema, submit: T.answer } : { schema: T.pasteSchema, submit: T.paste };
  return html`
    <${Heading} about=${html`
      <${Who} call=${asked} does=${T.calls} />
      <${TimeLeft} call=${asked} />
    `}>
      ${T.serverAsks} <${Name} text=${asked.server} /><//>
    <${Prose} text=${message} max=${16_384} />
    ${problems.map((problem) => html`<${Failure} text=${problem} />`)}
    ${mode !== "form" && html`
      <p>
        <${Uri} text=${url} />
      </p>
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
    <${Heading} about=${html`<${Who} call=${call} does=${T.runs} />`}>
      <${Name} text=${call.name} />
      <//>
      <${Progress} call=${call} />
      <p class="faint">
        <${State} kind="busy">${cancelled ? T.cancelling : T.awaits[awaits ?? "nobody"]}<//>
      ${" "}<${Since} at=${call.since} />${total !== undefined && ` · ${progress} / ${total}`}
      ${message !== undefined && html`<span> · <${Line} text=${message} /></span>`}</p>
    <div class="actions bar">
      <${Do} kind="danger" keys="C" label=${T.cancel} path="calls/cancel" of=${[call.id]} name=${call.tool} />
    </div>
  `;
}
