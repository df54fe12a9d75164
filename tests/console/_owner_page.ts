/** The owner's page in Chromium, beside a console. */
import { Chromium } from "../fixtures/chromium.ts";
import { eventually } from "../fixtures/within.ts";
import { type Script, ScriptedConsole } from "./_scripted_console.ts";

/** Since when a call is on the page, and until when it waits. */
const SINCE = new Date(Date.now() - 5_000).toISOString();
const LATER = new Date(Date.now() + 600_000).toISOString();

/** A call that waits, as the Computer lists it. */
export function waitingCall(id: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{
      id,
      kind: "call",
      server: "files",
      tool: "write_file",
      name: "write_file",
      description: "Writes a file.",
    },
    ...{
      annotations: {},
      agent: "ada",
      claimed_agent: "ada",
      is_local: false,
      must_ask: false,
      has_always: true,
    },
    ...{ since: SINCE, ends_at: LATER, digest: `digest-of-${id}`, changes: [], arguments_bytes: 20 },
    arguments: { path: `/tmp/${id}` },
    ...more,
  };
}

/** A record of the history. */
export function callRecord(id: number, more: Readonly<Record<string, unknown>> = {}) {
  return {
    ...{ id, agent: "ada", client: null, server: "files", tool: "read_file", started_at: SINCE },
    ...{ duration_ms: 12, outcome: "ok", error_code: null, arguments: { path: "/tmp/a" } },
    ...more,
  };
}

/** A Computer in which nothing happens. */
export const QUIET: Script = {
  status: {
    ...{ name: "laptop", server: "http://127.0.0.1:3000", connected: true, office: "lab", agent: "ada" },
    ...{ since: SINCE, config: "/home/ada/mcp.json", refused_edit: null, servers: [] },
  },
  "calls list": { paused: false, waiting: [], running: [] },
  "calls allow": {},
  "calls deny": {},
  "calls answer": {},
  "calls decline": {},
  "calls cancel": {},
  history: { history: [] },
};

/** A page and the console that it belongs to. */
export class OwnerPage implements AsyncDisposable {
  readonly browser: Chromium;
  readonly console: ScriptedConsole;

  private constructor(browser: Chromium, console: ScriptedConsole) {
    this.browser = browser;
    this.console = console;
  }

  /** Opens the page by its link; resolves when it shows what the Computer answered. */
  static async open(script: Script = {}): Promise<OwnerPage> {
    const console = await ScriptedConsole.open({ ...QUIET, ...script });
    const browser = await Chromium.open();
    await browser.showAs({ width: 1280, scheme: "light" });
    await browser.goTo(console.door.link);
    await browser.find(".where");
    return new OwnerPage(browser, console);
  }

  /** Shows a part of the page, such as `servers/files`. */
  async show(route: string): Promise<void> {
    await this.browser.evaluate(`location.hash = "#/${route}"`);
  }

  /** Presses a button by its label, as soon as it can be pressed. */
  async press(label: string): Promise<void> {
    const button = `[...document.querySelectorAll("button")].find((each) =>
      each.textContent.startsWith(${
      JSON.stringify(label)
    }) && each.getAttribute("aria-disabled") !== "true")`;
    const look = () =>
      this.browser.evaluate(`(() => { const b = ${button}; b?.click(); return b !== undefined })()`);
    await eventually(look, (found) => found === true, `the button "${label}"`);
  }

  /** The text of an element, as soon as it is there and is the wanted one. */
  async textOf(selector: string, isWanted: (text: string) => boolean = () => true): Promise<string> {
    const look = () =>
      this.browser.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText`);
    const isThere = (text: unknown) => typeof text === "string" && isWanted(text);
    return String(await eventually(look, isThere, `the text of "${selector}"`));
  }

  /** The words of a command, as soon as it was run. */
  async ran(name: string): Promise<readonly string[]> {
    const look = () => this.console.ran.find((words) => words.join(" ").startsWith(`${name} --`));
    return (await eventually(look, (words) => words !== undefined, `"${name}" to be run`)) ?? [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.browser[Symbol.asyncDispose]();
    await this.console[Symbol.asyncDispose]();
  }
}
