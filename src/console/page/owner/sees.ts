/** What the Agent sees: tools, Desktop, Finder, skills and the masked configuration. */
import { html } from "../kit/html.ts";
import { Empty, Failure, Tabs } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { Line, Lines, Name, nameText, Prose, Uri, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { Finder } from "./finder.ts";
import { Tools } from "./tools.ts";

const T = texts.sees;

const TABS = { tools: Tools, desktop: Desktop, finder: Finder, skills: Skills, config: Masked } as const;

export function Sees(): View {
  const chosen = (["desktop", "finder", "skills", "config"] as const).find((tab) => tab === route.value[1]) ??
    "tools";
  return html`
    <${Tabs} label=${T.title} path=${["sees"]} chosen=${chosen} tabs=${T.tabs} />
    <${TABS[chosen]} key=${chosen} />
  `;
}

/** The characters of a window that are shown at first. */
const FIRST_LENGTH = 1_500;

/** The windows in their order, drawn anew as they change. */
function Desktop(): View {
  const { value, error } = useReading<{ desktops: readonly string[]; warning?: string }>("desktop", {
    on: ["desktop"],
  });
  const { desktops = [], warning } = value ?? {};
  return html`<div class="scroll"><${Failure} text=${error} />
    ${value !== undefined && html`<p class="faint">${T.windows(desktops.length)}</p>`}
    ${
    warning !== undefined && html`
      <p class="hint">
        <${Line} text=${warning} max=${600} />
      </p>
    `
  }
    <ol class="windows">${
    desktops.map((text) => {
      const [uri = "", ...rest] = text.split("\n\n");
      return html`
        <li class="card window" key=${uri}>
          <h2>
            <${Uri} text=${uri} />
          </h2>
          <${Lines} text=${rest.join("\n\n")} first=${FIRST_LENGTH} of=${uri} />
        </li>
      `;
    })
  }</ol></div>`;
}

interface SkillList {
  readonly skills: readonly { readonly name: string; readonly description?: string }[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

function Skills(): View {
  const { value: { skills, problems = [] } = {}, error } = useReading<SkillList>("skills", {
    on: ["skills"],
  });
  return html`<div class="scroll"><${Failure} text=${error} />
    ${problems.map(({ path, message }) => html`<${Failure} text=${`${nameText(path)}: ${message}`} />`)}
    ${skills?.length === 0 && html`<${Empty}>${T.noSkills}<//>`}
    ${
    skills?.map(({ name, description = "" }) =>
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
  return html`
    <div class="scroll">
      <p class="faint">${T.maskedAbout}</p>
      <${Failure} text=${error} />
      <div class="card">
        <${Lines} text=${JSON.stringify(value, null, 2) ?? ""} first=${200_000} />
      </div>
    </div>
  `;
}
