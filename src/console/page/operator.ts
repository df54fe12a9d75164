/** The page of the operator of a Server. */
import { signal } from "@preact/signals";
import { render } from "preact";
import { followEvents, run, takeToken } from "./kit/client.ts";
import { html } from "./kit/html.ts";

const status = signal<unknown>(undefined);

async function readStatus(): Promise<void> {
  try {
    status.value = await run("overview");
  } catch (error) {
    status.value = String(error);
  }
}

function Operator() {
  return html`
    <main>
      <h1>A2C-SMCP</h1>
      <pre id="overview">${JSON.stringify(status.value, null, 2)}</pre>
    </main>
  `;
}

takeToken();
render(html`<${Operator} />`, document.body);
void readStatus();
void followEvents({
  onEvent: () => void readStatus(),
  onState: () => void readStatus(),
  signal: new AbortController().signal,
});
