/** Builds nested lists of items that come one after the other, each with its level. */
import type { ListItem, ListItemContent } from "../../protocol/dpe_content.ts";
import type { DocumentElement } from "../../provider/documents/source.ts";

interface OpenList {
  readonly level: number;
  readonly isOrdered: boolean;
  readonly items: (string | { text: string; ordered?: true; items: ListItem[] })[];
}

/** Collects items until {@linkcode ListBuilder.take} is called. */
export class ListBuilder {
  #open: OpenList[] = [];

  /** Adds an item. `false` when it begins another list: take the one before first. */
  add(text: string, { level, isOrdered }: { readonly level: number; readonly isOrdered: boolean }): boolean {
    while ((this.#open.at(-1)?.level ?? -1) > level && this.#open.length > 1) this.#open.pop();
    const current = this.#open.at(-1);
    if (current === undefined) this.#open.push({ level, isOrdered, items: [text] });
    else if (level > current.level) {
      this.#open.push({ level, isOrdered, items: nestedItems(current, { text, isOrdered }) });
    } else if (current.isOrdered !== isOrdered && this.#open.length === 1) return false;
    else current.items.push(text);
    return true;
  }

  /** The list so far, as an element; nothing when there is none. */
  take(): DocumentElement[] {
    const [root] = this.#open;
    this.#open = [];
    if (root === undefined) return [];
    const items = root.items as readonly ListItem[];
    return [{ category: "list", content: root.isOrdered ? { ordered: true, items } : { items } }];
  }
}

/** The items below the last one, with a first one. */
function nestedItems(
  { items }: OpenList,
  { text, isOrdered }: { readonly text: string; readonly isOrdered: boolean },
): OpenList["items"] {
  const last = items.at(-1) ?? "";
  const below: OpenList["items"] = [text];
  const parent: ListItemContent = {
    text: typeof last === "string" ? last : last.text,
    ...(isOrdered ? { ordered: true } : {}),
    items: below as readonly ListItem[],
  };
  items[items.length - 1] = parent as OpenList["items"][number];
  return below;
}
