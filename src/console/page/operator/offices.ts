/** Offices: who is in each, how they are connected, and what they send. */
import { useEffect, useState } from "preact/hooks";
import type { MemberValue, OfficeValue, SeenValue } from "../../../api_values.ts";
import { listen, run } from "../kit/client.ts";
import { Ask, type Values } from "../kit/form.ts";
import { Button, Search, stateOf, Table, Tabs } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { headingOf, matching, type Row, Split } from "../kit/split.ts";
import { asleepOf, durationText, momentOf, sinceOf, sizeText } from "../kit/time.ts";
import { html, lineOf, nameOf, nameText, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.operator.offices;
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
  const keyOf = ({ office }: OfficeValue) => office;
  return html`
    <${Split} path=${["offices"]} error=${error}
      lists=${[{ title: T.title, items: value ?? [], none: value && T.none, row: rowOf, keyOf }]}
      detail=${({ office }: OfficeValue) => html`<${OfficeDetail} key=${office} office=${office} />`} />
  `;
}

function rowOf({ office, agent, computers, observers }: OfficeValue): Row {
  return [nameOf(office), T.row(computers, observers), agent === null ? texts.head.noAgent : nameOf(agent)];
}

function OfficeDetail({ office }: { office: string }): View {
  const tab = route.value[2] === "events" ? "events" : "members";
  return html`
    ${headingOf(nameOf(office))}
    <${Tabs} label=${T.tabs} path=${["offices", office]} chosen=${tab} tabs=${T.parts} />
    <${tab === "events" ? Events : Members} office=${office} />
  `;
}

function Members({ office }: { office: string }): View {
  const { value = [] } = useReading<readonly MemberValue[]>("members", {
    arguments: [office],
    on: ["audit"],
    isPolled: true,
  });
  const [words, setWords] = useState("");
  const found = value.filter(matching(words));
  const shown = found.slice(0, MAX_ROWS);
  return html`
    <div class="tools">
      <${Search} label=${T.search} value=${words} onInput=${setWords} />
    </div>
    <h3>${T.parts.members} <span class="count">${texts.part(shown.length, value.length)}</span></h3>
    <${Table} isStacked label=${T.parts.members} head=${T.head} empty=${texts.noMatch}
      rows=${shown.map((member) => [member.sid, cellsOf(member)])} />
  `;
}

/** What is below the first line of a cell. */
function below(...views: readonly View[]): View {
  return html`<small class="faint line">${views}</small>`;
}

function cellsOf(member: MemberValue): readonly View[] {
  const { role, is_observer, name, client, version = "0.1", principal, address, transport } = member;
  const { since, last_seen, asleep_since, round_trip_ms, answer_p50_ms, answer_p95_ms = 0, waits } = member;
  return [
    [
      html`<strong>${nameOf(name)}</strong>`,
      below(`${is_observer ? T.observer : role}, ${T.protocol} ${version}`),
      client !== undefined && below(lineOf(client, 60)),
      asleep_since !== undefined && below(asleepOf(asleep_since)),
    ],
    [
      nameOf(principal),
      below(`${address}, ${transport}`),
      below(T.since, " ", sinceOf(since)),
    ],
    html`${sinceOf(last_seen)} ${T.ago}
      ${round_trip_ms !== undefined && below(`${T.roundTrip} ${durationText(round_trip_ms)}`)}
      ${waits.requests + waits.bytes > 0 && below(T.waits(waits.requests, sizeText(waits.bytes)))}`,
    answer_p50_ms !== undefined &&
    html`<span class="times">p50 ${durationText(answer_p50_ms)}${
      below(`p95 ${durationText(answer_p95_ms)}`)
    }</span>`,
    html`
      <${Ask} kind="danger" title=${T.endOf(nameText(name))} path="end" schema=${endSchema(principal)}
        toDeed=${({ who, ...options }: Values) =>
          who === "all"
            ? { name: principal, options: { ...options, principal } }
            : { name, options: { ...options, member: member.sid } }} />
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
      reason: { type: "string", format: "line", title: T.reason },
      "may-return": { type: "boolean", title: T.mayReturn },
    },
  };
}

/** What the members send, as the Server tells it while somebody looks. */
function Events({ office }: { office: string }): View {
  const [isHeld, setHeld] = useState(false);
  const [shown, setShown] = useState<readonly Seen[]>([]);
  useEffect(() => {
    const watch = () => void run("watch", { arguments: [office] }).catch(() => {});
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
    <${Table} isStacked label=${T.parts.events} head=${T.eventHead} empty=${T.noEvents}
      rows=${shown.map((event) => [`${event.number}`, eventCells(event)])} />
  `;
}

function eventCells(seen: SeenValue): readonly View[] {
  const { at, event, from, to, ms, bytes, answer_bytes, outcome, code, left_out } = seen;
  // The Server does not look into answers: an answered call may have failed.
  const kind = outcome === "handled" ? "good" : ["answered", "dropped"].includes(outcome) ? "off" : "bad";
  return [
    [momentOf(at), left_out > 0 && below(T.notShown(left_out))],
    nameOf(event),
    [nameOf(from), to !== null && below("→ ", nameOf(to))],
    durationText(ms),
    [sizeText(bytes), answer_bytes !== null && below(`← ${sizeText(answer_bytes)}`)],
    stateOf(kind, outcome, " ", code),
  ];
}
