/** Offices: who is in each, how they are connected, and what they send. */
import { useEffect, useState } from "preact/hooks";
import { act, listen } from "../kit/client.ts";
import { inputOf } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Listbox } from "../kit/listbox.ts";
import {
  Button,
  Dialog,
  Empty,
  Failure,
  focusDetail,
  goTo,
  Heading,
  say,
  Search,
  Split,
  State,
  Tabs,
} from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { durationText, Moment, Since, sizeText } from "../kit/time.ts";
import { Line, Name, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { Table, useEvery } from "./server.ts";

const T = texts.operator.offices;
/** How often members are read although nothing happens, in milliseconds: what waits, and round trips. */
const INTERVAL_MS = 5_000;
/** How often the Server is asked for events: it tells them for a minute each time. */
const WATCH_MS = 30_000;
const MAX_EVENTS = 200;
/** The members that are shown at a time; the search finds the others. */
const MAX_MEMBERS = 200;
/** How often new events are drawn, in milliseconds. */
const DRAW_MS = 500;

interface Office {
  readonly office: string;
  readonly agent: string | null;
  readonly computers: number;
  readonly observers: number;
}

interface Member {
  readonly sid: string;
  readonly role: string;
  readonly is_observer: boolean;
  readonly name: string;
  readonly client?: string;
  readonly version?: string;
  readonly principal: string;
  readonly address: string;
  readonly transport: string;
  readonly since: string;
  readonly last_seen: string;
  readonly round_trip_ms?: number;
  readonly waits: { readonly bytes: number; readonly requests: number };
}

interface SeenEvent {
  readonly at: string;
  readonly office: string;
  readonly event: string;
  readonly from: string;
  readonly to: string | null;
  readonly ms: number;
  readonly bytes: number;
  readonly answer_bytes: number | null;
  readonly outcome: string;
  readonly code: number | null;
  readonly left_out: number;
  /** Counts all that arrived. */
  readonly number: number;
}

export function Offices(): View {
  const { value, error } = useReading<readonly Office[]>("offices", { on: ["audit"] });
  const offices = value ?? [];
  const chosen = route.value[1] ?? offices[0]?.office;
  return html`
    <${Split} back=${route.value[1] === undefined ? undefined : ["offices"]}
      list=${html`
        <h2>${T.title} <span class="count">${offices.length}</span></h2><${Failure} text=${error} />
        ${value !== undefined && offices.length === 0 &&
          html`
            <${Empty} title=${T.none}>
              <p>${T.noneAbout}</p>
              <//>
          `}
        <${Listbox} label=${T.title} items=${offices} keyOf=${({ office }: Office) => office} chosen=${chosen}
          rowHeight=${56} onOpen=${focusDetail}
          onChoose=${(office: string) => goTo(["offices", office], { isStep: false })}
          row=${(office: Office) => html`<${Row} office=${office} />`} />
      `}
      detail=${chosen !== undefined && html`<${OfficeDetail} key=${chosen} office=${chosen} />`} />
  `;
}

function Row({ office: { office, agent, computers, observers } }: { office: Office }): View {
  return html`
    <span class="stack grow"><strong><${Name} text=${office} /></strong>
      <small class="faint cut">${T.row(computers, observers)}</small></span>
    <small>${agent === null
      ? html`<span class="faint">${T.noAgent}</span>`
      : html`<${Name} text=${agent} />`}</small>
  `;
}

function OfficeDetail({ office }: { office: string }): View {
  const tab = route.value[2] === "events" ? "events" : "members";
  return html`
    <${Heading}><${Name} text=${office} /><//>
    <${Tabs} label=${T.tabs} path=${["offices", office]} chosen=${tab}
      tabs=${[["members", T.members], ["events", T.events]]} />
    ${tab === "events" ? html`<${Events} office=${office} />` : html`<${Members} office=${office} />`}
  `;
}

function Members({ office }: { office: string }): View {
  const { value, error, again } = useReading<readonly Member[]>("members", {
    arguments: [office],
    on: ["audit"],
  });
  const [words, setWords] = useState("");
  const [ending, setEnding] = useState<Member | undefined>(undefined);
  useEvery(INTERVAL_MS, again);
  if (error !== undefined) return html`<p class="faint">${T.left(nameText(office))}</p>`;
  if (value === undefined) return "";
  const wanted = words.toLowerCase();
  const shown = value.filter((member) =>
    JSON.stringify(Object.values(member)).toLowerCase().includes(wanted)
  );
  return html`
    <div class="tools">
      <${Search} label=${T.search} value=${words} onInput=${setWords} />
    </div>
    <p class="faint calm">${T.shown(Math.min(MAX_MEMBERS, shown.length), value.length)}</p>
    <${Table} label=${T.members} head=${T.head} empty=${T.noMatch}
      rows=${shown.slice(0, MAX_MEMBERS).map((member) => [
        member.sid,
        cellsOf(member, () => setEnding(member)),
      ])} />
    ${ending !== undefined && html`<${Ending} member=${ending} onClose=${() => setEnding(undefined)} />`}
  `;
}

function cellsOf(member: Member, end: () => void): readonly View[] {
  const { role, is_observer, name, client, version = "0.1", principal, address, transport } = member;
  const { since, last_seen, round_trip_ms, waits: { requests, bytes } } = member;
  const waiting = T.waits(requests, bytes === 0 ? undefined : sizeText(bytes));
  return [
    html`<strong><${Name} text=${name} /></strong>
      <small class="faint line">${
      is_observer ? texts.operator.observer : role
    }, ${T.protocol} ${version}</small>
      ${
      client !== undefined && html`<small class="faint line"><${Line} text=${client} max=${60} /></small>`
    }`,
    html`
      <span class="line"><${Name} text=${principal} /></span>
      <small class="faint line">${address}, ${transport}</small>
      <small class="faint line">${T.since} <${Since} at=${since} /></small>
    `,
    html`<span class="line"><${Since} at=${last_seen} /> ${T.ago}</span>
      ${
      round_trip_ms !== undefined &&
      html`<small class="faint line">${T.roundTrip} ${durationText(round_trip_ms)}</small>`
    }
      ${waiting !== "" && html`<small class="hint line">${T.waitsFor} ${waiting}</small>`}`,
    html`<${Button} kind="danger" label=${T.endOf(nameText(name))} onPress=${end}>${T.end}<//>`,
  ];
}

function Ending({ member, onClose }: { member: Member; onClose: () => void }): View {
  const { sid, name, principal } = member;
  const [reason, setReason] = useState("");
  const [isAll, setAll] = useState(false);
  const [mayReturn, setMayReturn] = useState(false);
  const end = async () => {
    const who = isAll ? { principal } : { member: sid };
    const options = { ...who, reason, "may-return": mayReturn };
    const { ended } = await act<{ ended: number }>("end", { options });
    say(T.ended(ended));
    onClose();
  };
  const choices = [[false, T.onlyThis], [true, T.allOf(nameText(principal))]] as const;
  return html`
    <${Dialog} title=${T.endOf(nameText(name))} onClose=${onClose}>
      <div class="form">
        <div class="form" role="radiogroup" aria-label=${T.endTitle}>${choices.map(([all, label]) =>
          html`<label class="check" key=${label}><input type="radio" name="scope" checked=${isAll === all}
            onChange=${() => setAll(all)} /> ${label}</label>`
        )}</div>
        <label class="field"><span>${T.reason}</span>
          <input maxlength="200" value=${reason} onInput=${inputOf(setReason)} /></label>
        <label class="check"><input type="checkbox" checked=${mayReturn}
          onChange=${inputOf(setMayReturn, "checked")} /> ${T.mayReturn}</label>
        <div class="actions">
          <${Button} kind="danger" isOff=${reason.trim() === ""} onPress=${end}>${T.end}<//></div>
      </div>
    <//>
  `;
}

/** What the members send, as the Server tells it while somebody looks. */
function Events({ office }: { office: string }): View {
  const [isHeld, setHeld] = useState(false);
  const [shown, setShown] = useState<readonly SeenEvent[]>([]);
  const [arrived] = useState<{ events: SeenEvent[]; count: number }>({ events: [], count: 0 });
  useEvery(WATCH_MS, () => void act("watch", { arguments: [office] }).catch(() => {}), office);
  useEffect(() =>
    listen(["relayed"], ({ seen }) => {
      const event = seen as SeenEvent | undefined;
      if (event?.office !== office) return;
      arrived.events.unshift({ ...event, number: arrived.count++ });
      arrived.events.length = Math.min(arrived.events.length, MAX_EVENTS);
    }), [office]);
  useEvery(DRAW_MS, () => {
    const { events, count } = arrived;
    if (!isHeld) setShown((last) => last[0]?.number === count - 1 || count === 0 ? last : [...events]);
  }, `${isHeld}`);
  return html`
    <div class="who">
      <p class="faint calm grow">${T.eventsAbout}</p>
      <${Button} onPress=${() => setHeld(!isHeld)}>${isHeld ? T.goOn : T.hold}<//></div>
    <${Table} label=${T.events} head=${T.eventHead} empty=${T.noEvents}
      rows=${shown.map((event) => [`${event.number}`, eventCells(event)])} />
  `;
}

function eventCells(event: SeenEvent): readonly View[] {
  const { at, event: name, from, to, ms, bytes, answer_bytes, outcome, code, left_out } = event;
  const isGood = outcome === "answered" || outcome === "handled";
  return [
    html`<span><${Moment} at=${at} />${
      left_out > 0 && html`<small class="faint line">${T.notShown(left_out)}</small>`
    }</span>`,
    html`<${Name} text=${name} />`,
    html`<span class="line"><${Name} text=${from} /></span>
      ${to !== null && html`<small class="faint line">→ <${Name} text=${to} /></small>`}`,
    html`<span class="figure">${durationText(ms)}</span>`,
    html`<span class="line figure">${sizeText(bytes)}</span>
      ${answer_bytes !== null && html`<small class="faint line figure">← ${sizeText(answer_bytes)}</small>`}`,
    html`<${State} kind=${isGood ? "good" : outcome === "dropped" ? "off" : "bad"}>${outcome} ${code}<//>`,
  ];
}
