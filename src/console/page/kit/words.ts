/** What a page draws: templates, which make text a text node, and texts of others with all characters visible, within bounds. */
import htm from "htm";
import { h, type VNode } from "preact";
import { useState } from "preact/hooks";
import { escapeUnreadable, toBareLine, toSeenName, toSeenParts, toSeenUri } from "../../../text/safe_text.ts";
import { shorten } from "../../../text/text.ts";
import { texts } from "../texts.ts";

type Template = [strings: TemplateStringsArray, ...values: unknown[]];

// The types of htm describe its module for CommonJS.
const templates = htm as unknown as { bind(create: typeof h): (...template: Template) => VNode };

/** `html\`<p>${text}</p>\`` makes text a text node, whoever wrote it. */
export const html = templates.bind(h);

export type View = VNode | readonly View[] | string | number | null | false | undefined;

const PLAIN_NAME = /^[\w.:/@+-]{1,128}$/;
const MAX_URI_LENGTH = 2_000;
/** The characters of a long text that are shown at first, and with each further step. */
const FIRST_LENGTH = 4_000;
const STEP_LENGTH = 65_536;

/** A name: plain, or in quotes with escapes. */
export function nameText(name: string): string {
  return PLAIN_NAME.test(name) ? name : toSeenName(name);
}

/** A name, where there is one; it cannot reorder the text beside it. */
export function nameOf(text: string | null | undefined): View {
  return typeof text === "string" &&
    html`<bdi class="name" title=${nameText(text)}>${nameText(text)}</bdi>`;
}

/** A line that is read, such as a title or an error. */
export function lineOf(text: string, max = 300): View {
  return html`<bdi>${toBareLine(text, max)}</bdi>`;
}

export function uriOf(text: string): View {
  return html`<bdi class="mono">${toSeenUri(shorten(text, MAX_URI_LENGTH))}</bdi>`;
}

/** A paragraph of somebody else, with its line breaks. */
export function proseOf(text: string, max = 2_000): View {
  return html`<p class="prose" dir="auto">${escapeUnreadable(shorten(text, max).trim())}</p>`;
}

/** What went wrong, where something did. */
export function failureOf(text: string | undefined): View {
  return text && html`<p class="failure" role="alert">${lineOf(text, 2_000)}</p>`;
}

/** A long text of any lines, with marked escapes, which shows the rest on demand; `of` names it for a screen reader. */
export function linesOf(text: string, { first = FIRST_LENGTH, of = "" } = {}): View {
  return html`<${Lines} text=${text} first=${first} of=${of} />`;
}

function Lines({ text, first, of }: { text: string; first: number; of: string }): View {
  const [length, setLength] = useState(first);
  const what = texts.showMore(text.length - length);
  const more = html`<button class="quiet" aria-label="${what} ${toBareLine(of, 128)}" onClick=${() =>
    setLength(length + STEP_LENGTH)}>${what}</button>`;
  return html`<div class="lines"><pre dir="ltr">${toSeenParts(text.slice(0, length)).map(escaped)}</pre>${
    text.length > length && more
  }</div>`;
}

function escaped({ text, isEscape }: { readonly text: string; readonly isEscape: boolean }): View {
  return isEscape ? html`<span class="escape">${text}</span>` : text;
}

/** The members of an object, each value in full: texts with their line breaks, anything else as JSON. */
export function membersOf(value: Readonly<Record<string, unknown>>, label: string): View {
  const members = Object.entries(value);
  if (members.length === 0) return html`<p class="faint">${texts.noArguments}</p>`;
  return html`<dl class="members" aria-label=${label}>${members.map(memberOf)}</dl>`;
}

function memberOf([name, value]: readonly [string, unknown]): View {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const lines = linesOf(text, { first: STEP_LENGTH, of: nameText(name) });
  const title = html`<dt>${nameOf(name)}<span class="faint kind">${kindOf(value)}</span></dt>`;
  return html`<div key=${name}>${title}<dd>${lines}</dd></div>`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === "") return texts.emptyText;
  const { kinds }: { readonly kinds: Readonly<Record<string, string>> } = texts;
  return kinds[Array.isArray(value) ? "list" : typeof value] ?? "";
}

/** A picture that is in the text itself; others are never fetched. */
export function pictureOf(type: unknown, base64: unknown, label: string = texts.picture): View {
  const isPicture = /^image\/(?:png|jpeg|gif|webp)$/.test(String(type)) && typeof base64 === "string";
  return isPicture && html`<img src=${`data:${type};base64,${base64}`} alt=${toBareLine(label, 200)} />`;
}
