/** Servers: the state of each MCP server, what went wrong, and what helps. */
import { html } from "../kit/html.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { act } from "../kit/client.ts";
import { inputOf } from "../kit/form.ts";
import { Listbox } from "../kit/listbox.ts";
import {
  Button,
  Empty,
  Facts,
  Failure,
  focusDetail,
  goTo,
  Heading,
  say,
  Split,
  State,
} from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { Since, sizeText } from "../kit/time.ts";
import { Line, Lines, Name, nameText, Prose, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { type ServerRow, type Status, waiting } from "./computer.ts";
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
  const { value, error } = useReading<Status>("status", { on: ["servers", "tools", "config"] });
  const servers = value?.servers ?? [];
  const chosen = servers.find(({ name }) => name === route.value[1]) ??
    servers.find(({ status }) => STATE_KINDS[status] === "bad") ?? servers[0];
  return html`
    <${Split} back=${route.value[1] === undefined ? undefined : ["servers"]}
      list=${html`
        <h2>${T.title} <span class="count">${servers.length}</span></h2><${Failure} text=${error} />
              ${value !== undefined && servers.length === 0 && html`
                <${Empty} title=${T.none}>
                  <p><a href="#/configuration">${T.addOne}</a></p>
                  <//>
              `}
              <${Listbox} label=${T.title} items=${servers} keyOf=${({ name }: ServerRow) =>
                name} chosen=${chosen?.name} onOpen=${focusDetail}
          rowHeight=${56}
          onChoose=${(name: string) => goTo(["servers", name], { isStep: false })} row=${(
            server: ServerRow,
          ) => html`<${Row} server=${server} />`} />
      `}
      detail=${chosen && html`<${Server} key=${chosen.name} server=${chosen} />`} />
  `;
}

function Row(
  { server: { name, status, tools, mcp_version, last_error, problem, memory_bytes } }: { server: ServerRow },
): View {
  const trouble = last_error ?? problem;
  return html`
    <span class="stack grow"><strong><${Name} text=${name} /></strong>
          <small class="faint cut">${trouble !== undefined && STATE_KINDS[status] !== "good"
            ? html`<${Line} text=${trouble} />`
            : [
              T.tools(tools),
              mcp_version && `MCP ${nameText(mcp_version)}`,
              memory_bytes && sizeText(memory_bytes),
            ]
              .filter(Boolean).join(" · ")}</small></span>
    <${State} kind=${STATE_KINDS[status]}><small>${T.states[status]}</small><//>
  `;
}

interface InputRow {
  readonly id: string;
  readonly type: string;
  readonly description: string;
  readonly value_from: string;
  readonly used_by: readonly string[];
}

function Server({ server }: { server: ServerRow }): View {
  const { name, status, last_error, problem, remedy, stderr_tail } = server;
  const isDown = status === "stopped" || status === "failed";
  const run = (path: string) => async () => {
    await act(path, { arguments: [name] });
    say(T.done(nameText(name)));
  };
  const trouble = last_error ?? problem;
  return html`
    <${Heading}>
      <${Name} text=${name} />
      <//>
      <p class="who">
        <${State}
          kind=${STATE_KINDS[status]}>${T.states[status]}<//> <span class="faint">${T
            .since} <${Since} at=${server.since} /></span></p>
    ${trouble !== undefined &&
      html`<div class="trouble" role="group" aria-label=${T.lastError}><${Prose} text=${trouble} max=${4_000} />
      ${
        remedy !== undefined &&
        html`<p><strong>${T.remedy}</strong> <${Line} text=${remedy} max=${1_000} /></p>`
      }
      ${
        stderr_tail && html`
          <details>
            <summary>${T.stderr}</summary>
            <${Lines} text=${stderr_tail} />
          </details>
        `
      }</div>`}
    ${waiting.value.filter((each) => each.server === name && each.question?.mode === "sign-in").map((each) =>
      html`
        <section class="card" key=${each.id}>
          <${Asking} asked=${each} />
        </section>
      `
    )}
    <${Inputs} server=${name} />
    <div class="actions">
      <${Button} kind=${isDown ? "primary" : ""} onPress=${run(
        isDown ? "server/start" : "server/restart",
      )}>${isDown ? T.start : T.restart}<//>
      ${!isDown && html`<${Button} onPress=${run("server/stop")}>${T.stop}<//>`}
      <${SignIn} server=${server} />
    </div>
    <${Facts} rows=${[
      [T.mcp, server.mcp_version === undefined ? null : html`<${Name} text=${server.mcp_version} />`],
      [T.toolsTitle, html`<a href=${`#/sees/tools`}>${server.tools}</a>`],
      [T.restarts, server.restarts],
      [T.memory, server.memory_bytes === undefined ? null : sizeText(server.memory_bytes)],
    ]} />
    <${Log} server=${name} />
  `;
}

interface SignInRow {
  readonly name: string;
  readonly state: string;
  readonly issuer?: string;
  readonly remark?: string;
}

function SignIn({ server: { name, status } }: { server: ServerRow }): View {
  const { value } = useReading<{ servers: readonly SignInRow[] }>("auth/status", {
    arguments: [name],
    on: ["servers"],
  });
  const state = status === "needs sign-in" ? status : value?.servers[0]?.state;
  const isNeeded = state === "needs sign-in";
  // It ends with the sign-in, whose page and code are shown meanwhile.
  const signIn = async () => {
    await act("auth/login", { arguments: [name] });
    say(T.signedIn(nameText(name)));
  };
  if (state === "signed in") {
    return html`<${Button} onPress=${() => act("auth/logout", { arguments: [name] })}>${T.signOut}<//>`;
  }
  return (isNeeded || state === "signed out") &&
    html`<${Button} kind=${isNeeded ? "primary" : ""} onPress=${signIn}>${T.signIn}<//>`;
}

/** The inputs of a server; those without a value first in mind. */
function Inputs({ server }: { server: string }): View {
  const { value } = useReading<{ inputs: readonly InputRow[] }>("input/list", { on: ["config", "servers"] });
  const inputs = (value?.inputs ?? []).filter(({ used_by }) => used_by.includes(server));
  return inputs.map((input) => html`<${Input} key=${input.id} input=${input} />`);
}

function Input({ input: { id, description, value_from } }: { input: InputRow }): View {
  const [text, setText] = useState("");
  const set = async () => {
    await act("input/set", { arguments: [id, text] });
    setText("");
    say(T.inputSet(nameText(id)));
  };
  return html`
    <form class="field inline" onSubmit=${(event: Event) => event.preventDefault()}>
      <label><span>${T
        .input} <${Name} text=${id} /> <small class="faint"><${Line} text=${description} /> · ${T
        .valueFrom} <${Line} text=${value_from} /></small></span>
          <input type="password" autocomplete="off" value=${text} onInput=${inputOf(setText)} /></label>
      <${Button} kind=${value_from === "missing" ? "primary" : ""} isOff=${text === ""} onPress=${set}>${T
        .set}<//>
      </form>
  `;
}

/** The lines that are read. */
const LOG_LINES = 300;

function Log({ server }: { server: string }): View {
  const [isFollowed, setFollowed] = useState(true);
  const ref = useRef<HTMLDivElement>(null);
  const { value, error } = useReading<{ log: readonly string[] }>("server/logs", {
    arguments: [server],
    options: { lines: LOG_LINES },
    on: isFollowed ? ["log", "servers"] : [],
  });
  useEffect(() => {
    if (isFollowed && ref.current !== null) ref.current.scrollTop = ref.current.scrollHeight;
  }, [value, isFollowed]);
  return html`
    <h3>${T.log} <label class="check"><input type="checkbox" checked=${isFollowed} onChange=${inputOf(
      setFollowed,
      "checked",
    )} /> ${T.follow}</label></h3>
    <${Failure} text=${error} />
    <div class="log" tabindex="0" role="log" aria-live="off" aria-label=${T.log} ref=${ref}>
          ${value?.log.length === 0
            ? html`<p class="faint">${T.logEmpty}</p>`
            : html`<${Lines} text=${
              value?.log.map((line) => line.replaceAll("\n", " ")).join("\n") ?? ""
            } first=${200_000} />`}
        </div>
  `;
}
