/** Configuration: what is wrong with it and what helps, the entries of servers, one from a pasted text, and the way back. */
import { useState } from "preact/hooks";
import type { FindingValue } from "../../../api_values.ts";
import { Ask, Form, recordOf, type Values } from "../kit/form.ts";
import { html } from "../kit/html.ts";
import { Button, Do, Failure, perform, Tabs } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { Line, nameText, Prose, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import { status } from "./computer.ts";

const T = texts.configuration;

interface Report {
  readonly file: string;
  readonly servers: readonly unknown[];
  readonly problems: readonly FindingValue[];
  readonly failures: readonly FindingValue[];
  readonly warnings: readonly FindingValue[];
}

export function Configuration(): View {
  const { value, error, again } = useReading<Report>("config/check", { on: ["config"] });
  const { problems = [], failures = [], warnings = [], servers = [], file = "" } = value ?? {};
  const all = status.value?.servers ?? [];
  const { name: chosen = "", comes_from } = all.find(({ name }) => name === route.value[1]) ?? {};
  const findings = [...problems, ...failures, ...warnings];
  const refused = status.value?.refused_edit ?? undefined;
  return html`
    <div class="scroll columns">
      <section aria-labelledby="check"><h2 id="check">${T.check} <span class="count">${findings
        .length}</span></h2>
        <p class="faint mono"><${Line} text=${file} /></p>
        <${Failure} text=${error} /><${Failure} text=${refused && `${T.refusedEdit} ${refused}`} />
        ${value !== undefined && findings.length === 0 && html`<p>${T.fine(servers.length)}</p>`}
        <ul class="findings">${findings.map((each) =>
          findingRow(each, warnings.includes(each) ? "hot" : "bad")
        )}</ul>
        <div class="actions"><${Button} onPress=${again}>${T.checkAgain}<//>
          <${Do} isOff=${status.value?.can_undo !== true} path="config/undo" label=${T.undo} /></div>
      </section>
      <section aria-labelledby="servers" class=${chosen !== "" && "first"}>
        <h2 id="servers">${texts.servers.title}</h2>
        <${Tabs} label=${texts.servers.title} path=${["configuration"]} chosen=${chosen} tabs=${{
          "": T.new,
          ...Object.fromEntries(all.map(({ name }) => [name, nameText(name)])),
        }} />
        ${comes_from !== undefined && html`<p>${texts.servers.comesFrom(comes_from)}</p>`}
        ${chosen === "" && html`<${Add} />`}
        ${chosen !== "" && comes_from === undefined && html`<${Edit} key=${chosen} name=${chosen} />`}
      </section>
    </div>
  `;
}

function findingRow({ message, path, line, column = 1 }: FindingValue, kind: "bad" | "hot"): View {
  return html`
    <li class="card">
      <p><span class="badge ${kind}">${T[kind]}</span>
        ${" "}<span class="mono">${line !== undefined &&
          T.place(line, column)} <${Line} text=${path} /></span></p>
      <${Prose} text=${message} />
    </li>
  `;
}

/** The members in which clients keep their servers. */
const LISTS = ["mcpServers", "servers", "context_servers", "mcp"] as const;

/**
 * The servers of a pasted text: an entry alone, one with its name, or the list of any client.
 *
 * @throws {SyntaxError} which the button tells.
 */
function entriesOf(text: string, name: string): [name: string, entry: unknown][] {
  const written = text.trim();
  const value = recordOf(JSON.parse(written.startsWith("{") ? written : `{${written.replace(/,\s*$/, "")}}`));
  const list = LISTS.map((name) => recordOf(value[name])).find((each) => Object.keys(each).length > 0) ??
    value;
  const entries = Object.entries(list);
  const isEntry = entries.some(([, each]) =>
    typeof each !== "object" || each === null || Array.isArray(each)
  );
  if (isEntry && name === "") throw new SyntaxError(T.nameless);
  if (isEntry) return [[name, list]];
  const named = entries.length === 1 && name !== "" ? [[name, entries[0]?.[1]] as const] : entries;
  return named.map(([own, each]) => [own, withInputs(each, value["inputs"])]);
}

/** VS Code keeps the inputs of all servers beside them. */
function withInputs(entry: unknown, inputs: unknown): unknown {
  if (!Array.isArray(inputs)) return entry;
  const written = JSON.stringify(entry);
  const used = inputs.filter((input) => written.includes(`\${input:${recordOf(input)["id"]}}`));
  return used.length === 0 ? entry : { ...recordOf(entry), inputs: used };
}

function Add(): View {
  const [added, setAdded] = useState(0);
  const add = async ({ entry, name = "" }: Values) => {
    for (const [own, each] of entriesOf(String(entry), String(name))) {
      await perform({ label: T.apply, path: "server/add", of: [own, JSON.stringify(each)] });
    }
    setAdded(added + 1);
  };
  return html`
    <p class="faint">${T.addAbout}</p>
    <${Form} key=${added} schema=${T.addSchema} submit=${T.apply} onSubmit=${add} />
  `;
}

/** The entry of a server as it is written. */
function Edit({ name }: { name: string }): View {
  const { value, error } = useReading<{ entry: unknown }>("server/show", {
    arguments: [name],
    on: ["config"],
  });
  const written = JSON.stringify(value?.entry, null, 2);
  const entry = { type: "string", format: "lines", title: T.entry, default: written };
  const save = ({ entry }: Values) =>
    perform({
      label: T.save,
      path: "server/add",
      of: [name, JSON.stringify(recordOf(JSON.parse(String(entry))))],
      options: { replace: true },
    });
  return html`
    <${Failure} text=${error} />
    ${value !== undefined && html`
      <${Form} key=${written} schema=${{ required: ["entry"], properties: { entry } }} submit=${T.save}
        onSubmit=${save} />
    `}
    <div class="actions">
      <${Ask} kind="danger" title=${T.removeOf(nameText(name))} label=${T.remove}
        path="server/remove" of=${[name]} />
    </div>
  `;
}
