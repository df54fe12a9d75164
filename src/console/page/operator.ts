/** The page of the operator of a Server. */
import { computed } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import type { OverviewValue } from "../../api_values.ts";
import { html } from "./kit/html.ts";
import { useReading } from "./kit/reading.ts";
import { type Screen, Shell, startPage } from "./kit/shell.ts";
import { Line, type View } from "./kit/words.ts";
import { Audit } from "./operator/audit.ts";
import { Clients } from "./operator/clients.ts";
import { Offices } from "./operator/offices.ts";
import { Overview, overview, readyState } from "./operator/overview.ts";
import { texts } from "./texts.ts";

const T = texts.operator;
/** How often the figures are read, in milliseconds. */
const INTERVAL_MS = 5_000;

/** 1 while the Server is not ready. */
const unready = computed(() => overview.value?.ready === false ? 1 : 0);

const SCREENS: readonly Screen[] = [
  { id: "overview", title: T.overview.title, view: Overview, count: () => unready.value },
  { id: "offices", title: T.offices.title, view: Offices },
  { id: "clients", title: T.clients.title, view: Clients },
  { id: "audit", title: T.audit.title, view: Audit },
];

/** On the port of a hub, the page is for whoever has the token of an operator. */
const isOnHub = location.pathname !== "/";

function Operator(): View {
  const { value } = useReading<OverviewValue>("overview", { on: ["audit"], everyMs: INTERVAL_MS });
  useEffect(() => void (overview.value = value), [value]);
  return html`<${Shell} screens=${SCREENS} keys=${[]} refused=${isOnHub ? T.signIn : T.refused} head=${
    value
      ? html`
        <strong><${Line} text=${value.url} max=${80} /></strong>
        <p class="where">${readyState(value)} <span class="faint">${T.version} ${value.version}</span></p>
      `
      : html`<strong>${texts.product}</strong>`
  } />`;
}

startPage({
  name: computed(() => overview.value === undefined ? "" : new URL(overview.value.url).host),
  count: unready,
});
render(html`<${Operator} />`, document.body);
