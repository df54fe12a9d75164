/** The Desktop as the Agent sees it: the windows in their order, drawn anew as they change. */
import { html } from "../kit/html.ts";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Empty, Failure } from "../kit/parts.ts";
import { useReading } from "../kit/reading.ts";
import { Line, Lines, Uri, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.sees;

export function Desktop(): View {
  const { value, error } = useReading<{ desktops: readonly string[]; warning?: string }>("desktop", {
    on: ["desktop"],
  });
  const windows = value?.desktops ?? [];
  return html`<div class="scroll"><${Failure} text=${error} />
    ${value !== undefined && html`<p class="faint">${T.windows(windows.length)}</p>`}
    ${
    value?.warning !== undefined && html`
      <p class="hint">
        <${Line} text=${value.warning} max=${600} />
      </p>
    `
  }
    ${value !== undefined && windows.length === 0 && html`<${Empty} title=${T.noWindows} />`}
    <ol class="windows">${
    windows.map((text) => {
      const cut = text.indexOf("\n\n");
      const uri = cut < 0 ? text : text.slice(0, cut);
      return html`<${Window} key=${uri} uri=${uri} text=${cut < 0 ? "" : text.slice(cut + 2)} />`;
    })
  }</ol></div>`;
}

/** The characters of a window that are shown at first. */
const FIRST_LENGTH = 1_500;

/** Drawn anew only when its text is another one; a change is marked for a moment. */
function Window({ uri, text }: { uri: string; text: string }): View {
  const ref = useRef<HTMLLIElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) ref.current?.animate({ borderColor: ["var(--accent)", "var(--line)"] }, 900);
    isFirst.current = false;
  }, [text]);
  return useMemo(() =>
    html`<li class="card window" ref=${ref}><h2><${Uri} text=${uri} /></h2>
    ${
      text === ""
        ? html`<p class="faint">${T.emptyWindow}</p>`
        : html`<${Lines} text=${text} first=${FIRST_LENGTH} of=${uri} />`
    }</li>`, [uri, text]);
}
