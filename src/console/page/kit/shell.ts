/** What is around every screen: navigation, banners, what is announced, the tab, and the focus. */
import { effect, type ReadonlySignal } from "@preact/signals";
import { html } from "./html.ts";
import { useEffect, useState } from "preact/hooks";
import { texts } from "../texts.ts";
import { connection, follow, takeToken } from "./client.ts";
import { inputOf } from "./form.ts";
import { Button, Dialog, goTo, linkTo, notice, say } from "./parts.ts";
import { route, startRouting } from "./route.ts";
import { nameText, type View } from "./words.ts";

export interface Screen {
  readonly id: string;
  readonly title: string;
  /** The title where there is little room. */
  readonly short?: string;
  readonly view: () => View;
  /** How much waits there. */
  readonly count?: () => number;
}

interface ShellProps {
  readonly screens: readonly Screen[];
  /** The program: its name and how it is connected. */
  readonly head: View;
  readonly actions?: View;
  readonly banner?: View;
  /** What is shown when the program refuses this page; how to get a new link by default. */
  readonly refused?: View;
  /** What keys do besides choosing a screen. */
  readonly keys?: typeof texts.help.keys;
}

export function Shell({ screens, head, actions, banner, refused, keys }: ShellProps): View {
  const [isHelping, setHelping] = useState(false);
  const chosen = screens.find(({ id }) => id === route.value[0]) ?? screens[0];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => onShortcut(event, { screens, help: () => setHelping(true) });
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [screens]);
  if (connection.value === "refused") return refused ?? html`<${Refused} ...${texts.refused} />`;
  return html`
    <a class="skip" href="#main" onClick=${(event: Event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    }}>${texts.skip}</a>
    <header class="top">${head}<div class="grow"></div>${actions}
          <${Button} kind="quiet" label=${texts.help.title} onPress=${() => setHelping(true)}>?<//></header>
        <nav class="side" aria-label=${texts.screens}>
          ${screens.map(({ id, title, short = title, count = () => 0 }, index) =>
            html`<a key=${id} href=${linkTo(id)} aria-current=${
              id === chosen?.id ? "page" : undefined
            } aria-keyshortcuts=${index + 1}>
        <span class="wide-only">${title}</span><span class="narrow-only">${short}</span>${
              count() > 0 && html`<b class="count">${count()}</b>`
            }<kbd aria-hidden="true">${index + 1}</kbd></a>`
          )}
        </nav>
        <main id="main" tabindex="-1" aria-labelledby="title">
          <h1 id="title" class="unseen">${chosen?.title}</h1>
          ${connection.value === "lost" && html`<p class="banner bad" role="alert">${texts.lost}</p>`}
          ${banner}
          ${chosen !== undefined && html`<${chosen.view} key=${chosen.id} />`}
        </main>
        ${notice.value !== undefined &&
          html`<p class="notice ${notice.value.isAlarm ? "bad" : ""}">${notice.value.text}</p>`}
        <p class="unseen" role="status">${notice.value?.isAlarm === false ? notice.value.text : ""}</p>
        <p class="unseen" role="alert">${notice.value?.isAlarm ? notice.value.text : ""}</p>
        ${isHelping && html`<${Help} screens=${screens} keys=${keys} onClose=${() => setHelping(false)} />`}
  `;
}

/** The program does not know this page: it has started anew, or the page was opened without its link. */
export function Refused({ text, command }: { text: string; command: string }): View {
  const [link, setLink] = useState("");
  const enter = () => {
    if (!takeToken(link)) return say(texts.refused.notALink, { isAlarm: true });
    location.reload();
  };
  return html`
    <main class="refused">
      <h1>${texts.refused.title}</h1>
      <p>${text}</p>
      <pre>${command}</pre>
      <label class="field"><span>${texts.refused.link}</span>
          <input type="password" autocomplete="off" value=${link} onInput=${inputOf(setLink)} /></label>
      <${Button} kind="primary" onPress=${enter}>${texts.refused.open}<//>
        <p role="alert">${notice.value?.text}</p></main>
  `;
}

function Help(
  { screens, onClose, keys = texts.help.keys }: Pick<ShellProps, "screens" | "keys"> & {
    onClose: () => void;
  },
): View {
  const rows = [...screens.map(({ title }, index) => [`${index + 1}`, title] as const), ...keys];
  return html`
    <${Dialog} title=${texts.help.title} onClose=${onClose}>
      <dl class="keys">${rows.map(([keys, what]) =>
        html`
          <div key=${keys}>
            <dt><kbd>${keys}</kbd></dt>
            <dd>${what}</dd>
          </div>
        `
      )}</dl>
      <//>
  `;
}

/** Keys of one letter, unless somebody types a text. A button with `aria-keyshortcuts` is pressed by its key. */
function onShortcut(
  event: KeyboardEvent,
  { screens, help }: { screens: readonly Screen[]; help: () => void },
): void {
  const { target, key } = event;
  const isTyping = target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const screen = screens[Number(key) - 1];
  const button = [...document.querySelectorAll<HTMLElement>("button[aria-keyshortcuts]")]
    .find((each) => each.getAttribute("aria-keyshortcuts")?.toLowerCase() === key.toLowerCase());
  if (screen !== undefined) goTo([screen.id]);
  else if (key === "?") help();
  else if (key === "/") document.querySelector<HTMLElement>("[data-search]")?.focus();
  else if (button !== undefined) button.click();
  else return;
  event.preventDefault();
}

/** When the focused element leaves the page, the part of the page that it was in gets the focus. */
function keepFocus(): void {
  let path: Element[] = [];
  addEventListener("focusin", ({ target }) => {
    path = [];
    for (let at = target as Element | null; at !== null; at = at.parentElement) path.push(at);
  });
  new MutationObserver(() => {
    const [focused] = path;
    if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return;
    const place = path.find((each) =>
      each.isConnected && each !== document.body && each !== document.documentElement
    );
    const heading = place?.querySelector<HTMLElement>("h2[tabindex]") ?? document.getElementById("main");
    path = [];
    heading?.focus();
  }).observe(document.body, { childList: true, subtree: true });
}

/** Shows in the tab how much waits: its title, and a badge on its icon. */
function showCount({ name, count }: PageOptions): void {
  const icon = document.querySelector<HTMLLinkElement>("link[rel~=icon]") ?? document.createElement("link");
  icon.rel = "icon";
  document.head.append(icon);
  effect(() => {
    const waiting = count.value > 0 ? `(${count}) ` : "";
    document.title = `${waiting}${name.value === "" ? "" : `${nameText(name.value)} · `}${texts.product}`;
    icon.href = `data:image/svg+xml,${encodeURIComponent(iconOf(count.value, connection.value === "lost"))}`;
  });
}

function iconOf(count: number, isLost: boolean): string {
  const badge = count === 0
    ? ""
    : `<circle cx="23" cy="9" r="9" fill="#d97706"/><text x="23" y="13.5" font-size="13" font-weight="700" font-family="sans-serif" ` +
      `text-anchor="middle" fill="#fff">${count > 9 ? "9+" : count}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${
    isLost ? "#8a8f98" : "#4f6bed"
  }"/><path d="M7 11l6 5-6 5M15 22h10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" stroke-linejoin="round"/>${badge}</svg>`;
}

export interface PageOptions {
  /** The name of the program. */
  readonly name: ReadonlySignal<string>;
  /** How much waits for a person. */
  readonly count: ReadonlySignal<number>;
}

/** Starts a page: the token moves out of the address, and events are followed. */
export function startPage(options: PageOptions): void {
  if (takeToken(location.href)) history.replaceState(null, "", linkTo());
  startRouting();
  keepFocus();
  showCount(options);
  void follow();
}
