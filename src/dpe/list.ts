/** Reads and renders nested lists, for Markdown and plain text. */
import { isRecord } from "../json/json.ts";
import type { ListContent, ListItem } from "../protocol/dpe_content.ts";
import { booleanOf, type Members, withMembers } from "./members.ts";
import { toPlainText } from "./plain_text.ts";

/** The most levels of nested lists; deeper lists are left out, so that they cannot exhaust the stack. */
const MAX_DEPTH = 32;
/** The largest number that Markdown accepts before an item. */
const MAX_NUMBER = 999_999_999;

/**
 * Reads `{ ordered?, start?, items }`. An item is a text, `{ text, ordered?, start?, items? }`, or a list of items
 * below the item before it. `children` is an alias of `items`.
 *
 * @returns `undefined` when the list has no items
 */
export function readList(content: Members, depth = 0): ListContent | undefined {
  const items = content["items"] ?? content["children"];
  if (!Array.isArray(items) || items.length === 0 || depth === MAX_DEPTH) return undefined;
  const ordered = booleanOf(content["ordered"]);
  const { children: _, ...rest } = content;
  return withMembers(rest, {
    ordered,
    start: startOf(content["start"]),
    items: items.map((item) => readItem(item, { ordered, depth })),
  });
}

function startOf(value: unknown): number | undefined {
  const isStart = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_NUMBER;
  return isStart ? value : undefined;
}

function readItem(
  item: unknown,
  { ordered, depth }: { readonly ordered: boolean | undefined; readonly depth: number },
): ListItem {
  if (Array.isArray(item)) {
    const below = readList({ ordered, items: item }, depth + 1);
    return below === undefined ? "" : { text: "", ...below };
  }
  if (!isRecord(item)) return toPlainText(item);
  const below = readList(item, depth + 1);
  const text = typeof item["text"] === "string" ? item["text"] : undefined;
  if (below === undefined) return text ?? toPlainText(item);
  return { ...below, text: text ?? "" };
}

/** Renders each item after its marker, and its list indented by the width of the marker. */
export function renderList(list: ListContent, renderText: (text: string) => string): string {
  const { ordered = false, start = 1 } = list;
  const lines = list.items.map((item, i) => {
    const marker = ordered ? `${Math.min(start + i, MAX_NUMBER)}. ` : "- ";
    const body = renderItem(item, renderText);
    // Empty lines are not indented.
    return `${marker}${body.replace(/\n(?=[^\n])/g, `\n${" ".repeat(marker.length)}`)}`.trimEnd();
  });
  return lines.join("\n");
}

function renderItem(item: ListItem, renderText: (text: string) => string): string {
  if (typeof item === "string") return renderText(item);
  const { text, items } = item;
  const parts = [renderText(text)];
  if (items !== undefined) parts.push(renderList({ ...item, items }, renderText));
  return parts.filter((part) => part !== "").join("\n");
}
