/** Small parts of every screen. */
import { signal } from "@preact/signals";
import { html } from "./html.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "./client.ts";
import { goTo, linkTo } from "./route.ts";
import { Line, type View } from "./words.ts";
import { toBareLine } from "../../../text/safe_text.ts";
import { texts } from "../texts.ts";

/** What was done or went wrong last; a screen reader reads it. */
export const notice = signal<{ readonly text: string; readonly isAlarm: boolean } | undefined>(undefined);
let noticeTimer: number | undefined;

export function say(text: string, { isAlarm = false } = {}): void {
  clearTimeout(noticeTimer);
  notice.value = { text: toBareLine(text), isAlarm };
  noticeTimer = setTimeout(() => notice.value = undefined, isAlarm ? 12_000 : 5_000);
}

interface ButtonProps {
  readonly onPress: () => unknown;
  readonly children: View;
  readonly kind?: "primary" | "danger" | "quiet";
  /** Shown beside the label, and announced as the shortcut. */
  readonly keys?: string;
  readonly isOff?: boolean;
  readonly label?: string;
}

/** A button that is busy until what it does is done, keeps the focus meanwhile, and tells what went wrong. */
export function Button({ onPress, children, kind, keys, isOff = false, label }: ButtonProps): View {
  const [isBusy, setBusy] = useState(false);
  const press = async () => {
    if (isBusy || isOff) return;
    setBusy(true);
    try {
      await onPress();
    } catch (error) {
      say(error instanceof ApiError ? error.message : String(error), { isAlarm: true });
    }
    setBusy(false);
  };
  return html`
    <button type="button" class=${kind ?? ""} aria-label=${label} aria-keyshortcuts=${keys}
      aria-disabled=${isOff || isBusy} aria-busy=${isBusy} onClick=${press}>
        ${children}${keys !== undefined && html`<kbd aria-hidden="true">${keys}</kbd>`}
      </button>
  `;
}

/** A state in a word, with a dot of its color. */
export function State({ kind, children }: { kind: "good" | "busy" | "bad" | "off"; children: View }): View {
  return html`<span class="state ${kind}">${children}</span>`;
}

export function Empty({ title, children }: { title: string; children?: View }): View {
  return html`<div class="empty"><p><strong>${title}</strong></p>${children}</div>`;
}

export function Failure({ text }: { text: string | undefined }): View {
  return text !== undefined && html`
    <p class="failure" role="alert">
      <${Line} text=${text} max=${2_000} />
    </p>
  `;
}

export function Facts({ rows }: { rows: readonly (readonly [string, View])[] }): View {
  return html`<dl class="facts">${
    rows.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) =>
      html`
        <div key=${name}>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>
      `
    )
  }</dl>`;
}

/** A list and what is chosen in it; a narrow screen shows one of them. */
export function Split(
  { list, detail, back }: { list: View; detail: View; back?: readonly string[] | undefined },
): View {
  return html`
    <div class="split ${back === undefined ? "" : "chosen"}">
      <div class="list">${list}</div>
      <section class="detail" aria-label=${texts.detail}>
          ${back !== undefined && html`<a class="back" href=${linkTo(...back)}>‹ ${texts.back}</a>`}
          ${detail}
        </section>
    </div>
  `;
}

/** The heading of what is chosen: gets the focus when the person goes there. */
export function Heading({ children }: { children: View }): View {
  return html`<h2 tabindex="-1" id="detail">${children}</h2>`;
}

export function focusDetail(): void {
  requestAnimationFrame(() => document.getElementById("detail")?.focus());
}

export function Tabs({ label, tabs, path, chosen }: {
  label: string;
  tabs: readonly (readonly [id: string, title: string])[];
  path: readonly string[];
  chosen: string;
}): View {
  return html`<nav class="tabs" aria-label=${label}>${
    tabs.map(([id, title]) =>
      html`<a key=${id} href=${linkTo(...path, id)} aria-current=${
        id === chosen ? "page" : undefined
      }>${title}</a>`
    )
  }</nav>`;
}

export function Search(
  { label, value, onInput }: { label: string; value: string; onInput: (text: string) => void },
): View {
  return html`
    <input type="search" data-search aria-label=${label} placeholder=${label} value=${value}
      onInput=${(event: InputEvent) => onInput((event.target as HTMLInputElement).value)} />
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

export { goTo, linkTo };
