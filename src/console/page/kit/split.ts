/** Lists to choose from, of any length, and what is chosen: the frame of every screen that has a list. */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { texts } from "../texts.ts";
import { Button, saveFile, Search } from "./parts.ts";
import { goTo, linkTo, route } from "./route.ts";
import { failureOf, html, type View } from "./words.ts";

/** What a row shows: its title, what is below it, and what stands at its end. */
export type Row = readonly [title: View, about: View, end?: View];

export interface List<Item> {
  readonly title: string;
  readonly items: readonly Item[];
  readonly keyOf: (item: Item) => string;
  readonly row: (item: Item) => Row;
  /** What is said instead of an empty list; a list without it is left out. */
  readonly none?: View;
  /** How many there are, where these are a part of them. */
  readonly all?: number | undefined;
}

interface SplitProps<Item> {
  /** The address of the screen; the key of what is chosen follows it. */
  readonly path: readonly string[];
  /** The search is in the first one. */
  readonly lists: readonly List<Item>[];
  readonly detail: (item: Item) => View;
  /** What is shown while the address names nothing that is there; the first one by default, `null` for none. */
  readonly first?: Item | null | undefined;
  /** The label of the field that searches in all that an item has. */
  readonly search?: string;
  /** Searches elsewhere, in place of here. */
  readonly onSearch?: (words: string) => void;
  /** The file in which what is found can be saved, a line of JSON each. */
  readonly file?: string;
  readonly tools?: View;
  readonly error?: string | undefined;
  /** What is shown where nothing can be chosen. */
  readonly otherwise?: View;
}

export function Split<Item>(props: SplitProps<Item>): View {
  const { path, lists: [list, ...others], detail, search, onSearch, file, tools, error, otherwise } = props;
  const [words, setWords] = useState("");
  const all = list?.items ?? [];
  const items = useMemo(() => all.filter(matching(onSearch ? "" : words)), [all, words]);
  const lists = list === undefined ? [] : [{ ...list, items, all: list.all ?? all.length }, ...others];
  const { [path.length]: key } = route.value;
  const pairs = props.lists.flatMap(({ items, keyOf }) => items.map((item) => ({ item, keyOf })));
  const { first = items[0] ?? pairs[0]?.item } = props;
  const chosen = pairs.find(({ item, keyOf }) => keyOf(item) === key)?.item ?? first ?? undefined;
  const save = () => saveFile(file ?? "", items.map((item) => `${JSON.stringify(item)}\n`).join(""));
  const onInput = (text: string) => {
    setWords(text);
    onSearch?.(text);
  };
  const titledOf = (each: List<Item>) => {
    const none = words === "" ? each.none : texts.noMatch;
    const count = texts.part(each.items.length, each.all ?? each.items.length);
    const box = html`<${Listbox} ...${each} chosen=${chosen} path=${path} />`;
    return (each.items.length > 0 || none) && html`<h2>${each.title} <span class="count">${count}</span></h2>
      ${each.items.length === 0 ? html`<div class="empty">${none}</div>` : box}`;
  };
  return html`
    <div class="split ${key === undefined ? "" : "chosen"}">
      <div class="list">
        ${search !== undefined && html`<div class="tools">
          <${Search} label=${search} value=${words} onEnter=${() =>
          pressInList("Enter")} onInput=${onInput} />
          ${tools}${file !== undefined && html`<${Button} isLocal onPress=${save}>${texts.save}<//>`}</div>`}
        ${failureOf(error)}${lists.map(titledOf)}
      </div>
      <section class="detail" aria-label=${texts.detail}>
        ${key !== undefined && html`<a class="back" href=${linkTo(...path)}>‹ ${texts.back}</a>`}
        ${chosen === undefined ? otherwise : detail(chosen)}
      </section>
    </div>
  `;
}

/** Whether all words are somewhere in what an item has. */
export function matching(words: string): (item: unknown) => boolean {
  const wanted = words.toLowerCase().split(/\s+/);
  return (item) => {
    const text = words === "" ? "" : JSON.stringify(Object.values(Object(item))).toLowerCase();
    return wanted.every((word) => text.includes(word));
  };
}

const ROW_HEIGHT = 52;
/** Rows beyond the view, so that scrolling shows no gap. */
const MARGIN_ROWS = 8;
/** Rows that stay in view where several lists share a column. */
const LEAST_ROWS = 3;

/** How many rows the keys move. */
const STEPS: Readonly<Record<string, number>> = {
  ...{ ArrowDown: 1, j: 1, PageDown: 10, End: Infinity },
  ...{ ArrowUp: -1, k: -1, PageUp: -10, Home: -Infinity },
};

/** Presses a key of lists in the list of what is chosen, which gets the focus; tells whether it is one, and a list is there. */
export function pressInList(key: string): boolean {
  const list = document.querySelector<HTMLElement>(".listbox[data-chosen=true]") ??
    document.querySelector<HTMLElement>(".listbox");
  if (list === null || key !== "Enter" && STEPS[key] === undefined) return false;
  list.focus();
  list.dispatchEvent(new KeyboardEvent("keydown", { key }));
  return true;
}

interface ListboxProps<Item> extends List<Item> {
  readonly path: readonly string[];
  readonly chosen: Item | undefined;
}

/** Only the rows in view are in the page. */
function Listbox<Item>({ path, title, items, keyOf, row, chosen }: ListboxProps<Item>): View {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const chosenKey = chosen && keyOf(chosen);
  const index = items.findIndex((item) => keyOf(item) === chosenKey);
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
    const top = index * ROW_HEIGHT;
    list.scrollTop = Math.min(top, Math.max(list.scrollTop, top + ROW_HEIGHT - list.clientHeight));
    look();
  }, [chosenKey]);
  const choose = (item: Item) => goTo([...path, keyOf(item)], { isStep: false });
  const open = (item: Item) => {
    choose(item);
    requestAnimationFrame(() => document.getElementById("detail")?.focus());
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (event.key === "Enter" && items[index] !== undefined) open(items[index]);
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const at = (index < 0 && step > 0 ? -1 : index) + step;
    const next = items[Math.min(items.length - 1, Math.max(0, at))];
    if (next !== undefined) choose(next);
  };
  const from = Math.max(0, Math.floor(view.top / ROW_HEIGHT) - MARGIN_ROWS);
  const to = Math.ceil((view.top + view.height) / ROW_HEIGHT) + MARGIN_ROWS;
  const idOf = (at: number) => `${title.replaceAll(/\W+/g, "-")}-${at}`;
  const height = `${items.length * ROW_HEIGHT}px`;
  const minHeight = `${Math.min(items.length, LEAST_ROWS) * ROW_HEIGHT}px`;
  const rowAt = (item: Item, at: number) => {
    const [top, about, end] = row(item);
    return html`
      <div role="option" class="option" key=${keyOf(item)} id=${idOf(at)} onClick=${() => open(item)}
        aria-selected=${keyOf(item) === chosenKey} aria-setsize=${items.length} aria-posinset=${at + 1}
        style=${{ top: `${at * ROW_HEIGHT}px` }}>
        <span class="stack grow"><strong>${top}</strong><small class="faint">${about}</small></span>${end}
      </div>
    `;
  };
  return html`
    <div class="listbox" role="listbox" aria-label=${title} tabindex="0" ref=${ref} onScroll=${look}
      onKeyDown=${onKeyDown} data-chosen=${index >= 0} style=${{ flexBasis: height, minHeight }}
      aria-activedescendant=${index >= from && index < to ? idOf(index) : undefined}>
      <div role="presentation" style=${{ height }}>
        ${items.slice(from, to).map((item, at) => rowAt(item, from + at))}</div>
    </div>
  `;
}

/** The heading of what is chosen, which gets the focus when the person goes there, and a line about it. */
export function headingOf(title: View, about?: View): View {
  return html`<h2 tabindex="-1" id="detail">${title}</h2>${about && html`<p class="who">${about}</p>`}`;
}
