/** The page of the owner of a machine. */
import { html } from "./kit/html.ts";
import { computed, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { act } from "./kit/client.ts";
import { Button, say, State } from "./kit/parts.ts";
import { useReading } from "./kit/reading.ts";
import { type Screen, Shell, startPage } from "./kit/shell.ts";
import { Since } from "./kit/time.ts";
import { Line, Name, type View } from "./kit/words.ts";
import { followComputer, isPaused, type Status, waiting } from "./owner/computer.ts";
import { Configuration } from "./owner/configuration.ts";
import { History } from "./owner/history.ts";
import { Now } from "./owner/now.ts";
import { Sees } from "./owner/sees.ts";
import { Servers, STATE_KINDS } from "./owner/servers.ts";
import { texts } from "./texts.ts";

const troubled = signal(0);
const computerName = signal("");

const SCREENS: readonly Screen[] = [
  { id: "now", title: texts.now.title, view: Now, count: () => waiting.value.length },
  { id: "servers", title: texts.servers.title, view: Servers, count: () => troubled.value },
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
  const { value } = useReading<Status>("status", { on: ["connection", "servers", "config"] });
  useEffect(() => {
    troubled.value = value?.servers.filter(({ status }) => STATE_KINDS[status] === "bad").length ?? 0;
    computerName.value = value?.name ?? "";
  }, [value]);
  const pause = async () => {
    await act(isPaused.value ? "resume" : "pause");
    say(isPaused.value ? texts.pause.resumed : texts.pause.done);
  };
  return html`
    <${Shell} screens=${SCREENS} head=${html`<${Head} status=${value} />`}
      actions=${html`<${Button} kind=${isPaused.value ? "primary" : ""} keys="P" onPress=${pause}>${
        isPaused.value ? texts.pause.resume : texts.pause.pause
      }<//>`}
      banner=${isPaused.value && html`<p class="banner" role="status">${texts.pause.banner}</p>`} />
  `;
}

function Head({ status }: { status: Status | undefined }): View {
  if (status === undefined) return html`<strong>${texts.product}</strong>`;
  const { name, server, connected, office, agent, since } = status;
  return html`
    <strong class="computer"><${Name} text=${name} /></strong>
    <p class="where">
      <${State} kind=${connected ? "good" : server === null ? "off" : "bad"}>
          ${office !== null
            ? html`${texts.head.office} <${Name} text=${office} />`
            : connected
            ? texts.head.noOffice
            : texts.head.notConnected}<//>
          ${server !== null &&
            html`<span class="wide-only">${texts.head.at} <${Line} text=${server} max=${80} /></span>`}
          ${agent !== null && agent !== undefined
            ? html`<span>${texts.now.agent} <${Name} text=${agent} /></span>`
            : office !== null && html`<span class="faint">${texts.head.noAgent}</span>`}
          ${typeof since === "string" &&
            html`<span class="faint wide-only">${texts.head.since} <${Since} at=${since} /></span>`}</p>
  `;
}

startPage({ name: computerName, count: computed(() => waiting.value.length) });
followComputer();
render(html`<${Owner} />`, document.body);
