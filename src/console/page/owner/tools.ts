/** The tools that the Agent is offered: what has changed in them, whether they ask, and a form that runs one. */
import { html } from "../kit/html.ts";
import { useState } from "preact/hooks";
import { act } from "../kit/client.ts";
import { Form, recordOf } from "../kit/form.ts";
import { Listbox } from "../kit/listbox.ts";
import {
  Button,
  Empty,
  Failure,
  focusDetail,
  goTo,
  Heading,
  linkTo,
  say,
  Search,
  Split,
} from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { durationText } from "../kit/time.ts";
import { Line, Lines, Name, nameText, Prose, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import type { Change } from "./computer.ts";
import { Changes, Hints } from "./now.ts";

const T = texts.tools;

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly params_schema: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>> | null;
  readonly server: string;
  /** Its own name. */
  readonly tool: string;
  readonly auto_apply?: boolean;
  readonly hidden?: boolean;
  /** It has changed, and is kept from the Agent until it is allowed. */
  readonly set_aside?: boolean;
  readonly changed?: string;
  readonly changes?: readonly Change[];
}

export function Tools(): View {
  const { value, error } = useReading<{ tools: readonly Tool[] }>("tool/list", {
    on: ["tools", "config"],
  });
  const [words, setWords] = useState("");
  const wanted = words.toLowerCase();
  const tools = (value?.tools ?? []).filter(({ name, server, description }) =>
    `${name} ${server} ${description}`.toLowerCase().includes(wanted)
  );
  const [, , key] = route.value;
  const chosen = tools.find((tool) => keyOf(tool) === key) ?? tools[0];
  return html`
    <${Split} back=${key === undefined ? undefined : ["sees", "tools"]}
      list=${html`
        <div class="tools">
          <${Search} label=${T.search} value=${words} onInput=${setWords} />
        </div><${Failure} text=${error} />
              ${value !== undefined && tools.length === 0 && html`<${Empty} title=${T.none} />`}
              <${Listbox} label=${T.title} items=${tools} keyOf=${keyOf} chosen=${chosen &&
                keyOf(chosen)} onOpen=${focusDetail}
          rowHeight=${56}
          onChoose=${(each: string) => goTo(["sees", "tools", each], { isStep: false })} row=${(tool: Tool) =>
            html`<${Row} tool=${tool} />`} />
      `}
      detail=${chosen && html`<${ToolDetail} key=${keyOf(chosen)} tool=${chosen} />`} />
  `;
}

function Row({ tool }: { tool: Tool }): View {
  return html`<span class="stack grow"><strong><${Name} text=${tool.name} /></strong>
      <small class="faint cut"><${Name} text=${tool.server} /> · <${Line} text=${tool.description} max=${160} /></small></span>
    ${
    isChanged(tool) &&
    html`<span class="badge hot">${tool.set_aside === true ? T.setAside : T.changed}</span>`
  }
    ${tool.hidden === true && html`<span class="badge">${T.hidden}</span>`}
    ${tool.auto_apply === true && html`<span class="badge good">${T.runsAtOnce}</span>`}`;
}

/** Several servers may have a tool of one name. */
function keyOf({ server, tool }: Tool): string {
  return `${server}/${tool}`;
}

function isChanged({ changed, changes = [] }: Tool): boolean {
  return changed !== undefined || changes.length > 0;
}

function annotationsOf({ meta }: Tool): Readonly<Record<string, unknown>> {
  try {
    return recordOf(JSON.parse(String(meta?.["MCP_TOOL_ANNOTATION"] ?? "{}")));
  } catch {
    return {};
  }
}

function ToolDetail({ tool }: { tool: Tool }): View {
  const annotations = annotationsOf(tool);
  const { name, description, params_schema, hidden = false, auto_apply = false } = tool;
  const edit = (path: string, done: string) => async () => {
    await act(path, { arguments: [name], options: { mcp_server: tool.server } });
    say(done);
  };
  return html`
    <${Heading}><${Name} text=${name} /><//>
    <p class="who"><span>${texts.now.of} <a href=${linkTo("servers", tool.server)}><${Name} text=${tool
      .server} /></a></span></p>
    <${Hints} annotations=${annotations} /><${Changes} changed=${tool.changed} changes=${tool.changes ??
      []} />
    <${Prose} text=${description} max=${8_000} />
    <div class="actions">
      ${auto_apply
        ? html`<${Button} onPress=${edit("tool/ask", T.nowAsks(nameText(name)))}>${T.ask}<//>`
        : html`<${Button} onPress=${edit("tool/allow", T.nowRuns(nameText(name)))}>${
          isChanged(tool) ? T.allowChanged : T.allow
        }<//>`}
      ${hidden
        ? html`<${Button} onPress=${edit("tool/show", T.nowShown(nameText(name)))}>${T.show}<//>`
        : html`<${Button} onPress=${edit("tool/hide", T.nowHidden(nameText(name)))}>${T.hide}<//>`}
    </div>
    ${!hidden && html`
      <h3>${T.run}</h3>
      <${Run} name=${name} schema=${params_schema} />
    `}
    <details><summary>${T.schema}</summary><${Lines} text=${JSON.stringify(
      params_schema,
      null,
      2,
    )} /></details>
  `;
}

interface CallResult {
  readonly content?: readonly Readonly<Record<string, unknown>>[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

/** How long a call from here may take, in seconds. */
const RUN_TIMEOUT_S = 300;

function Run({ name, schema }: { name: string; schema: Readonly<Record<string, unknown>> }): View {
  const [outcome, setOutcome] = useState<{ readonly result: CallResult; readonly ms: number }>();
  const run = async (values: Readonly<Record<string, unknown>>) => {
    const startedAtMs = performance.now();
    const options = { params: JSON.stringify(values), timeout: RUN_TIMEOUT_S };
    const result = await act<CallResult>("call", { arguments: [name], options });
    setOutcome({ result, ms: performance.now() - startedAtMs });
  };
  return html`<${Form} schema=${schema} submit=${T.runIt} onSubmit=${run} />
    ${
    outcome !== undefined &&
    html`<section class="result ${outcome.result.isError ? "bad" : ""}" role="status" aria-label=${T.result}>
      <h3>${outcome.result.isError ? T.failed : T.result} <small class="faint">${
      durationText(outcome.ms)
    }</small></h3>
      ${outcome.result.content?.map((item) => html`<${Item} item=${item} />`)}</section>`
  }`;
}

function Item({ item }: { item: Readonly<Record<string, unknown>> }): View {
  const { type, text, data, mimeType } = item;
  if (type === "text") return html`<${Lines} text=${String(text)} />`;
  const source = pictureOf(mimeType, data);
  if (source !== undefined) return html`<img src=${source} alt=${T.picture} />`;
  return html`<${Lines} text=${JSON.stringify(item, null, 2)} />`;
}

/** A picture that is in the text itself; others are never fetched. */
export function pictureOf(type: unknown, base64: unknown): string | undefined {
  const isPicture = /^image\/(?:png|jpeg|gif|webp)$/.test(String(type)) && typeof base64 === "string";
  return isPicture ? `data:${String(type)};base64,${base64}` : undefined;
}
