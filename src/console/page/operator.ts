/** The page of the operator of a Server. */
import { signal } from "@preact/signals";
import { render } from "preact";
import { html } from "./kit/html.ts";
import { useReading } from "./kit/reading.ts";
import { type Screen, Shell, startPage } from "./kit/shell.ts";
import { Lines, type View } from "./kit/words.ts";
import { texts } from "./texts.ts";

const SCREENS: readonly Screen[] = [{ id: "overview", title: texts.operator.overview, view: Overview }];

function Overview(): View {
  const { value, error } = useReading<unknown>("overview");
  return html`
    <div class="scroll">
      <${Lines} text=${error ?? JSON.stringify(value, null, 2) ?? ""} />
    </div>
  `;
}

startPage({ name: signal(""), count: signal(0) });
render(html`<${Shell} screens=${SCREENS} head=${texts.product} />`, document.body);
