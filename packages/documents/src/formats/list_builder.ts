/** Builds nested lists of items that come one after the other, each with its level and its number. */
import type { ListContent, ListItem } from "@a2c-smcp/sdk";
import type { DocumentElement } from "@a2c-smcp/sdk/provider";

/** The most lists in each other, as many as are shown; further items stand in the last one. */
const MAX_DEPTH = 32;

export interface ListMark {
  readonly level: number;
  /** The number as its author sees it, such as `2.`, `(a)` or `Article 1`; `undefined` for a bullet. */
  readonly label?: string | undefined;
}

interface Item {
  readonly text: string;
  readonly label: string | undefined;
  readonly below: Item[];
}

interface OpenList {
  readonly level: number;
  readonly items: Item[];
}

/** Collects items until {@linkcode ListBuilder.take} is called. */
export class ListBuilder {
  #open: OpenList[] = [];

  /** Adds an item. `false` when it begins another list: take the one before first. */
  add(text: string, { level, label }: ListMark): boolean {
    while ((this.#open.at(-1)?.level ?? -1) > level && this.#open.length > 1) this.#open.pop();
    const item: Item = { text, label, below: [] };
    const current = this.#open.at(-1);
    const last = current?.items.at(-1);
    if (current === undefined || last === undefined) this.#open.push({ level, items: [item] });
    // Below a level that was skipped there may be items already.
    else if (level > current.level && this.#open.length < MAX_DEPTH) {
      last.below.push(item);
      this.#open.push({ level, items: last.below });
    } else if (this.#open.length === 1 && !continues(last, item)) return false;
    else current.items.push(item);
    return true;
  }

  /** The list so far, as an element; nothing when there is none. */
  take(): DocumentElement[] {
    const [root] = this.#open;
    this.#open = [];
    return root === undefined ? [] : [{ category: "list", content: toContent(root.items) }];
  }
}

/** The number of a label that Markdown writes in the same way, or only with another sign behind it. */
export function plainNumber(label: string | undefined): number | undefined {
  const [, digits] = /^(0|[1-9]\d{0,8})[.)]?$/.exec(label ?? "") ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether two items are of one list: both have bullets, numbers of one sequence, or other labels. */
function continues(before: Item, item: Item): boolean {
  const [last, next] = [plainNumber(before.label), plainNumber(item.label)];
  if (last !== undefined || next !== undefined) return next === (last ?? NaN) + 1;
  return (before.label === undefined) === (item.label === undefined);
}

function toContent(items: readonly Item[]): ListContent {
  return listOf(
    items.map(({ text, label, below }) => [label, below[0] ? { text, ...toContent(below) } : text]),
  );
}

/** A list; items whose numbers Markdown would not write have them in their texts. */
export function listOf(items: readonly (readonly [label: string | undefined, ListItem])[]): ListContent {
  const start = plainNumber(items[0]?.[0]);
  const isOrdered = start !== undefined &&
    items.every(([label], index) => plainNumber(label) === start + index);
  return {
    ...(isOrdered ? { ordered: true } : {}),
    ...(isOrdered && start !== 1 ? { start } : {}),
    items: items.map(([label, item]) => {
      if (isOrdered || label === undefined) return item;
      const whole = `${label} ${typeof item === "string" ? item : item.text}`.trim();
      return typeof item === "string" ? whole : { ...item, text: whole };
    }),
  };
}

/** Lists as one; their numbers are in their texts when one does not continue the one before. */
export function joinLists(lists: readonly ListContent[]): ListContent {
  return listOf(
    lists.flatMap(({ ordered, start = 1, items }) =>
      items.map((item, index) => [ordered ? `${start + index}.` : undefined, item])
    ),
  );
}
