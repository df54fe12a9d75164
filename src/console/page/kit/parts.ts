/** Small parts of every screen. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { toBareLine } from "../../../text/safe_text.ts";
import { texts } from "../texts.ts";
import { type Asked, connection, messageOf, run } from "./client.ts";
import { linkTo } from "./route.ts";
import { html, nameText, type View } from "./words.ts";

/** What was done or went wrong last; a screen reader reads it. */
export const notice = signal<{ readonly text: string; readonly isAlarm: boolean } | undefined>(undefined);
let noticeTimer: number | undefined;

export function say(text: string, { isAlarm = false } = {}): void {
  clearTimeout(noticeTimer);
  notice.value = { text: toBareLine(text), isAlarm };
  noticeTimer = setTimeout(() => notice.value = undefined, isAlarm ? 12_000 : 5_000);
}

export interface ButtonProps {
  readonly onPress: () => unknown;
  readonly children: View;
  readonly kind?: "primary" | "danger" | "quiet" | undefined;
  /** Shown beside the label, and announced as the shortcut. */
  readonly keys?: string;
  readonly isOff?: boolean;
  /** Enter in a field of one line of the form presses it. */
  readonly isSubmit?: boolean;
  /** It asks nothing of the program, and can be pressed without it. */
  readonly isLocal?: boolean;
  readonly label?: string;
}

/** A button that is busy until what it does is done, keeps the focus meanwhile, and tells what went wrong. */
export function Button({ onPress, children, kind, keys, label, ...when }: ButtonProps): View {
  const isOff = when.isOff === true || !when.isLocal && connection.value === "lost";
  const [isBusy, setBusy] = useState(false);
  const press = async () => {
    if (isBusy || isOff) return;
    setBusy(true);
    try {
      await onPress();
    } catch (error) {
      say(messageOf(error), { isAlarm: true });
    }
    setBusy(false);
  };
  return html`
    <button type=${when.isSubmit === true ? "submit" : "button"} class=${kind ??
      ""} aria-label=${label} aria-keyshortcuts=${keys}
      aria-disabled=${isOff || isBusy} aria-busy=${isBusy} onClick=${press}>
      ${children}${keys !== undefined && html`<kbd aria-hidden="true">${keys}</kbd>`}</button>
  `;
}

/** A command that a person runs. */
export interface Deed extends Pick<Asked, "options"> {
  readonly path: keyof typeof texts.deeds;
  /** Its arguments. */
  readonly of?: readonly string[];
  /** What it is about, in the words of a person; by default the name that the command answers, or the first argument. */
  readonly name?: string;
}

/** Runs a command, and tells what was done. */
export async function perform({ path, of = [], name: given, options }: Deed): Promise<void> {
  const value = await run<{ status?: string; name?: string } | null>(path, { arguments: of, options });
  const name = given ?? value?.name ?? of[0] ?? "";
  say(texts.deeds[path].done(name && nameText(name), value?.status ?? ""));
}

/** A button that runs a command. */
export function Do(
  { label, kind, keys, isOff, ...deed }: Deed & Omit<ButtonProps, "onPress" | "children">,
): View {
  const press = () => perform(deed);
  const words = label ?? texts.deeds[deed.path].label;
  return html`<${Button} kind=${kind} keys=${keys} isOff=${isOff} onPress=${press}>${words}<//>`;
}

/** A state in a word, with a dot of its color. */
export function stateOf(kind: "good" | "busy" | "bad" | "off", ...words: readonly View[]): View {
  return html`<span class="state ${kind}">${words}</span>`;
}

/** Facts with their names; those that are not known are left out. */
export function factsOf(rows: readonly (readonly [string, View])[]): View {
  const known = rows.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return html`<dl class="facts">${
    known.map(([name, value]) =>
      html`
        <div key=${name}>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>
      `
    )
  }</dl>`;
}

export function Tabs({ label, tabs, path, chosen }: {
  label: string;
  tabs: Readonly<Record<string, string>>;
  path: readonly string[];
  chosen: string;
}): View {
  const tabOf = ([id, title]: [string, string]) =>
    html`<a key=${id} href=${linkTo(...path, id)} aria-current=${
      id === chosen ? "page" : undefined
    }>${title}</a>`;
  return html`<nav class="tabs" aria-label=${label}>${Object.entries(tabs).map(tabOf)}</nav>`;
}

export function Search({ label, value, onInput, onEnter }: {
  label: string;
  value: string;
  onInput: (text: string) => void;
  onEnter?: () => void;
}): View {
  return html`
    <input type="search" data-search aria-label=${label} placeholder=${label} value=${value}
      onKeyDown=${({ key }: KeyboardEvent) => key === "Enter" && onEnter?.()}
      onInput=${(event: InputEvent) => onInput((event.target as HTMLInputElement).value)} />
  `;
}

/** Goes through pages, which count from 1. */
export function Pager({ page, pages, onPage }: {
  page: number;
  pages: number;
  onPage: (page: number) => void;
}): View {
  return html`<p class="pager"><span>${texts.page(page, pages)}</span>
    <${Button} isOff=${page <= 1} onPress=${() => onPage(page - 1)}>${texts.previousPage}<//>
    <${Button} isOff=${page >= pages} onPress=${() => onPage(page + 1)}>${texts.nextPage}<//></p>`;
}

interface TableProps {
  readonly label: string;
  readonly head: readonly View[];
  /** The cells of each row, with its key. */
  readonly rows: readonly (readonly [key: string, cells: readonly View[]])[];
  readonly empty?: string;
  readonly isStacked?: boolean;
}

/** A table that scrolls sideways where it has no room; with `isStacked`, each row is a card there. */
export function Table({ label, head, rows, empty, isStacked }: TableProps): View {
  if (rows.length === 0 && empty !== undefined) return html`<p class="faint">${empty}</p>`;
  const titleOf = (title: View) => title === "" ? html`<td />` : html`<th scope="col">${title}</th>`;
  const cellOf = (cell: View, at: number) =>
    html`<td data-title=${isStacked ? head[at] : undefined}>${cell}</td>`;
  return html`
    <div class="table ${isStacked ? "stacked" : ""}" role="region" aria-label=${label} tabindex="0">
      <table>
        <thead>
          <tr>${head.map(titleOf)}</tr>
        </thead>
        <tbody>${rows.map(([key, cells]) => html`<tr key=${key}>${cells.map(cellOf)}</tr>`)}</tbody>
      </table>
    </div>
  `;
}

/** A dialog over the page, closed by Escape. */
export function Dialog(
  { title, onClose, children }: { title: string; onClose: () => void; children: View },
): View {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return html`<dialog ref=${ref} aria-label=${title} onClose=${onClose}>
    <h2>${title}</h2>${children}
    <form method="dialog"><button>${texts.close}</button></form>
  </dialog>`;
}

/** Gives a file of this page to the person. */
export function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
