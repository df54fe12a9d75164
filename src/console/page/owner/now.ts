/** Now: what waits for the owner, what runs, and what was called last. */
import { html } from "../kit/html.ts";
import { useEffect, useState } from "preact/hooks";
import { act, read } from "../kit/client.ts";
import { Form } from "../kit/form.ts";
import { Listbox } from "../kit/listbox.ts";
import { Button, Empty, Failure, focusDetail, goTo, Heading, say, Split, State } from "../kit/parts.ts";
import { route } from "../kit/route.ts";
import { now, Since, sizeText, spanText } from "../kit/time.ts";
import { Line, Lines, Members, Name, nameText, Prose, Uri, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import {
  answeredHere,
  history,
  type HistoryRecord,
  isKnown,
  type Running,
  running,
  type Waiting,
  waiting,
} from "./computer.ts";
import { RECORD_HEIGHT, RecordDetail, RecordRow } from "./history.ts";

const T = texts.now;
/** The last calls that are shown here. */
const MAX_RECENT = 30;

export function Now(): View {
  const chosenId = route.value[1];
  const chosen = waiting.value.find(({ id }) => id === chosenId) ??
    running.value.find(({ id }) => id === chosenId) ??
    history.value.find((record) => keyOf(record) === chosenId) ?? waiting.value[0];
  const choose = (id: string) => goTo(["now", id], { isStep: false });
  const recent = history.value.slice(-MAX_RECENT).reverse();
  // A call that waits for the owner runs, too, but is no news here.
  const calls = running.value.filter(({ id, awaits }) =>
    awaits !== "confirmer" && waiting.value.every((each) => each.id !== id)
  );
  const shared = { chosen: chosen && keyOf(chosen), onChoose: choose, onOpen: focusDetail, keyOf };
  return html`
    <${Split} back=${chosenId === undefined ? undefined : ["now"]}
      list=${html`
        <h2>${T.waiting} <span class="count ${waiting.value.length > 0 ? "hot" : ""}">${waiting.value
          .length}</span></h2>
        ${waiting.value.length === 0
          ? html`<p class="faint calm">${isKnown.value ? T.nothingWaits : texts.loading}</p>`
          : html`<${Listbox} ...${shared} label=${T.waiting} items=${waiting.value} rowHeight=${56} row=${(
            item: Waiting,
          ) => html`<${WaitingRow} item=${item} />`} />`}
        ${calls.length > 0 && html`
          <h2>${T.running} <span class="count">${calls.length}</span></h2>
          <${Listbox} ...${shared} label=${T.running} items=${calls} rowHeight=${56} row=${(
            item: Running,
          ) => html`<${RunningRow} item=${item} />`} />
        `}
        <h2>${T.recent}</h2>
        ${recent.length === 0 ? html`<p class="faint calm">${texts.history.none}</p>` : html`
          <${Listbox} ...${shared} label=${T.recent} items=${recent}
            rowHeight=${RECORD_HEIGHT} row=${(record: HistoryRecord) =>
              html`<${RecordRow} record=${record} />`} />
        `}
      `}
      detail=${html`<${Chosen} key=${chosen && keyOf(chosen)} entry=${chosen} />`} />
  `;
}

function keyOf(entry: Waiting | Running | HistoryRecord): string {
  return "outcome" in entry ? entry.call : entry.id;
}

function Chosen({ entry }: { entry: Waiting | Running | HistoryRecord | undefined }): View {
  if (entry === undefined) {
    return html`
      <${Empty} title=${T.calmTitle}>
        <p>${T.calm}</p>
        <//>
    `;
  }
  if ("outcome" in entry) return html`<${RecordDetail} record=${entry} />`;
  if (!("kind" in entry)) return html`<${RunningDetail} call=${entry} />`;
  return entry.kind === "call"
    ? html`<${Approval} call=${entry} />` as View
    : html`<${Asking} asked=${entry} />`;
}

function WaitingRow({ item }: { item: Waiting }): View {
  return html`
    <span class="stack grow">
      <strong><${Name} text=${item.name} /></strong>
      <small class="faint"><${Name} text=${item.server} /> · ${item.kind === "question"
        ? T.asks
        : html`<${Caller} call=${item} />`}</small>
    </span>
    <${TimeLeft} call=${item} />
  `;
}

function TimeLeft({ call: { since, ends_at } }: { call: Waiting }): View {
  if (ends_at === undefined) return html`<small class="faint"><${Since} at=${since} /></small>`;
  const endsAt = Date.parse(ends_at);
  const leftMs = endsAt - now.value;
  return html`<span class="left ${leftMs < 15_000 ? "hot" : ""}"><small>${T.left(spanText(leftMs))}</small>
    <progress aria-hidden="true" max=${endsAt - Date.parse(since)} value=${
    Math.max(0, leftMs)
  }></progress></span>`;
}

/** The Agent as the Server knows it, then what the request says. */
function Caller({ call }: { call: Waiting | Running }): View {
  const { agent, client, is_local } = call;
  if (is_local) return T.you;
  const claimed = "claimed_agent" in call ? call.claimed_agent : "";
  const says = client !== undefined
    ? T.forAsItSays
    : claimed === "" || claimed === agent
    ? undefined
    : T.callsItself;
  return html`<span>${agent === undefined ? T.unknownAgent : html`${T.agent} <${Name} text=${agent} />`}${
    says !== undefined && html`<span>, ${says} <${Name} text=${client ?? claimed} /></span>`
  }</span>`;
}

/** How long buttons wait for a person to see that another call has come under the pointer, in milliseconds. */
const ARMING_MS = 450;

function Approval({ call }: { call: Waiting }): View {
  const [isRead, setRead] = useState(call.arguments !== undefined);
  const [isArmed, setArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(true), ARMING_MS);
    return () => clearTimeout(timer);
  }, []);
  const decide = async (path: string, options: Record<string, unknown>, done: string) => {
    if (!isArmed) return;
    answeredHere.add(call.id);
    await act(path, { arguments: [call.id], options }).catch((error) => {
      answeredHere.delete(call.id);
      throw error;
    });
    say(done);
    focusDetail();
  };
  const isOff = !isRead || !isArmed;
  return html`
    <${Heading}>${call.title
      ? html`<${Line} text=${call.title} max=${120} />`
      : html`<${Name} text=${call.name} />`}<//>
    <p class="who"><span><${Caller} call=${call} /> ${T.wantsToRun} <strong><${Name} text=${call
      .tool} /></strong> ${T.of} <strong><${Name} text=${call.server} /></strong></span>
      <${TimeLeft} call=${call} /></p>
    <${Hints} annotations=${call.annotations ?? {}} />
    ${call.must_ask === true && html`<p class="faint">${T.mustAsk}</p>`}
    <${Changes} changed=${call.changed} changes=${call.changes ?? []} />
    <h3>${T.arguments}</h3>
    ${call.arguments === undefined
      ? html`<${ArgumentPages} call=${call} onRead=${() => setRead(true)} />`
      : html`<${Members} label=${T.arguments} value=${call.arguments} />`}
    ${call.description !== undefined && call.description !== "" &&
      html`
        <h3>${T.description}</h3>
        <${Prose} text=${call.description} />
      `}
    <div class="actions bar">
      <${Button} kind="primary" keys="A" isOff=${isOff} onPress=${() =>
        decide("calls/allow", { shown: call.digest }, T.allowed(nameText(call.tool)))}>${T.allow}<//>
      ${call.has_always !== false &&
        html`<${Button} isOff=${isOff} onPress=${() =>
          decide(
            "calls/allow",
            { shown: call.digest, always: true },
            T.allowedAlways(nameText(call.tool)),
          )}>${T.always}<//>`}
      <${Button} kind="danger" keys="D" isOff=${!isArmed} onPress=${() =>
        decide("calls/deny", {}, T.denied(nameText(call.tool)))}>${T.deny}<//>
      ${!isRead && html`<small class="faint">${T.readFirst}</small>`}
    </div>
  `;
}

const HINTS: Readonly<Record<string, Readonly<Record<string, string>>>> = texts.hints;

/** What the MCP server says of its tool. */
export function Hints({ annotations }: { annotations: Readonly<Record<string, unknown>> }): View {
  const told = Object.entries(HINTS).flatMap(([hint, says]) => {
    const text = says[String(annotations[hint])];
    return text === undefined ? [] : [[hint, text] as const];
  });
  if (told.length === 0) return null;
  return html`<p class="hints"><small class="faint">${texts.hintsAsItSays}</small> ${
    told.map(([hint, text]) =>
      html`<span key=${hint} class="badge ${
        hint === "destructiveHint" && annotations[hint] === true ? "bad" : ""
      }">${text}</span>`
    )
  }</p>`;
}

export function Changes(
  { changed, changes }: Pick<Waiting, "changed"> & { changes: NonNullable<Waiting["changes"]> },
): View {
  if (changed === undefined && changes.length === 0) return null;
  return html`<section class="changes"><h3>${T.changed}${
    changed !== undefined && html`: <${Line} text=${changed} />`
  }</h3>
    ${
    changes.map(({ member, removed, added }) =>
      html`<div key=${member}><strong><${Name} text=${member} /></strong>
      ${
        removed.map((text) =>
          html`
            <del>
              <${Lines} text=${text} />
            </del>
          `
        )
      }${
        added.map((text) =>
          html`
            <ins>
              <${Lines} text=${text} />
            </ins>
          `
        )
      }</div>`
    )
  }</section>`;
}

/** Arguments that are too long for one page: a call can be allowed when its last page was shown. */
function ArgumentPages({ call, onRead }: { call: Waiting; onRead: () => void }): View {
  const [page, setPage] = useState(1);
  const [shown, setShown] = useState<{ page: number; pages: number; text: string }>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    read<{ page: number; pages: number; text: string }>("calls/show", {
      arguments: [call.id],
      options: { page },
    })
      .then((answer) => {
        setShown(answer);
        if (answer.page >= answer.pages) onRead();
      }, (cause) => setError(String(cause.message)));
  }, [page]);
  if (shown === undefined) return html`<${Failure} text=${error} />`;
  if (shown.pages === 1) return html`<${Members} label=${T.arguments} value=${JSON.parse(shown.text)} />`;
  return html`<p class="pager"><span>${T.page(shown.page, shown.pages)} · ${
    sizeText(call.arguments_bytes ?? 0)
  }</span>
      <${Button} isOff=${shown.page === 1} onPress=${() => setPage(shown.page - 1)}>${T.previousPage}<//>
      <${Button} isOff=${shown.page === shown.pages} onPress=${() =>
    setPage(shown.page + 1)}>${T.nextPage}<//></p>
    <${Lines} key=${shown.page} text=${shown.text} first=${200_000} />`;
}

/** A question of an MCP server, or a sign-in that waits for the browser. */
export function Asking({ asked }: { asked: Waiting }): View {
  const { mode = "form", message = "", schema = {}, url = "", user_code, problems = [] } = asked.question ??
    {};
  const send = async (path: string, options: Record<string, unknown> = {}) => {
    answeredHere.add(asked.id);
    await act(path, { arguments: [asked.id], options }).catch((error) => {
      answeredHere.delete(asked.id);
      throw error;
    });
    say(T.answered(nameText(asked.server)));
  };
  const answer = (content: Readonly<Record<string, unknown>>) =>
    send("calls/answer", { content: JSON.stringify(content) });
  const decline = html`<${Button} onPress=${() => send("calls/decline")}>${T.decline}<//>`;
  return html`
    <${Heading}>${T.serverAsks} <${Name} text=${asked.server} /><//>
    <p class="who"><span>${T.inACall} <strong><${Name} text=${asked
      .tool} /></strong> · <${Caller} call=${asked} /></span><${TimeLeft} call=${asked} /></p>
    <${Prose} text=${message} max=${16_384} />
    ${problems.map((problem) => html`<${Failure} text=${problem} />`)}
    ${mode !== "form" && html`
      <p class="page">
        <${Uri} text=${url} />
      </p>
      <p><a class="button primary" href=${/^https?:/.test(url)
        ? url
        : undefined} target="_blank" rel="noopener noreferrer">${T.openPage}</a></p>
    `}
    ${user_code !== undefined &&
      html`<p>${T.code} <strong class="code"><${Name} text=${user_code} /></strong></p>`}
    ${mode === "form" && html`<${Form} schema=${schema} submit=${T.answer} onSubmit=${answer}>${decline}<//>`}
    ${mode === "url" && html`
      <div class="actions">
        <${Button} onPress=${() => answer({})}>${T.done}<//>${decline}</div>
    `}
    ${mode === "sign-in" &&
      html`<${Form} schema=${T.pasteSchema} submit=${T.paste} onSubmit=${answer}>${decline}<//>`}
  `;
}

function RunningRow({ item }: { item: Running }): View {
  const { progress: { progress, total } = { progress: undefined } } = item;
  return html`
    <span class="stack grow"><strong><${Name} text=${item.name} /></strong>
          <small class="faint"><${Name} text=${item.server} /> · <${Caller} call=${item} /></small></span>
    <span class="left"><small><${Since} at=${item.since} /></small>
          <progress aria-hidden="true" max=${total ?? 1} value=${total === undefined
            ? undefined
            : progress}></progress></span>
  `;
}

function RunningDetail({ call }: { call: Running }): View {
  const { progress: { progress, total, message } = { progress: 0 } } = call;
  return html`
    <${Heading}>
      <${Name} text=${call.name} />
      <//>
      <p
        class="who"><span><${Caller} call=${call} /> ${T.runs} <strong><${Name} text=${call
          .tool} /></strong> ${T.of} <strong><${Name} text=${call.server} /></strong></span></p>
      <progress class="wide" aria-label=${T.progress} max=${total ?? 1} value=${total === undefined
        ? undefined
        : progress}></progress>
      <p class="faint">
        <${State} kind="busy">${call.cancelled === true
          ? T.cancelling
          : call.awaits === undefined
          ? T.runsSince
          : T.awaits[call.awaits]}<//> <${Since} at=${call
          .since} />
      ${total !== undefined && ` · ${progress} / ${total}`}${message !== undefined &&
        html`<span>${" · "}<${Line} text=${message} /></span>`}</p>
    <div class="actions bar"><${Button} kind="danger" keys="C" onPress=${async () => {
      await act("calls/cancel", { arguments: [call.id] });
      say(T.cancelled(nameText(call.tool)));
    }}>${T.cancel}<//></div>
  `;
}
