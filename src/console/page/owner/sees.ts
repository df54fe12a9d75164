/** What the Agent sees: tools, Desktop, Finder, skills and the masked configuration. */
import { Tabs } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import {
  failureOf,
  html,
  lineOf,
  linesOf,
  nameOf,
  nameText,
  proseOf,
  uriOf,
  type View,
} from "../kit/words.ts";
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
  return html`<div class="scroll">${failureOf(error)}
    ${value !== undefined && html`<p class="faint">${T.windows(desktops.length)}</p>`}
    ${warning !== undefined && html`<p class="hint">${lineOf(warning, 600)}</p>`}
    <ol class="windows">${desktops.map(windowOf)}</ol></div>`;
}

function windowOf(text: string): View {
  const [uri = "", ...rest] = text.split("\n\n");
  const lines = linesOf(rest.join("\n\n"), { first: FIRST_LENGTH, of: uri });
  return html`<li class="card window" key=${uri}><h2>${uriOf(uri)}</h2>${lines}</li>`;
}

interface SkillList {
  readonly skills: readonly { readonly name: string; readonly description?: string }[];
  readonly problems: readonly { readonly path: string; readonly message: string }[];
}

function Skills(): View {
  const { value: { skills, problems = [] } = {}, error } = useReading<SkillList>("skills", {
    on: ["skills"],
  });
  return html`<div class="scroll">${failureOf(error)}
    ${problems.map(({ path, message }) => failureOf(`${nameText(path)}: ${message}`))}
    ${skills?.length === 0 && html`<div class="empty">${T.noSkills}</div>`}
    ${
    skills?.map(({ name, description = "" }) =>
      html`<article class="card" key=${name}><h2>${nameOf(name)}</h2>${proseOf(description)}</article>`
    )
  }</div>`;
}

function Masked(): View {
  const { value, error } = useReading<unknown>("config/show", { on: ["config"] });
  const text = JSON.stringify(value, null, 2) ?? "";
  return html`<div class="scroll"><p class="faint">${T.maskedAbout}</p>${failureOf(error)}
    <div class="card">${linesOf(text, { first: 200_000 })}</div></div>`;
}
