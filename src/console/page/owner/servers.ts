/** Servers: the state of each MCP server, what went wrong, and what helps. */
import { useRef } from "preact/hooks";
import type { ListedInputValue, ServerValue } from "../../../api_values.ts";
import { Form, type Values } from "../kit/form.ts";
import { type Deed, Do, factsOf, perform, stateOf } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { linkTo } from "../kit/route.ts";
import { headingOf, type Row, Split } from "../kit/split.ts";
import { sinceOf, sizeText } from "../kit/time.ts";
import { failureOf, html, lineOf, linesOf, nameOf, nameText, proseOf, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { status, waiting } from "./computer.ts";
import { Asking } from "./now.ts";

const T = texts.servers;

export const STATE_KINDS = {
  running: "good",
  starting: "busy",
  retrying: "bad",
  "needs sign-in": "bad",
  failed: "bad",
  stopped: "off",
} as const;

export function Servers(): View {
  const items = status.value?.servers ?? [];
  // The server that is shown stays when it has started, or another one fails.
  const shown = useRef<string>();
  const first = items.find(({ name }) => name === shown.current) ??
    items.find(({ status }) => STATE_KINDS[status] === "bad") ?? items[0];
  shown.current = first?.name;
  const none = status.value && html`${T.none}: <a href="#/configuration">${T.addOne}</a>`;
  return html`
    <${Split} path=${["servers"]} first=${first}
      lists=${[{ title: T.title, items, none, row: rowOf, keyOf: ({ name }: ServerValue) => name }]}
      detail=${(server: ServerValue) => html`<${Server} key=${server.name} server=${server} />`} />
  `;
}

function statusOf({ status }: ServerValue): View {
  return stateOf(STATE_KINDS[status], html`<small>${status}</small>`);
}

/** What went wrong last, unless the server is being started again. */
function troubleOf({ status, last_error, problem }: ServerValue): string | undefined {
  return status === "starting" ? undefined : last_error ?? problem;
}

function rowOf(server: ServerValue): Row {
  const { name, status, tools, mcp_version, memory_bytes } = server;
  const trouble = STATE_KINDS[status] === "good" ? undefined : troubleOf(server);
  const facts = [
    T.tools(tools),
    mcp_version && `MCP ${nameText(mcp_version)}`,
    memory_bytes && sizeText(memory_bytes),
  ];
  const about = trouble === undefined ? facts.filter(Boolean).join(" · ") : lineOf(trouble);
  return [nameOf(name), about, statusOf(server)];
}

function Server({ server }: { server: ServerValue }): View {
  const { name, status, since, memory_bytes, comes_from } = server;
  const isDown = status === "stopped" || status === "failed";
  const signIns = waiting.value.filter((each) => each.server === name && each.question?.mode === "sign-in");
  const about = html`${statusOf(server)} <span class="faint">${T.since} ${sinceOf(since)}</span>`;
  return html`
    ${headingOf(nameOf(name), about)}
    ${troubleView(server)}
    ${signIns.map((each) =>
      html`
        <section class="card" key=${each.id}>
          <${Asking} entry=${each} />
        </section>
      `
    )}
    <${Inputs} server=${name} />
    <div class="actions">
      ${isDown ? runOf(name, "server/start", "primary") : runOf(name, "server/restart")}
      ${!isDown && runOf(name, "server/stop")}
      <${SignIn} server=${server} />
      ${comes_from === undefined
        ? html`<a class="button" href=${linkTo("configuration", name)}>${T.edit}</a>`
        : html`<span class="faint">${T.comesFrom(comes_from)}</span>`}
    </div>
    ${factsOf([
      [T.mcp, nameOf(server.mcp_version)],
      [texts.tools.title, html`<a href="#/sees/tools">${server.tools}</a>`],
      [T.restarts, server.restarts],
      [texts.memory, memory_bytes && sizeText(memory_bytes)],
    ])}
    <${Log} server=${name} />
  `;
}

/** What went wrong, what helps, and what the server wrote at last. */
function troubleView(server: ServerValue): View {
  const { remedy, stderr_tail } = server;
  const trouble = troubleOf(server);
  return trouble !== undefined && html`<div class="card bad" role="group" aria-label=${T.lastError}>
    ${proseOf(trouble, 4_000)}
    ${remedy !== undefined && html`<p><strong>${T.remedy}</strong> ${lineOf(remedy, 1_000)}</p>`}
    ${stderr_tail && html`<h3>${T.stderr}</h3>`}
    ${
    stderr_tail && html`<div class="log" tabindex="0">${linesOf(stderr_tail, { first: 8_192 })}</div>`
  }</div>`;
}

function runOf(server: string, path: Deed["path"], kind?: "primary"): View {
  return html`<${Do} kind=${kind} path=${path} of=${[server]} />`;
}

/** A sign-in ends when the person has come back from the browser; its page and code are shown meanwhile. */
function SignIn({ server: { name, status } }: { server: ServerValue }): View {
  const { value } = useReading<{ servers: readonly { state: string }[] }>("auth/status", {
    arguments: [name],
    on: ["servers"],
  });
  const state = status === "needs sign-in" ? status : value?.servers[0]?.state;
  if (state === "signed in") return runOf(name, "auth/logout");
  if (state === "needs sign-in") return runOf(name, "auth/login", "primary");
  return state === "signed out" && runOf(name, "auth/login");
}

/** The inputs of a server. */
function Inputs({ server }: { server: string }): View {
  const { value } = useReading<{ inputs: readonly ListedInputValue[] }>("input/list", {
    on: ["config", "servers"],
  });
  const inputs = (value?.inputs ?? []).filter(({ used_by }) => used_by.includes(server));
  return inputs.map(({ id, description, value_from }) => {
    const about = `${description} · ${T.valueFrom} ${value_from}`;
    const field = { type: "string", format: "password", title: T.input(nameText(id)), description: about };
    const schema = { required: ["value"], properties: { value: field } };
    const set = ({ value }: Values) => perform({ path: "input/set", of: [id, String(value)] });
    return html`
      <${Form} key=${`${id} ${value_from}`} schema=${schema} submit=${texts.deeds["input/set"].label}
        kind=${value_from === "missing" ? "primary" : undefined} onSubmit=${set} />
    `;
  });
}

/** The lines that are read. */
const LOG_LINES = 300;

/** The log, which stays at its end until somebody scrolls back. */
function Log({ server }: { server: string }): View {
  const { value, error } = useReading<{ log: readonly string[] }>("server/logs", {
    arguments: [server],
    options: { lines: LOG_LINES },
    on: ["log", "servers"],
  });
  const text = value?.log.map((line) => line.replaceAll("\n", " ")).join("\n") ?? "";
  return html`
    <h3>${T.log}</h3>${failureOf(error)}
    <div class="card log" tabindex="0" role="log" aria-live="off" aria-label=${T.log}>
      ${text === "" ? html`<p class="faint">${T.logEmpty}</p>` : linesOf(text, { first: 200_000 })}</div>
  `;
}
