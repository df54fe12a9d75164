/** Configuration: what is wrong with it and what helps, a server from a pasted entry, and the way back. */
import { html } from "../kit/html.ts";
import { useState } from "preact/hooks";
import { act } from "../kit/client.ts";
import { inputOf, parseObject, recordOf } from "../kit/form.ts";
import { Button, Failure, say } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { Line, Name, nameText, Prose, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";
import type { Status } from "./computer.ts";

const T = texts.configuration;

interface Finding {
  readonly message: string;
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
}

interface Report {
  readonly file: string;
  readonly form: string | null;
  readonly servers: readonly { readonly name: string; readonly type: string; readonly disabled: boolean }[];
  readonly problems: readonly Finding[];
  readonly failures: readonly Finding[];
  readonly warnings: readonly Finding[];
}

export function Configuration(): View {
  const { value, error, again } = useReading<Report>("config/check", { on: ["config"] });
  const { value: status } = useReading<Status>("status", { on: ["config"] });
  const problems = [...value?.problems ?? [], ...value?.failures ?? []];
  return html`
    <div class="scroll columns">
      <section aria-labelledby="check"><h2 id="check">${T.check} ${value !== undefined &&
        html`<span class="count ${problems.length > 0 ? "hot" : ""}">${problems.length}</span>`}</h2>
          ${value !== undefined &&
            html`<p class="faint"><span class="mono"><${Line} text=${value.file} /></span></p>`}<${Failure} text=${error} />
          ${typeof status?.refused_edit === "string" &&
            html`<${Failure} text=${`${T.refusedEdit} ${status.refused_edit}`} />`}
          ${value !== undefined && problems.length + value.warnings.length === 0 &&
            html`<p class="fine">${T.fine(value.servers.length)}</p>`}
          <ul class="findings">${problems.map((each) => html`<${FindingRow} finding=${each} kind="bad" />`)}
            ${value?.warnings.map((each) => html`<${FindingRow} finding=${each} kind="hot" />`)}</ul>
          <div class="actions"><${Button} onPress=${again}>${T.checkAgain}<//>
            <${Button} onPress=${async () => {
              await act("config/undo");
              say(T.undone);
            }}>${T.undo}<//></div>
        </section>
        <${Add} />
      </div>
  `;
}

function FindingRow(
  { finding: { message, path, line, column }, kind }: { finding: Finding; kind: "bad" | "hot" },
): View {
  return html`
    <li>
      <p class="who"><span class="badge ${kind}">${kind === "bad" ? T.error : T.warning}</span>
          ${line !== undefined &&
            html`<span class="mono">${
              T.place(line, column ?? 1)
            }</span>`} <span class="mono faint"><${Line} text=${path} /></span></p>
      <${Prose} text=${message} />
    </li>
  `;
}

/** The members in which clients keep their servers. */
const LISTS = ["mcpServers", "servers", "context_servers", "mcp"] as const;

/** The servers of a pasted text: an entry alone, one with its name, or the list of any client. */
function entriesOf(text: string): Readonly<Record<string, unknown>> {
  const written = text.trim();
  const value = parseObject(written.startsWith("{") ? written : `{${written.replace(/,\s*$/, "")}}`);
  const list = LISTS.map((name) => recordOf(value[name])).find((each) => Object.keys(each).length > 0) ??
    value;
  const isEntry = Object.values(list).some((each) =>
    typeof each !== "object" || each === null || Array.isArray(each)
  );
  return isEntry ? { "": list } : list;
}

function Add(): View {
  const [text, setText] = useState("");
  const [name, setName] = useState("");
  let entries: Readonly<Record<string, unknown>> = {};
  let problem: string | undefined;
  try {
    if (text.trim() !== "") entries = entriesOf(text);
  } catch (error) {
    problem = String(error);
  }
  const found = Object.entries(entries);
  const isNameless = found.length === 1 && found[0]?.[0] === "";
  const add = async () => {
    for (const [own, entry] of found) {
      const chosen = isNameless || found.length === 1 && name !== "" ? name : own;
      await act("server/add", { arguments: [chosen, JSON.stringify(entry)] });
      say(T.added(nameText(chosen)));
    }
    setText("");
    setName("");
  };
  return html`<section aria-labelledby="add"><h2 id="add">${T.add}</h2><p class="faint">${T.addAbout}</p>
    <label class="field"><span>${T.entry}</span><textarea rows="10" class="mono" spellcheck=${false} value=${text} onInput=${
    inputOf(setText)
  }
      placeholder=${T.example}></textarea></label>
    <${Failure} text=${problem} />
    ${
    found.length > 0 && html`<p>${T.found} ${
      found.map(([own]) =>
        html`
          <span class="badge">${own === "" ? T.nameless : html`<${Name} text=${own} />`}</span>
        `
      )
    }</p>`
  }
    ${
    found.length <= 1 &&
    html`<label class="field"><span>${isNameless ? T.name : T.otherName}</span><input value=${name} onInput=${
      inputOf(setName)
    } /></label>`
  }
    <div class="actions"><${Button} kind="primary" isOff=${
    found.length === 0 || isNameless && name === ""
  } onPress=${add}>${T.apply}<//></div>
  </section>`;
}
