/** Configuration: what is wrong with it and what helps, the entries of servers, one from a pasted text, and the way back. */
import { useState } from "preact/hooks";
import type { FindingValue } from "../../../api_values.ts";
import { toSafeJson } from "../../../text/safe_text.ts";
import { Ask, Form, type Values } from "../kit/form.ts";
import { Button, Do, perform, Tabs } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { failureOf, html, lineOf, nameText, proseOf, type View } from "../kit/words.ts";
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
  const tabs = { "": T.new, ...Object.fromEntries(all.map(({ name }) => [name, nameText(name)])) };
  return html`
    <div class="scroll columns">
      <section aria-labelledby="check">
        <h2 id="check">${T.check} <span class="count">${findings.length}</span></h2>
        <p class="faint mono">${lineOf(file)}</p>
        ${failureOf(error)}${failureOf(refused && `${T.refusedEdit} ${refused}`)}
        ${value !== undefined && findings.length === 0 && html`<p>${T.fine(servers.length)}</p>`}
        <ul class="findings">${findings.map((each) =>
          findingOf(each, warnings.includes(each) ? "hot" : "bad")
        )}</ul>
        <div class="actions"><${Button} onPress=${again}>${T.checkAgain}<//>
          <${Do} isOff=${status.value?.can_undo !== true} path="config/undo" /></div>
      </section>
      <section aria-labelledby="servers" class=${chosen !== "" && "first"}>
        <h2 id="servers">${texts.servers.title}</h2>
        <${Tabs} label=${texts.servers.title} path=${["configuration"]} chosen=${chosen} tabs=${tabs} />
        ${comes_from !== undefined && html`<p>${texts.servers.comesFrom(comes_from)}</p>`}
        ${chosen === "" && html`<${Add} />`}
        ${chosen !== "" && comes_from === undefined && html`<${Edit} key=${chosen} name=${chosen} />`}
      </section>
    </div>
  `;
}

function findingOf({ message, path, line, column = 1 }: FindingValue, kind: "bad" | "hot"): View {
  const place = html`<span class="mono">${line !== undefined && T.place(line, column)} ${
    lineOf(path)
  }</span>`;
  return html`<li class="card"><p><span class="badge ${kind}">${T[kind]}</span> ${place}</p>${
    proseOf(message)
  }</li>`;
}

/** A text as it was pasted, also without its braces, adds servers of these names or of this one. */
function addServer(text: string, name: string, options: Values = {}): Promise<void> {
  const written = text.trim().replace(/,$/, "");
  const entry = written.startsWith("{") ? written : `{${written}}`;
  return perform({ path: "server/add", of: [name, entry], name, options });
}

function Add(): View {
  const [added, setAdded] = useState(0);
  const add = async ({ entry, name = "" }: Values) => {
    await addServer(String(entry), String(name));
    setAdded(added + 1);
  };
  return html`
    <p class="faint">${T.addAbout}</p>
    <${Form} key=${added} schema=${T.addSchema} submit=${texts.deeds["server/add"].label} onSubmit=${add} />
  `;
}

/** The entry of a server as it is written. */
function Edit({ name }: { name: string }): View {
  const { value, error } = useReading<{ entry: unknown }>("server/show", {
    arguments: [name],
    on: ["config"],
  });
  const written = toSafeJson(value?.entry, 2);
  const entry = {
    type: "string",
    format: "lines",
    title: T.addSchema.properties.entry.title,
    default: written,
  };
  const schema = { required: ["entry"], properties: { entry } };
  const save = ({ entry }: Values) => addServer(String(entry), name, { replace: true });
  return html`
    ${failureOf(error)}
    ${value !== undefined &&
      html`<${Form} key=${written} schema=${schema} submit=${T.save} onSubmit=${save} />`}
    <div class="actions">
      <${Ask} kind="danger" title=${T.removeOf(nameText(name))} path="server/remove" of=${[name]} />
    </div>
  `;
}
