/** What the Agent sees: tools, Desktop, Finder, skills and the masked configuration. */
import { html } from "../kit/html.ts";
import { Empty, Failure, Tabs } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { Lines, Name, nameText, Prose, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { Desktop } from "./desktop.ts";
import { Finder } from "./finder.ts";
import { Tools } from "./tools.ts";

const T = texts.sees;

const TABS = { tools: Tools, desktop: Desktop, finder: Finder, skills: Skills, config: Masked } as const;

export function Sees(): View {
  const [, tab = "tools"] = route.value;
  const chosen = tab in TABS ? tab as keyof typeof TABS : "tools";
  const titles = Object.keys(TABS).map((id) => [id, T.tabs[id as keyof typeof TABS]] as const);
  return html`
    <${Tabs} label=${T.title} path=${["sees"]} chosen=${chosen} tabs=${titles} />
    <${TABS[chosen]} key=${chosen} />
  `;
}

interface Skill {
  readonly name: string;
  readonly description?: string;
}

function Skills(): View {
  const { value, error } = useReading<
    { skills: readonly Skill[]; problems: readonly { path: string; message: string }[] }
  >("skills", {
    on: ["skills"],
  });
  return html`<div class="scroll"><${Failure} text=${error} />
    ${
    value?.problems.map(({ path, message }) =>
      html`<${Failure} key=${path} text=${`${nameText(path)}: ${message}`} />`
    )
  }
    ${value?.skills.length === 0 && html`<${Empty} title=${T.noSkills} />`}
    ${
    value?.skills.map(({ name, description = "" }) =>
      html`
        <article class="card" key=${name}>
          <h2>
            <${Name} text=${name} />
          </h2>
          <${Prose} text=${description} />
        </article>
      `
    )
  }</div>`;
}

function Masked(): View {
  const { value, error } = useReading<unknown>("config/show", { on: ["config"] });
  return html`<div class="scroll"><p class="faint">${T.maskedAbout}</p><${Failure} text=${error} />
    ${
    value !== undefined && html`
      <div class="card">
        <${Lines} text=${JSON.stringify(value, null, 2)} first=${200_000} />
      </div>
    `
  }</div>`;
}
