/** Servers: the state of each MCP server, what went wrong, and what helps. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { ListedInputValue, ServerValue } from "../../../api_values.ts";
import { Form, inputOf, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Do, Facts, Failure, nameOf, perform, State } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { linkTo } from "../kit/route.ts";
import { Heading, type Row, Split } from "../kit/split.ts";
import { Since, sizeText } from "../kit/time.ts";
import { Line, Lines, Name, nameText, Prose, type View } from "../kit/words.ts";
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

function stateOf({ status }: ServerValue): View {
  return html`<${State} kind=${STATE_KINDS[status]}><small>${status}</small><//>`;
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
  const about = trouble === undefined ? facts.filter(Boolean).join(" · ") : html`<${Line} text=${trouble} />`;
  return [html`<${Name} text=${name} />`, about, stateOf(server)];
}

function Server({ server }: { server: ServerValue }): View {
  const { name, status, since, remedy, stderr_tail, memory_bytes, comes_from } = server;
  const isDown = status === "stopped" || status === "failed";
  const run: Run = (path, label, kind) =>
    html`<${Do} kind=${kind} path=${path} of=${[name]} label=${label} />`;
  const trouble = troubleOf(server);
  const signIns = waiting.value.filter((each) => each.server === name && each.question?.mode === "sign-in");
  return html`
    <${Heading} about=${html`${
      stateOf(server)
    } <span class="faint">${T.since} <${Since} at=${since} /></span>`}>
      <${Name} text=${name} /><//>
    ${trouble !== undefined && html`<div class="card bad" role="group" aria-label=${T.lastError}>
      <${Prose} text=${trouble} max=${4_000} />
      ${
      remedy !== undefined &&
      html`<p><strong>${T.remedy}</strong> <${Line} text=${remedy} max=${1_000} /></p>`
    }
      ${
      stderr_tail && html`
        <h3>${T.stderr}</h3>
        <div class="log" tabindex="0">
          <${Lines} text=${stderr_tail} first=${8_192} />
        </div>
      `
    }
    </div>`}
    ${signIns.map((each) =>
      html`
        <section class="card" key=${each.id}>
          <${Asking} entry=${each} />
        </section>
      `
    )}
    <${Inputs} server=${name} />
    <div class="actions">
      ${isDown ? run("server/start", T.start, "primary") : run("server/restart", T.restart)}
      ${!isDown && run("server/stop", T.stop)}
      <${SignIn} server=${server} run=${run} />
      ${comes_from === undefined
        ? html`<a class="button" href=${linkTo("configuration", name)}>${T.edit}</a>`
        : html`<span class="faint">${T.comesFrom(comes_from)}</span>`}
    </div>
    <${Facts} rows=${[
      [T.mcp, nameOf(server.mcp_version)],
      [texts.tools.title, html`<a href="#/sees/tools">${server.tools}</a>`],
      [T.restarts, server.restarts],
      [texts.memory, memory_bytes && sizeText(memory_bytes)],
    ]} />
    <${Log} server=${name} />
  `;
}

type Run = (path: string, label: string, kind?: "primary") => View;

/** A sign-in ends when the person has come back from the browser; its page and code are shown meanwhile. */
function SignIn({ server: { name, status }, run }: { server: ServerValue; run: Run }): View {
  const { value } = useReading<{ servers: readonly { state: string }[] }>("auth/status", {
    arguments: [name],
    on: ["servers"],
  });
  const state = status === "needs sign-in" ? status : value?.servers[0]?.state;
  if (state === "signed in") return run("auth/logout", T.signOut);
  if (state === "needs sign-in") return run("auth/login", T.signIn, "primary");
  return state === "signed out" && run("auth/login", T.signIn);
}

/** The inputs of a server. */
function Inputs({ server }: { server: string }): View {
  const { value } = useReading<{ inputs: readonly ListedInputValue[] }>("input/list", {
    on: ["config", "servers"],
  });
  const inputs = (value?.inputs ?? []).filter(({ used_by }) => used_by.includes(server));
  return inputs.map(({ id, description, value_from }) => {
    const title = T.input(nameText(id));
    const about = `${description} · ${T.valueFrom} ${value_from}`;
    const field = { type: "string", format: "password", title, description: about };
    const set = ({ value }: Values) => perform({ label: T.set, path: "input/set", of: [id, String(value)] });
    return html`
      <${Form} key=${`${id} ${value_from}`} schema=${{ required: ["value"], properties: { value: field } }}
        submit=${T.set} kind=${value_from === "missing" ? "primary" : undefined} onSubmit=${set} />
    `;
  });
}

/** The lines that are read. */
const LOG_LINES = 300;

function Log({ server }: { server: string }): View {
  const [isFollowed, setFollowed] = useState(true);
  const ref = useRef<HTMLDivElement>(null);
  const { value, error } = useReading<{ log: readonly string[] }>("server/logs", {
    arguments: [server],
    options: { lines: LOG_LINES },
    on: ["log", "servers"],
  });
  useEffect(() => {
    if (isFollowed && ref.current !== null) ref.current.scrollTop = ref.current.scrollHeight;
  }, [value, isFollowed]);
  const text = value?.log.map((line) => line.replaceAll("\n", " ")).join("\n") ?? "";
  return html`
    <h3>${T.log} <label class="check"><input type="checkbox" checked=${isFollowed}
      onChange=${inputOf(setFollowed, "checked")} /> ${T.follow}</label></h3>
    <${Failure} text=${error} />
    <div class="card log" tabindex="0" role="log" aria-live="off" aria-label=${T.log} ref=${ref}>
      ${text === ""
        ? html`<p class="faint">${T.logEmpty}</p>`
        : html`<${Lines} text=${text} first=${200_000} />`}
    </div>
  `;
}
