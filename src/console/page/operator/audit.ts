/** Audit: who connected, joined, left, was refused or ended. */
import { useMemo, useState } from "preact/hooks";
import { read } from "../kit/client.ts";
import { html } from "../kit/html.ts";
import { Listbox } from "../kit/listbox.ts";
import {
  Button,
  Empty,
  Facts,
  Failure,
  focusDetail,
  goTo,
  Heading,
  saveFile,
  Search,
  Split,
} from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { route } from "../kit/route.ts";
import { Moment } from "../kit/time.ts";
import { Line, Name, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.operator.audit;
/** The lines that are shown; all that the Server keeps are saved. */
const SHOWN_LINES = 500;
const KEPT_LINES = 2_000;

interface AuditLine extends Record<string, unknown> {
  readonly time: string;
  readonly message: string;
}

export function Audit(): View {
  const [words, setWords] = useState("");
  const { value, error } = useReading<readonly AuditLine[]>("audit", {
    options: { lines: SHOWN_LINES },
    on: ["audit"],
  });
  const lines = value ?? [];
  const shown = useMemo(() => lines.filter(matching(words)).reverse(), [value, words]);
  const chosen = shown.find((line) => keyOf(line) === route.value[1]) ?? shown[0];
  const save = async () => {
    const all = await read<readonly AuditLine[]>("audit", { options: { lines: KEPT_LINES } });
    saveFile(
      "a2c-audit.jsonl",
      all.filter(matching(words)).map((line) => `${JSON.stringify(line)}\n`).join(""),
    );
  };
  return html`
    <${Split} back=${route.value[1] === undefined ? undefined : ["audit"]}
      list=${html`
        <div class="tools">
          <${Search} label=${T.filter} value=${words} onInput=${setWords} />
          <${Button} onPress=${save}>${T.save}<//></div>
        <p class="faint calm">${T.count(shown.length, lines.length)}</p><${Failure} text=${error} />
        ${shown.length === 0 ? html`<${Empty} title=${lines.length === 0 ? T.none : T.noMatch} />` : html`
          <${Listbox} label=${T.title} items=${shown} keyOf=${keyOf} chosen=${chosen && keyOf(chosen)}
            onOpen=${focusDetail} onChoose=${(key: string) => goTo(["audit", key], { isStep: false })}
            row=${(line: AuditLine) => html`<${Row} line=${line} />`} />
        `}
      `}
      detail=${chosen && html`<${Detail} line=${chosen} />`} />
  `;
}

function matching(words: string): (line: AuditLine) => boolean {
  const wanted = words.toLowerCase().split(/\s+/);
  return (line) => {
    const text = JSON.stringify(line).toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}

/** No two lines of one connection have the same time and words. */
function keyOf({ time, message, sid }: AuditLine): string {
  return `${time} ${sid ?? ""} ${message}`;
}

function Row({ line }: { line: AuditLine }): View {
  const { time, message, name, principal, office } = line;
  const who = [name, principal].find((each) => typeof each === "string");
  return html`
    <small class="faint moment"><${Moment} at=${time} /></small>
    <span class="grow cut"><${Line} text=${message} /></span>
    <small class="faint cut">${who !== undefined &&
      html`<${Name} text=${String(who)} />`}${typeof office === "string" &&
      html`<span>${" · "}<${Name} text=${office} /></span>`}</small>
  `;
}

function Detail({ line: { time, message, level: _, module: _module, ...rest } }: { line: AuditLine }): View {
  return html`
    <${Heading}>
      <${Line} text=${message} />
      <//>
      <p class="who faint">
        <${Moment} at=${time} />
      </p>
      <${Facts} rows=${Object.entries(rest).map(([name, value]) => [
        name,
        html`<${Line} max=${1_000} text=${typeof value === "string" ? value : JSON.stringify(value)} />`,
      ])} />
  `;
}
