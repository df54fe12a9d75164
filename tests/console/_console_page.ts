/** A page of a console in Chromium: what a person sees and presses. */
import { Browser, type Chromium, hasChromium } from "../fixtures/chromium.ts";
import { isFullSize } from "../fixtures/test_size.ts";
import { eventually } from "../fixtures/within.ts";

/** A test of each run: all of them together take a minute at most. */
export const inEach = { ignore: !hasChromium } as const;
/** A test of the full run alone. */
export const inFull = { ignore: !hasChromium || !isFullSize } as const;

/** The browser of all tests of a file. */
let shared: Browser | undefined;

Deno.test.beforeAll(async () => {
  if (hasChromium) shared = await Browser.start();
});
Deno.test.afterAll(() => shared?.[Symbol.asyncDispose]());

/** A page that nothing was opened in yet. */
export async function openPage(): Promise<Chromium> {
  if (shared === undefined) throw new TypeError("Chromium is not installed");
  return await shared.open();
}

/** Opens a page by the link that its console prints; resolves when it shows what the program answered. */
export async function openLink(link: string): Promise<Chromium> {
  const browser = await openPage();
  await browser.showAs({ width: 1280, scheme: "light" });
  await browser.goTo(link);
  await browser.find(".where");
  return browser;
}

export class ConsolePage implements AsyncDisposable {
  readonly browser: Chromium;

  constructor(browser: Chromium) {
    this.browser = browser;
  }

  /** Shows a part of the page, such as `servers/files`. */
  async show(route: string): Promise<void> {
    await this.browser.evaluate(`location.hash = "#/${route}"`);
  }

  /** Presses a button by its label, as soon as it can be pressed. */
  async press(label: string): Promise<void> {
    const isPressed = async () =>
      await this.browser.evaluate(`(() => {
        const labelOf = (button) => [...button.childNodes].filter(({ nodeName }) => nodeName !== "KBD")
          .map((node) => node.textContent).join("").trim();
        const found = [...document.querySelectorAll("button, summary")].find((button) =>
          labelOf(button) === ${JSON.stringify(label)} && button.getAttribute("aria-disabled") !== "true");
        found?.click();
        return found !== undefined;
      })()`);
    await eventually(isPressed, (isFound) => isFound === true, `the button "${label}"`);
  }

  /** Types into the field with this label. */
  async fill(label: string, text: string): Promise<void> {
    const find = `[...document.querySelectorAll("label")].find((each) =>
      each.textContent.trim().startsWith(${JSON.stringify(label)}))?.querySelector("input, textarea")`;
    const look = () =>
      this.browser.evaluate(`(() => { const f = ${find}; f?.focus(); return f !== undefined })()`);
    await eventually(look, (isFound) => isFound === true, `the field "${label}"`);
    await this.browser.insert(text);
  }

  /** The text of an element, as soon as it is there and is the wanted one. */
  async textOf(selector: string, isWanted: (text: string) => boolean = () => true): Promise<string> {
    const look = () =>
      this.browser.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText`);
    const isThere = (text: unknown) => typeof text === "string" && isWanted(text);
    return String(await eventually(look, isThere, `the text of "${selector}"`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser[Symbol.asyncDispose]();
  }
}
