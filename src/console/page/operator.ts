/** The page of the operator of a Server. */
import { computed, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { hasToken, useToken } from "./kit/client.ts";
import { inputOf } from "./kit/form.ts";
import { html } from "./kit/html.ts";
import { State } from "./kit/parts.ts";
import { useReading } from "./kit/reading.ts";
import { Refused, type Screen, Shell, startPage } from "./kit/shell.ts";
import { Line, type View } from "./kit/words.ts";
import { Audit } from "./operator/audit.ts";
import { Clients } from "./operator/clients.ts";
import { Offices } from "./operator/offices.ts";
import { Overview } from "./operator/overview.ts";
import { type Overview as Values, useEvery } from "./operator/server.ts";
import { texts } from "./texts.ts";

const T = texts.operator;
const INTERVAL_MS = 15_000;

const SCREENS: readonly Screen[] = [
  { id: "overview", title: T.overview.title, view: Overview, count: () => unready.value },
  { id: "offices", title: T.offices.title, view: Offices },
  { id: "clients", title: T.clients.title, view: Clients },
  { id: "audit", title: T.audit.title, view: Audit },
];

const place = signal("");
/** 1 while the Server is not ready. */
const unready = signal(0);

function Operator(): View {
  const { value, again } = useReading<Values>("overview");
  useEvery(INTERVAL_MS, again);
  useEffect(() => {
    if (value === undefined) return;
    place.value = new URL(value.url).host;
    unready.value = value.ready ? 0 : 1;
  }, [value]);
  return html`
    <${Shell} screens=${SCREENS} keys=${T.keys} head=${html`<${Head} overview=${value} />`}
      refused=${isOnHub ? html`<${SignIn} />` : html`<${Refused} ...${T.refused} />`} />
  `;
}

/** On the port of a hub, the page is for whoever has the token of an operator. */
const isOnHub = location.pathname !== "/";

function SignIn(): View {
  const [token, setToken] = useState("");
  const enter = (event: Event) => {
    event.preventDefault();
    useToken(token);
    location.reload();
  };
  return html`
    <main class="refused">
      <h1>${T.signIn.title}</h1>
      <p>${hasToken() ? T.signIn.wrong : T.signIn.text}</p>
      <form class="form" onSubmit=${enter}>
        <label class="field"><span>${T.signIn.token}</span>
          <input type="password" autocomplete="current-password" value=${token} onInput=${inputOf(
            setToken,
          )} />
        </label>
        <div class="actions"><button class="primary">${T.signIn.enter}</button></div>
      </form>
    </main>
  `;
}

function Head({ overview }: { overview: Values | undefined }): View {
  if (overview === undefined) return html`<strong>${texts.product}</strong>`;
  const { url, ready, version } = overview;
  return html`
    <strong class="computer"><${Line} text=${url} max=${80} /></strong>
    <p class="where">
      <${State} kind=${ready ? "good" : "bad"}>${ready ? T.ready : T.notReady}<//>
      <span class="faint">${T.version} ${version}</span></p>
  `;
}

startPage({ name: place, count: computed(() => unready.value) });
render(html`<${Operator} />`, document.body);
