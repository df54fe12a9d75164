/** The tools that the Agent is offered: what has changed in them, whether they ask, and a form that runs one. */
import { useState } from "preact/hooks";
import type { ToolValue } from "../../../api_values.ts";
import { act } from "../kit/client.ts";
import { Form, parseValue, recordOf, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Do } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { linkTo } from "../kit/route.ts";
import { Heading, type Row, Split } from "../kit/split.ts";
import { durationText } from "../kit/time.ts";
import { Line, Lines, Name, Picture, pictureOf, Prose, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { Changes, Hints } from "./now.ts";

const T = texts.tools;

export function Tools(): View {
  const { value, error } = useReading<{ tools: readonly ToolValue[] }>("tool/list", {
    on: ["tools", "config", "waiting"],
  });
  // Several servers may have a tool of one name.
  const keyOf = ({ server, tool }: ToolValue) => `${server}/${tool}`;
  const list = { title: T.title, items: value?.tools ?? [], none: value && T.none, row: rowOf, keyOf };
  return html`
    <${Split} path=${["sees", "tools"]} search=${T.search} error=${error} lists=${[list]}
      detail=${(tool: ToolValue) => html`<${ToolDetail} key=${keyOf(tool)} tool=${tool} />`} />
  `;
}

function rowOf(tool: ToolValue): Row {
  return [
    html`<${Name} text=${tool.name} />`,
    html`<${Name} text=${tool.server} /> · <${Line} text=${tool.description} max=${160} />`,
    html`${isChanged(tool) && html`<span class="badge hot">${tool.set_aside ? T.setAside : T.changed}</span>`}
      ${tool.hidden && html`<span class="badge">${T.hidden}</span>`}
      ${tool.auto_apply && html`<span class="badge good">${T.runsAtOnce}</span>`}
      ${tool.always && html`<span class="badge good">${T.always}</span>`}`,
  ];
}

function isChanged({ changed, changes = [] }: ToolValue): boolean {
  return changed !== undefined || changes.length > 0;
}

function ToolDetail({ tool }: { tool: ToolValue }): View {
  const { name, server, description, params_schema, meta, hidden, auto_apply, always } = tool;
  const annotations = recordOf(parseValue(String(meta?.["MCP_TOOL_ANNOTATION"] ?? "")));
  const edit = (path: string, label: string) =>
    html`<${Do} path=${path} of=${[name]} options=${{ mcp_server: server }} label=${label} />`;
  return html`
    <${Heading} about=${html`<span>${texts.now.of} <a href=${
      linkTo("servers", server)
    }><${Name} text=${server} /></a></span>`}>
      <${Name} text=${name} /><//>
    <${Hints} annotations=${annotations} /><${Changes} tool=${tool} />
    <${Prose} text=${description} max=${8_000} />
    <div class="actions">
      ${auto_apply ? edit("tool/ask", T.ask) : edit("tool/allow", isChanged(tool) ? T.allowChanged : T.allow)}
      ${always && !auto_apply && edit("tool/ask", T.askAgain)}
      ${hidden ? edit("tool/show", T.show) : edit("tool/hide", T.hide)}
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
  readonly content?: readonly Values[];
  readonly isError?: boolean;
  readonly ms: number;
}

/** How long a call from here may take, in seconds. */
const RUN_TIMEOUT_S = 300;

function Run({ name, schema }: { name: string; schema: Values }): View {
  const [result, setResult] = useState<CallResult>();
  const run = async (values: Values) => {
    const startedAtMs = performance.now();
    const options = { params: JSON.stringify(values), timeout: RUN_TIMEOUT_S };
    const answer = await act<CallResult>("call", { arguments: [name], options });
    setResult({ ...answer, ms: performance.now() - startedAtMs });
  };
  return html`<${Form} schema=${schema} submit=${T.runIt} onSubmit=${run} />
    ${
    result !== undefined &&
    html`<section class="card result ${result.isError && "bad"}" role="status" aria-label=${T.result}>
      <h3>${result.isError ? T.failed : T.result} <small>${durationText(result.ms)}</small></h3>
      ${result.content?.map(itemOf)}</section>`
  }`;
}

function itemOf(item: Values): View {
  const picture = pictureOf(item["mimeType"], item["data"]);
  if (picture !== undefined) return html`<${Picture} source=${picture} />`;
  return html`<${Lines} text=${
    item["type"] === "text" ? String(item["text"]) : JSON.stringify(item, null, 2)
  } />`;
}
