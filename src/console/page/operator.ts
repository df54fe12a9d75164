/** The page of the operator of a Server. */
import { useEffect } from "preact/hooks";
import type { OverviewValue } from "../../api_values.ts";
import { useReading } from "./kit/reading.ts";
import { type Screen, Shell, startPage } from "./kit/shell.ts";
import { html, lineOf, type View } from "./kit/words.ts";
import { Audit } from "./operator/audit.ts";
import { Clients } from "./operator/clients.ts";
import { Machines } from "./operator/machines.ts";
import { Offices } from "./operator/offices.ts";
import { Overview, overview, readyState } from "./operator/overview.ts";
import { texts } from "./texts.ts";

const T = texts.operator;

/** 1 while the Server is not ready. */
function unready(): number {
  return overview.value?.ready === false ? 1 : 0;
}

const SCREENS: readonly Screen[] = [
  { id: "overview", title: T.overview.title, view: Overview, count: unready },
  { id: "offices", title: T.offices.title, view: Offices },
  { id: "clients", title: T.clients.title, view: Clients },
  { id: "machines", title: T.machines.title, view: Machines },
  { id: "audit", title: T.audit.title, view: Audit },
];

/** On the port of a hub, the page is for whoever has the token of an operator. */
const isOnHub = location.pathname !== "/";

function Operator(): View {
  const { value } = useReading<OverviewValue>("overview", { on: ["audit"], isPolled: true });
  useEffect(() => void (overview.value = value), [value]);
  const head = value
    ? html`
      <strong>${lineOf(value.url, 80)}</strong>
      <p class="where">${readyState(value)} <span class="faint">${T.version} ${value.version}</span></p>
    `
    : html`<strong>${texts.product}</strong>`;
  return html`<${Shell} screens=${SCREENS} name=${
    value === undefined ? "" : new URL(value.url).host
  } keys=${[]} refused=${isOnHub ? T.signIn : T.refused} head=${head} />`;
}

startPage(Operator);
