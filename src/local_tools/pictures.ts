/** Pictures that tools show beside their texts, and what is said of those that they leave out. */
import { readContent } from "../dpe/content.ts";
import { escapeLabel } from "../dpe/markdown.ts";
import { summaryOf } from "../dpe/plain_text.ts";
import { type DPEElementDetail, ELEMENT_CATEGORIES, type ElementCategory } from "../protocol/dpe.ts";
import { shorten } from "../text/text.ts";
import { toSeenWord } from "../text/safe_text.ts";
import { readBase64 } from "../text/base64.ts";
import type { McpContent } from "./mcp.ts";

/** The types of pictures that models take. */
export const PICTURES: ReadonlySet<unknown> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
export const MAX_PICTURES = 8;
/** The most characters of a picture in base64: model providers take no larger ones. */
const MAX_PICTURE_CHARACTERS = 5_000_000;
const MAX_TOGETHER = 10_000_000;
/** The most pictures that are named without being shown, and the most characters of their types. */
const MAX_NAMED = 50;
const MAX_TYPE_LENGTH = 40;

/** The categories that a text shows without a placeholder. */
const AS_WRITTEN: ReadonlySet<unknown> = new Set([
  "heading",
  "text",
  "table",
  "list",
  "code",
  "link",
  "formula",
]);
/** The others: their elements are needed beside the text. */
export const SHOWN_APART: readonly ElementCategory[] = ELEMENT_CATEGORIES.filter((each) =>
  !AS_WRITTEN.has(each)
);

/** A picture, or a text that says that it is too large. */
export function toPicture(data: string, mimeType: string): McpContent {
  return data.length <= MAX_PICTURE_CHARACTERS ? { type: "image", data, mimeType } : {
    type: "text",
    text: `[A picture, ${toSeenWord(mimeType)}, of ${data.length} characters in base64 is too large to show]`,
  };
}

export interface DocumentPicture {
  readonly elementId: string;
  readonly data: string;
  readonly mimeType: string;
}

export function picturesOf(elements: readonly DPEElementDetail[]): DocumentPicture[] {
  return elements.flatMap((element) => {
    const typed = readContent(element);
    const url = typed?.category === "image" ? typed.content.url : undefined;
    const read = url !== undefined && isDataUrl(url) ? readBase64(url) : undefined;
    if (read === undefined) return [];
    return [{ elementId: element.element_id, data: read.base64, mimeType: read.mimeType ?? "image/png" }];
  });
}

export function isDataUrl(text: string): boolean {
  return /^\s*data:/i.test(text);
}

/** The pictures of documents, each under its element's id, as far as there is room; the others are named. */
export function toPictureContent(pictures: readonly DocumentPicture[]): McpContent[] {
  const content: McpContent[] = [];
  const left: string[] = [];
  let room = MAX_TOGETHER;
  let count = 0;
  for (const { elementId, data, mimeType } of pictures) {
    const id = toSeenWord(elementId);
    const isKnown = PICTURES.has(mimeType);
    if (isKnown && count < MAX_PICTURES && data.length <= room) {
      content.push(text(`Picture ${id}:`), toPicture(data, mimeType));
      room -= data.length;
      count++;
    } else {
      const type = `${toSeenWord(shorten(mimeType, MAX_TYPE_LENGTH))} cannot be shown`;
      if (left.push(isKnown ? id : `${id} (${type})`) > MAX_NAMED) break;
    }
  }
  if (left.length === 0) return content;
  const names = left.slice(0, MAX_NAMED).join(", ") + (left.length > MAX_NAMED ? " and more" : "");
  const how = 'read one with the argument "element"';
  return [...content, text(`[Pictures that are not shown: ${names}; ${how}]`)];
}

function text(value: string): McpContent {
  return { type: "text", text: value };
}

/**
 * The text of a page, in which placeholders name their elements: `[picture p3-image-1: A bridge]` in place of `[图片: A
 * bridge]`. Elements without a placeholder are named at the end.
 *
 * @param render How the text renders an element.
 */
export function withElementIds(
  rendered: string,
  elements: readonly DPEElementDetail[],
  render: (element: DPEElementDetail) => string,
): string {
  const parts: string[] = [];
  const missing: string[] = [];
  let end = 0;
  for (const element of elements) {
    // An element that the text shows may have come without its content.
    const isBare = Object.keys(element.content).length === 0;
    if (AS_WRITTEN.has(isBare ? element.category : readContent(element)?.category)) continue;
    const placeholder = render(element);
    if (placeholder.startsWith("![")) continue;
    const start = rendered.indexOf(placeholder, end);
    if (start >= 0) {
      parts.push(rendered.slice(end, start), labelOf(element));
      end = start + placeholder.length;
    } else if (missing.push(labelOf(element)) >= MAX_MISSING) break;
  }
  return [parts.join("") + rendered.slice(end), ...missing].join("\n\n");
}

const MAX_MISSING = 50;

function labelOf(element: DPEElementDetail): string {
  const typed = readContent(element);
  const { category, summary } = summaryOf(element);
  const label = (kind: string, words: string) =>
    `[${kind} ${escapeLabel(element.element_id)}${words === "" ? "" : `: ${escapeLabel(words)}`}]`;
  if (typed?.category === "image") return label("picture", typed.content.description ?? "");
  if (typed?.category !== "chart") return label(category, summary);
  return `${label("chart", typed.content.title)} ${typed.content.data_summary}`.trimEnd();
}
