/** What is around every screen: navigation, banners, what is announced, the tab, and the focus. */
import { render } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import { texts } from "../texts.ts";
import { ApiError, connection, follow, hasToken, takeToken } from "./client.ts";
import { Form, type Values } from "./form.ts";
import { Button, Dialog, factsOf, notice } from "./parts.ts";
import { goTo, linkTo, route, startRouting } from "./route.ts";
import { pressInList } from "./split.ts";
import { html, nameText, type View } from "./words.ts";

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
  /** The name of the program, which the title of the tab shows. */
  readonly name: string;
  /** The program: its name and how it is connected. */
  readonly head: View;
  readonly actions?: View;
  readonly banner?: View;
  /** What is shown when the program refuses this page. */
  readonly refused: typeof texts.refused;
  readonly keys: readonly (readonly [keys: string, what: string])[];
}

export function Shell({ screens, name, head, actions, banner, refused, keys }: ShellProps): View {
  const [isHelping, setHelping] = useState(false);
  const chosen = screens.find(({ id }) => id === route.value[0]) ?? screens[0];
  const { text = "", isAlarm = false } = notice.value ?? {};
  const help = () => setHelping(true);
  const allKeys = [
    ...screens.map(({ title }, index) => [`${index + 1}`, title] as const),
    ...keys,
    ...texts.help.keys,
  ];
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => onShortcut(event, { screens, help });
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [screens]);
  // What waits is on the first screen.
  const waiting = screens[0]?.count?.() ?? 0;
  useLayoutEffect(() => {
    const count = waiting > 0 ? `(${waiting}) ` : "";
    document.title = `${count}${name === "" ? "" : `${nameText(name)} · `}${texts.product}`;
  }, [waiting, name]);
  if (connection.value === "refused") return html`<${Refused} ...${refused} />`;
  const toMain = (event: Event) => {
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${toMain}>${texts.skip}</a>
    <header class="top">${head}<div class="grow"></div>${actions}
      <${Button} kind="quiet" isLocal label=${texts.help.title} onPress=${help}>?<//></header>
    <nav class="side" aria-label=${texts.screens}>
      ${screens.map((screen, index) => link(screen, { key: `${index + 1}`, isChosen: screen === chosen }))}
    </nav>
    <main id="main" tabindex="-1" aria-labelledby="title">
      <h1 id="title" class="unseen">${chosen?.title}</h1>
      ${connection.value === "lost" && html`<p class="banner bad" role="alert">${texts.lost}</p>`}
      ${banner}
      <div class="screen" inert=${connection.value === "lost"}>
        ${chosen !== undefined && html`<${chosen.view} key=${chosen.id} />`}</div>
    </main>
    ${text !== "" && html`<p class="notice ${isAlarm ? "bad" : ""}">${text}</p>`}
    <p class="unseen" role="status">${!isAlarm && text}</p>
    <p class="unseen" role="alert">${isAlarm && text}</p>
    ${isHelping && html`
      <${Dialog} title=${texts.help.title} onClose=${() => setHelping(false)}>
        ${factsOf(allKeys)}
        <//>
    `}
  `;
}

function link(
  { id, title, short, count }: Screen,
  { key, isChosen }: { key: string; isChosen: boolean },
): View {
  const waiting = count?.() ?? 0;
  return html`<a key=${id} href=${linkTo(id)} aria-current=${
    isChosen ? "page" : undefined
  } aria-keyshortcuts=${key}>
    <span class="wide-only">${title}</span><span class="narrow-only">${short ?? title}</span>
    ${waiting > 0 && html`<b class="count">${waiting}</b>`}<kbd aria-hidden="true">${key}</kbd></a>`;
}

/** The program does not know this page: it has started anew, or the page was opened without its link. */
function Refused({ title, text, wrong, command, label, submit }: ShellProps["refused"]): View {
  const enter = ({ link = "" }: Values) => {
    if (!takeToken(String(link))) throw new ApiError(wrong);
    connection.value = "connecting";
    void follow();
  };
  const schema = {
    required: ["link"],
    properties: { link: { type: "string", format: "password", title: label } },
  };
  return html`<main class="refused">
    <h1>${title}</h1>
    <p>${command === "" && hasToken() ? wrong : text}</p>
    ${command !== "" && html`<pre>${command}</pre>`}
    <${Form} schema=${schema} submit=${submit} onSubmit=${enter} /></main>`;
}

/** Keys of one letter, unless somebody types a text. A button with `aria-keyshortcuts` is pressed by its key. */
function onShortcut(
  event: KeyboardEvent,
  { screens, help }: { screens: readonly Screen[]; help: () => void },
): void {
  const { target, key } = event;
  const isTyping = target instanceof Element && target.closest("input, textarea, select, dialog") !== null;
  if (event.defaultPrevented || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!takesItself(event) && pressInList(key)) return event.preventDefault();
  if (event.repeat) return;
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

/** Whether what has the focus has a use of its own for the key: Enter presses, and arrows scroll. */
function takesItself({ target, key }: KeyboardEvent): boolean {
  const own = key === "Enter" ? "a, button, summary, [tabindex='0']" : "[tabindex='0']";
  return key.length > 1 && (target as Element).closest(own) !== null;
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

/** Starts a page: the token moves out of the address, and events are followed. */
export function startPage(page: () => View): void {
  const { href } = location;
  if (/#[\w-]{40,}$/.test(href) && takeToken(href)) history.replaceState(null, "", linkTo());
  startRouting();
  keepFocus();
  void follow();
  render(html`<${page} />`, document.body);
}
