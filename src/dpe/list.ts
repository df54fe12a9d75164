/** Lists with lists inside; they read the same in Markdown and in plain text. */
import { isRecord } from "../protocol/errors.ts";
import { toPlainText } from "./plain_text.ts";

/** The items of a list, and whether they are numbered. */
export interface List {
  readonly ordered: boolean;
  readonly items: readonly ListItem[];
}

/** An item, and the list below it. */
interface ListItem {
  readonly text: string;
  readonly list: List | undefined;
}

/** How deep lists are followed; what is deeper is left out. Nesting without end must not exhaust the stack. */
const MAX_DEPTH = 32;

/**
 * Reads `{ ordered?, items }`. An item is a text, `{ text, ordered?, items? }`, or a list of items below the item
 * before it.
 *
 * @returns `undefined` when there is no item
 */
export function readList(content: Record<string, unknown>, depth = 0): List | undefined {
  const items = content["items"] ?? content["children"];
  if (!Array.isArray(items) || items.length === 0 || depth === MAX_DEPTH) return undefined;
  const ordered = content["ordered"] === true;
  return { ordered, items: items.map((item) => readItem(item, ordered, depth)) };
}

/** Renders each item behind its marker, and what is below it indented by the marker's width. */
export function renderList({ ordered, items }: List): string {
  const lines = items.map(({ text, list }, i) => {
    const marker = ordered ? `${i + 1}. ` : "- ";
    const below = list === undefined
      ? text
      : [text, renderList(list)].filter((part) => part !== "").join("\n");
    return marker + below.replaceAll("\n", `\n${" ".repeat(marker.length)}`);
  });
  return lines.join("\n");
}

function readItem(item: unknown, ordered: boolean, depth: number): ListItem {
  if (Array.isArray(item)) return { text: "", list: readList({ ordered, items: item }, depth + 1) };
  if (!isRecord(item)) return { text: toPlainText(item), list: undefined };
  const list = readList(item, depth + 1);
  const { text } = item;
  if (typeof text === "string") return { text, list };
  return { text: list === undefined ? toPlainText(item) : "", list };
}
