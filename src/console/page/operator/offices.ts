/** Offices: who is in each, how they are connected, and what they send. */
import { useEffect, useState } from "preact/hooks";
import type { MemberValue, OfficeValue, SeenValue } from "../../../api_values.ts";
import { act, listen } from "../kit/client.ts";
import { Ask, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Button, nameOf, Search, State, Table, Tabs } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { Heading, matching, type Row, Split } from "../kit/split.ts";
import { durationText, Moment, Since, sizeText } from "../kit/time.ts";
import { Line, Name, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.operator.offices;
/** How often members are read although nothing happens, in milliseconds: what waits, and round trips. */
const INTERVAL_MS = 5_000;
/** How often the Server is asked for events: it tells them for a minute each time. */
const WATCH_MS = 30_000;
/** The rows of a table that are shown; the search finds other members. */
const MAX_ROWS = 200;

interface Seen extends SeenValue {
  /** Counts those that arrived here. */
  readonly number: number;
}

export function Offices(): View {
  const { value, error } = useReading<readonly OfficeValue[]>("offices", { on: ["audit"] });
  const list = { title: T.title, items: value ?? [], none: value && T.none, row: rowOf };
  return html`
    <${Split} path=${["offices"]} error=${error}
      lists=${[{ ...list, keyOf: ({ office }: OfficeValue) => office }]}
      detail=${({ office }: OfficeValue) => html`<${OfficeDetail} key=${office} office=${office} />`} />
  `;
}

function rowOf({ office, agent, computers, observers }: OfficeValue): Row {
  return [nameOf(office), T.row(computers, observers), agent === null ? T.noAgent : nameOf(agent)];
}

function OfficeDetail({ office }: { office: string }): View {
  const tab = route.value[2] === "events" ? "events" : "members";
  return html`
    <${Heading}><${Name} text=${office} /><//>
    <${Tabs} label=${T.tabs} path=${["offices", office]} chosen=${tab} tabs=${T.parts} />
    ${tab === "events" ? html`<${Events} office=${office} />` : html`<${Members} office=${office} />`}
  `;
}

function Members({ office }: { office: string }): View {
  const { value = [] } = useReading<readonly MemberValue[]>("members", {
    arguments: [office],
    on: ["audit"],
    everyMs: INTERVAL_MS,
  });
  const [words, setWords] = useState("");
  const found = value.filter(matching(words));
  const shown = found.slice(0, MAX_ROWS);
  return html`
    <div class="tools">
      <${Search} label=${T.search} value=${words} onInput=${setWords} />
    </div>
    <h3>${T.parts.members} <span class="count">${texts.part(shown.length, value.length)}</span></h3>
    <${Table} label=${T.parts.members} head=${T.head} empty=${texts.noMatch}
      rows=${shown.map((member) => [member.sid, cellsOf(member)])} />
  `;
}

/** What is below the first line of a cell. */
function below(...views: readonly View[]): View {
  return html`<small class="faint line">${views}</small>`;
}

function cellsOf(member: MemberValue): readonly View[] {
  const { role, is_observer, name, client, version = "0.1", principal, address, transport } = member;
  const { since, last_seen, round_trip_ms, answer_p50_ms, answer_p95_ms, waits: { requests, bytes } } =
    member;
  return [
    html`<strong>${nameOf(name)}</strong>${
      below(`${is_observer ? T.observer : role}, ${T.protocol} ${version}`)
    }
      ${client !== undefined && below(html`<${Line} text=${client} max=${60} />`)}`,
    html`${nameOf(principal)}${below(`${address}, ${transport}`)}${
      below(T.since, " ", html`<${Since} at=${since} />`)
    }`,
    html`<${Since} at=${last_seen} /> ${T.ago}
      ${round_trip_ms !== undefined && below(`${T.roundTrip} ${durationText(round_trip_ms)}`)}
      ${requests + bytes > 0 && below(T.waits(requests, sizeText(bytes)))}`,
    answer_p50_ms === undefined
      ? null
      : html`<span class="times">p50 ${durationText(answer_p50_ms)}${
        below(`p95 ${durationText(answer_p95_ms ?? 0)}`)
      }</span>`,
    html`
      <${Ask} kind="danger" title=${T.endOf(nameText(name))} label=${T.end} path="end" name=${name}
        schema=${endSchema(principal)} toOptions=${({ who, ...options }: Values) => ({
          ...who === "all" ? { principal } : { member: member.sid },
          ...options,
        })} />
    `,
  ];
}

function endSchema(principal: string): Values {
  return {
    required: ["who", "reason"],
    properties: {
      who: {
        title: T.endWhat,
        oneOf: [{ const: "this", title: T.onlyThis }, { const: "all", title: T.allOf(nameText(principal)) }],
        default: "this",
      },
      reason: { type: "string", title: T.reason },
      "may-return": { type: "boolean", title: T.mayReturn },
    },
  };
}

/** What the members send, as the Server tells it while somebody looks. */
function Events({ office }: { office: string }): View {
  const [isHeld, setHeld] = useState(false);
  const [shown, setShown] = useState<readonly Seen[]>([]);
  useEffect(() => {
    const watch = () => void act("watch", { arguments: [office] }).catch(() => {});
    const timer = setInterval(watch, WATCH_MS);
    watch();
    return () => clearInterval(timer);
  }, [office]);
  useEffect(() =>
    listen(isHeld ? [] : ["relayed"], ({ seen }) => {
      const event = seen as SeenValue | undefined;
      if (event?.office !== office) return;
      setShown((last) => [{ ...event, number: (last[0]?.number ?? 0) + 1 }, ...last].slice(0, MAX_ROWS));
    }), [office, isHeld]);
  return html`
    <div class="who">
      <p class="faint grow">${T.eventsAbout}</p>
      <${Button} isLocal onPress=${() => setHeld(!isHeld)}>${isHeld ? T.goOn : T.hold}<//></div>
    <${Table} label=${T.parts.events} head=${T.eventHead} empty=${T.noEvents}
      rows=${shown.map((event) => [`${event.number}`, eventCells(event)])} />
  `;
}

function eventCells(seen: SeenValue): readonly View[] {
  const { at, event, from, to, ms, bytes, answer_bytes, outcome, code, left_out } = seen;
  // The Server does not look into answers: an answered call may have failed.
  const kind = { handled: "good", answered: "off", dropped: "off" }[outcome] ?? "bad";
  return [
    html`<${Moment} at=${at} />${left_out > 0 && below(T.notShown(left_out))}`,
    nameOf(event),
    html`${nameOf(from)}${to !== null && below("→ ", nameOf(to))}`,
    durationText(ms),
    html`${sizeText(bytes)}${answer_bytes !== null && below(`← ${sizeText(answer_bytes)}`)}`,
    html`<${State} kind=${kind}>${outcome} ${code}<//>`,
  ];
}
