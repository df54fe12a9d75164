/** What the Server tells its operator, and what the screens of its page share. */
import { useEffect } from "preact/hooks";
import { html } from "../kit/html.ts";
import { Name, type View } from "../kit/words.ts";
import { texts } from "../texts.ts";

const T = texts.operator;

export interface RateSample {
  readonly at: string;
  readonly calls_per_s: number;
  readonly p50_ms?: number;
  readonly p95_ms?: number;
  readonly refusals: Readonly<Record<string, number>>;
}

export interface Overview {
  readonly url: string;
  readonly version: string;
  readonly ready: boolean;
  readonly unready: string | null;
  readonly uptime_s: number;
  /** Whether other processes serve its offices as well. */
  readonly shared: boolean;
  /** Whether it serves MCP clients, too. */
  readonly hub: boolean;
  readonly members: Readonly<Record<string, number>>;
  readonly offices: number;
  readonly memory: {
    readonly rss: number;
    readonly message_bytes: number;
    readonly max_message_bytes: number;
  };
  readonly last15m: readonly RateSample[];
  readonly options: readonly {
    readonly name: string;
    readonly value: string;
    readonly default: string | null;
  }[];
}

/** Calls a function now and then, while the component is shown. */
export function useEvery(intervalMs: number, work: () => void, key?: string): void {
  useEffect(() => {
    work();
    const timer = setInterval(() => !document.hidden && work(), intervalMs);
    return () => clearInterval(timer);
  }, [key]);
}

interface TableProps {
  readonly label: string;
  readonly head: readonly string[];
  /** The cells of each row, with its key. */
  readonly rows: readonly (readonly [key: string, cells: readonly View[]])[];
  readonly empty: string;
}

/** A table that scrolls sideways where it has no room. */
export function Table({ label, head, rows, empty }: TableProps): View {
  if (rows.length === 0) return html`<p class="faint">${empty}</p>`;
  return html`
    <div class="table" role="region" aria-label=${label} tabindex="0">
      <table>
        <thead>
          <tr>${head.map((title) =>
            title === "" ? html`<td />` : html`<th scope="col" key=${title}>${title}</th>`
          )}</tr>
        </thead>
        <tbody>${rows.map(([key, cells]) =>
          html`<tr key=${key}>${cells.map((cell, index) => html`<td key=${index}>${cell}</td>`)}</tr>`
        )}</tbody>
      </table>
    </div>
  `;
}

/** Names in a row; all where there are none. */
export function Names({ names, otherwise = T.allOffices }: {
  names: readonly string[] | null;
  otherwise?: string;
}): View {
  if (names === null) return html`<span class="faint">${otherwise}</span>`;
  return html`<span>${
    names.map((name, index) => html`<span key=${name}>${index > 0 && ", "}<${Name} text=${name} /></span>`)
  }</span>`;
}
