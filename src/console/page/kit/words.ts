/** Texts of others in the page: text nodes with all characters visible, and within bounds. */
import { html } from "./html.ts";
import { useState } from "preact/hooks";
import type { VNode } from "preact";
import { escapeUnreadable, toBareLine, toSeenName, toSeenParts, toSeenUri } from "../../../text/safe_text.ts";
import { shorten } from "../../../text/text.ts";
import { texts } from "../texts.ts";
import { sizeText } from "./time.ts";

export type View = VNode | VNode[] | string | null | false | undefined;

const PLAIN_NAME = /^[\w.:/@+-]{1,128}$/;
const MAX_URI_LENGTH = 2_000;
/** The characters of a long text that are shown at first, and with each further step. */
const FIRST_LENGTH = 4_000;
const STEP_LENGTH = 65_536;

/** A name: plain, or in quotes with escapes. */
export function nameText(name: string): string {
  return PLAIN_NAME.test(name) ? name : toSeenName(name);
}

/** A name, which cannot reorder the text beside it. */
export function Name({ text }: { text: string }): View {
  return html`<bdi class="name" title=${nameText(text)}>${nameText(text)}</bdi>`;
}

/** A line that is read, such as a title or an error. */
export function Line({ text, max = 300 }: { text: string; max?: number }): View {
  return html`<bdi>${toBareLine(text, max)}</bdi>`;
}

export function Uri({ text }: { text: string }): View {
  return html`<bdi class="mono">${toSeenUri(shorten(text, MAX_URI_LENGTH))}</bdi>`;
}

/** A long text of any lines, with marked escapes; shows the rest on demand. */
export function Lines(
  { text, first = FIRST_LENGTH, of = "" }: { text: string; first?: number; of?: string },
): View {
  const [length, setLength] = useState(first);
  const isCut = text.length > length;
  const more = () => setLength(length + STEP_LENGTH);
  const what = texts.showMore(sizeText(text.length - length));
  return html`<div class="lines">
    <pre dir="ltr">${toSeenParts(text.slice(0, length)).map(escaped)}</pre>
    ${
    isCut &&
    html`<button class="quiet" aria-label="${what} ${toBareLine(of, 128)}" onClick=${more}>${what}</button>`
  }
  </div>`;
}

function escaped({ text, isEscape }: { readonly text: string; readonly isEscape: boolean }): View {
  return isEscape ? html`<span class="escape">${text}</span>` as VNode : text;
}

/** A paragraph of somebody else, with its line breaks. */
export function Prose({ text, max = 2_000 }: { text: string; max?: number }): View {
  return html`<p class="prose" dir="auto">${escapeUnreadable(shorten(text, max).trim())}</p>`;
}

/** The members of an object, each value in full: texts with their line breaks, anything else as JSON. */
export function Members({ value, label }: { value: Readonly<Record<string, unknown>>; label: string }): View {
  const members = Object.entries(value);
  if (members.length === 0) return html`<p class="faint">${texts.noArguments}</p>`;
  return html`<dl class="members" aria-label=${label}>
    ${
    members.map(([name, each]) =>
      html`
        <div key=${name}>
          <dt><${Name} text=${name} /><span class="faint kind">${kindOf(each)}</span></dt>
          <dd>
            <${Lines} of=${nameText(name)} text=${typeof each === "string"
              ? each
              : JSON.stringify(each, null, 2)} first=${STEP_LENGTH} />
          </dd>
        </div>
      `
    )
  }
  </dl>`;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === "") return texts.emptyText;
  const { kinds }: { readonly kinds: Readonly<Record<string, string>> } = texts;
  return kinds[Array.isArray(value) ? "list" : typeof value] ?? "";
}

/** A picture that is in the text itself; others are never fetched. */
export function pictureOf(type: unknown, base64: unknown): string | undefined {
  const isPicture = /^image\/(?:png|jpeg|gif|webp)$/.test(String(type)) && typeof base64 === "string";
  return isPicture ? `data:${String(type)};base64,${base64}` : undefined;
}

export function Picture({ source, label = texts.picture }: { source: string; label?: string }): View {
  return html`<img src=${source} alt=${toBareLine(label, 200)} />`;
}
