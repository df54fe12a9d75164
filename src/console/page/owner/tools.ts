/** The tools that the Agent is offered: what has changed in them, whether they ask, and a form that runs one. */
import { useState } from "preact/hooks";
import type { ToolValue } from "../../../api_values.ts";
import { run } from "../kit/client.ts";
import { Form, parseValue, recordOf, type Values } from "../kit/form.ts";
import { type Deed, Do } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { linkTo } from "../kit/route.ts";
import { headingOf, type Row, Split } from "../kit/split.ts";
import { durationText } from "../kit/time.ts";
import { html, lineOf, linesOf, nameOf, pictureOf, proseOf, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { changesOf, hintsOf } from "./now.ts";

const T = texts.tools;

export function Tools(): View {
  const { value, error } = useReading<{ tools: readonly ToolValue[] }>("tool/list", {
    on: ["tools", "config", "waiting"],
  });
  // Several servers may have a tool of one name, and either name may have a slash.
  const keyOf = ({ server, tool }: ToolValue) => `${encodeURIComponent(server.toWellFormed())}/${tool}`;
  const list = { title: T.title, items: value?.tools ?? [], none: value && T.none, row: rowOf, keyOf };
  return html`
    <${Split} path=${["sees", "tools"]} search=${T.search} error=${error} lists=${[list]}
      detail=${(tool: ToolValue) => html`<${ToolDetail} key=${keyOf(tool)} tool=${tool} />`} />
  `;
}

function rowOf(tool: ToolValue): Row {
  const { name, server, description, set_aside, hidden, auto_apply, always } = tool;
  const badges = [
    isChanged(tool) && html`<span class="badge hot">${set_aside ? T.setAside : T.changed}</span>`,
    hidden && html`<span class="badge">${T.hidden}</span>`,
    auto_apply && html`<span class="badge good">${T.runsAtOnce}</span>`,
    always && html`<span class="badge good">${T.always}</span>`,
  ];
  return [nameOf(name), html`${nameOf(server)} · ${lineOf(description, 160)}`, badges.filter(Boolean)];
}

function isChanged({ changed, changes = [] }: ToolValue): boolean {
  return changed !== undefined || changes.length > 0;
}

function ToolDetail({ tool }: { tool: ToolValue }): View {
  const { name, server, description, params_schema, meta, hidden, auto_apply, always } = tool;
  const annotations = recordOf(parseValue(String(meta?.["MCP_TOOL_ANNOTATION"] ?? "")));
  const edit = (path: Deed["path"], label?: string) =>
    html`<${Do} path=${path} of=${[name]} options=${{ mcp_server: server }} label=${label} />`;
  const link = html`<a href=${linkTo("servers", server)}>${nameOf(server)}</a>`;
  return html`
    ${headingOf(nameOf(name), html`<span>${texts.now.of} ${link}</span>`)}
    ${hintsOf(annotations)}${changesOf(tool)}${proseOf(description, 16_384)}
    <div class="actions">
      ${auto_apply ? edit("tool/ask") : edit("tool/allow", isChanged(tool) ? T.allowChanged : undefined)}
      ${always && !auto_apply && edit("tool/ask", T.askAgain)}
      ${hidden ? edit("tool/show") : edit("tool/hide")}
    </div>
    ${!hidden && html`
      <h3>${T.run}</h3>
      <${Run} name=${name} schema=${params_schema} />
    `}
    <details><summary>${T.schema}</summary>${linesOf(JSON.stringify(params_schema, null, 2))}</details>
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
  const onSubmit = async (values: Values) => {
    const startedAtMs = performance.now();
    const options = { params: JSON.stringify(values), timeout: RUN_TIMEOUT_S };
    const answer = await run<CallResult>("call", { arguments: [name], options });
    setResult({ ...answer, ms: performance.now() - startedAtMs });
  };
  return html`<${Form} schema=${schema} submit=${T.runIt} onSubmit=${onSubmit} />${
    result && resultOf(result)
  }`;
}

function resultOf({ isError = false, content = [], ms }: CallResult): View {
  return html`<section class="card result ${isError ? "bad" : ""}" role="status" aria-label=${T.result}>
    <h3>${isError ? T.failed : T.result} <small>${durationText(ms)}</small></h3>${
    content.map(itemOf)
  }</section>`;
}

function itemOf(item: Values): View {
  const { type, text, mimeType, data } = item;
  const shown = type === "text" ? String(text) : JSON.stringify(item, null, 2);
  return pictureOf(mimeType, data) || linesOf(shown);
}
