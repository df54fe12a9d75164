/** A list to choose from, of any length: only the rows in view are in the page. */
import { html } from "./html.ts";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { View } from "./words.ts";

const ROW_HEIGHT = 44;
/** Rows beyond the view, so that scrolling shows no gap. */
const MARGIN_ROWS = 8;

export interface ListboxProps<Item> {
  readonly label: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item) => View;
  readonly chosen: string | undefined;
  readonly onChoose: (key: string) => void;
  /** Enter, or a click: goes on to what is chosen. */
  readonly onOpen?: () => void;
  readonly rowHeight?: number;
}

/** Rows that stay in view where several lists share a column. */
const LEAST_ROWS = 3;

/** The height of the line above the first row. */
const BORDER = 1;

/** How many rows the keys move. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  j: 1,
  k: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
};

export function Listbox<Item>(props: ListboxProps<Item>): View {
  const { label, items, keyOf, row, chosen, onChoose, onOpen, rowHeight = ROW_HEIGHT } = props;
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const index = items.findIndex((item) => keyOf(item) === chosen);
  const look = () => {
    const { scrollTop: top = 0, clientHeight: height = 800 } = ref.current ?? {};
    setView((last) => last.top === top && last.height === height ? last : { top, height });
  };
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look);
    if (ref.current !== null) observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  // The chosen row comes into view when it is chosen, and not whenever the list changes.
  useLayoutEffect(() => {
    const { current: list } = ref;
    if (list === null || index < 0) return;
    const top = index * rowHeight;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + rowHeight > list.scrollTop + list.clientHeight) {
      list.scrollTop = top + rowHeight - list.clientHeight;
    }
    look();
  }, [chosen]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (event.key === "Enter") onOpen?.();
    if (step === undefined || items.length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = items[Math.min(items.length - 1, Math.max(0, (index < 0 && step > 0 ? -1 : index) + step))];
    if (next !== undefined) onChoose(keyOf(next));
  };
  const from = Math.max(0, Math.floor(view.top / rowHeight) - MARGIN_ROWS);
  const to = Math.ceil((view.top + view.height) / rowHeight) + MARGIN_ROWS;
  const isChosenShown = index >= from && index < to;
  const idOf = (at: number) => `${label.replaceAll(/\W+/g, "-")}-${at}`;
  return html`
    <div class="listbox" role="listbox" aria-label=${label} tabindex="0" ref=${ref} onScroll=${look}
      onKeyDown=${onKeyDown} aria-activedescendant=${isChosenShown ? idOf(index) : undefined}
      style=${{
        flexBasis: `${items.length * rowHeight + BORDER}px`,
        minHeight: `${Math.min(items.length, LEAST_ROWS) * rowHeight + BORDER}px`,
      }}>
      <div role="presentation" style=${{ height: `${items.length * rowHeight}px` }}>
          ${items.slice(from, to).map((item, at) => {
            const key = keyOf(item);
            const choose = () => {
              onChoose(key);
              onOpen?.();
            };
            return html`
              <div role="option" class="option" key=${key} id=${idOf(from + at)} onClick=${choose}
                aria-selected=${key === chosen} aria-setsize=${items.length} aria-posinset=${from + at + 1}
                style=${{
                  height: `${rowHeight}px`,
                  transform: `translateY(${(from + at) * rowHeight}px)`,
                }}>${row(item)}</div>
            `;
          })}
        </div>
    </div>
  `;
}
