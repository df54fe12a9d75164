/** The page of the owner of a machine. */
import { useEffect } from "preact/hooks";
import type { StatusValue } from "../../api_values.ts";
import { connection } from "./kit/client.ts";
import { Do, stateOf } from "./kit/parts.ts";
import { useReading } from "./kit/reading.ts";
import { type Screen, Shell, startPage } from "./kit/shell.ts";
import { sinceOf } from "./kit/time.ts";
import { html, lineOf, nameOf, type View } from "./kit/words.ts";
import { followComputer, isPaused, status, waiting } from "./owner/computer.ts";
import { Configuration } from "./owner/configuration.ts";
import { History } from "./owner/history.ts";
import { Now } from "./owner/now.ts";
import { Sees } from "./owner/sees.ts";
import { Servers, STATE_KINDS } from "./owner/servers.ts";
import { texts } from "./texts.ts";

const T = texts.head;

function troubled(): number {
  return status.value?.servers.filter(({ status }) => STATE_KINDS[status] === "bad").length ?? 0;
}

const SCREENS: readonly Screen[] = [
  { id: "now", title: texts.now.title, view: Now, count: () => waiting.value.length },
  { id: "servers", title: texts.servers.title, view: Servers, count: troubled },
  { id: "sees", title: texts.sees.title, short: texts.sees.short, view: Sees },
  { id: "history", title: texts.history.title, view: History },
  {
    id: "configuration",
    title: texts.configuration.title,
    short: texts.configuration.short,
    view: Configuration,
  },
];

function Owner(): View {
  const { value } = useReading<StatusValue>("status", { on: ["connection", "servers", "tools", "config"] });
  useEffect(() => void (status.value = value), [value]);
  const [path, kind] = isPaused.value ? ["resume", "primary"] : ["pause"];
  return html`
    <${Shell} screens=${SCREENS} name=${status.value?.name ?? ""} keys=${texts.keys} refused=${texts
      .refused} head=${headOf()}
      actions=${html`<${Do} keys="P" kind=${kind} path=${path} />`}
      banner=${isPaused.value && html`<p class="banner" role="status">${texts.pausedBanner}</p>`} />
  `;
}

function headOf(): View {
  if (status.value === undefined) return html`<strong>${texts.product}</strong>`;
  const away = connection.value === "lost" && { connected: false, office: null, agent: null, since: null };
  const { name, server, connected, office, agent, since } = { ...status.value, ...away };
  const where = office === null ? connected ? T.noOffice : T.notConnected : [T.office, " ", nameOf(office)];
  const kind = connected ? "good" : server === null ? "off" : "bad";
  const long = html`<span class="wide-only">${T.since} ${sinceOf(since)}</span>`;
  return html`
    <strong>${nameOf(name)}</strong>
    <p class="where">${stateOf(kind, html`<span>${where}${since && long}</span>`)}
      ${server !== null && html`<span class="wide-only">${T.at} ${lineOf(server, 80)}</span>`}
      ${agent
        ? html`<span>${texts.now.agent} ${nameOf(agent)}</span>`
        : office !== null && html`<span class="faint">${T.noAgent}</span>`}</p>
  `;
}

followComputer();
startPage(Owner);
