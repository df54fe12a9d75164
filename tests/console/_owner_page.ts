/** The owner's page in Chromium, beside a console. */
import type { Chromium } from "../fixtures/chromium.ts";
import { eventually } from "../fixtures/within.ts";
import { ConsolePage, inFull, openLink } from "./_console_page.ts";
import { type Script, ScriptedConsole } from "./_scripted_console.ts";

/** Since when a call is on the page, and until when it waits. */
const SINCE = new Date(Date.now() - 5_000).toISOString();
const LATER = new Date(Date.now() + 600_000).toISOString();

/** A call that waits, as the Computer lists it. */
export function waitingCall(id: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    id,
    kind: "call",
    server: "files",
    tool: "write_file",
    name: "write_file",
    description: "Writes a file.",
    annotations: {},
    agent: "ada",
    claimed_agent: "ada",
    is_local: false,
    must_ask: false,
    has_always: true,
    since: SINCE,
    ends_at: LATER,
    digest: `digest-of-${id}`,
    changes: [],
    arguments_bytes: 20,
    arguments: { path: `/tmp/${id}` },
    ...more,
  };
}

/** A record of the history. */
export function callRecord(id: number, more: Readonly<Record<string, unknown>> = {}) {
  return {
    kind: "call",
    id,
    agent: "ada",
    client: null,
    server: "files",
    tool: "read_file",
    started_at: SINCE,
    calls: 1,
    last_at: SINCE,
    duration_ms: 12,
    outcome: "ok",
    error_code: null,
    call: `c${id}`,
    arguments: '{"path":"/tmp/a"}',
    is_cut: false,
    ...more,
  };
}

/** A search in the texts of documents, as a record of the history. */
export function searchRecord(id: number, query: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    kind: "read",
    id,
    agent: "ada",
    client: null,
    server: null,
    read: "finder",
    query,
    documents: ["dpe://local.documents.desk/notes.txt"],
    more_documents: 0,
    reads: 2,
    first_at: SINCE,
    last_at: SINCE,
    outcome: "ok",
    call: `r${id}`,
    ...more,
  };
}

/** A Computer in which nothing happens. */
export const QUIET: Script = {
  status: {
    name: "laptop",
    server: "http://127.0.0.1:3000",
    connected: true,
    office: "lab",
    agent: "ada",
    since: SINCE,
    config: "/home/ada/mcp.json",
    refused_edit: null,
    can_undo: false,
    servers: [],
  },
  "calls list": { paused: false, waiting: [], running: [] },
  "calls allow": {},
  "calls deny": {},
  "calls answer": {},
  "calls decline": {},
  "calls cancel": {},
  history: { history: [] },
};

/** The owner's page beside a console whose Computer is made up. */
export class OwnerPage extends ConsolePage {
  readonly console: ScriptedConsole;

  private constructor(browser: Chromium, console: ScriptedConsole) {
    super(browser);
    this.console = console;
  }

  /** Opens the page by its link; resolves when it shows what the Computer answered. */
  static async open(script: Script = {}): Promise<OwnerPage> {
    const console = await ScriptedConsole.open({ ...QUIET, ...script });
    return new OwnerPage(await openLink(console.door.link), console);
  }

  /** The words of a command, as soon as it was run. */
  async ran(name: string): Promise<readonly string[]> {
    const look = () => this.console.ran.find((words) => words.join(" ").startsWith(`${name} --`));
    return (await eventually(look, (words) => words !== undefined, `"${name}" to be run`)) ?? [];
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    await this.console[Symbol.asyncDispose]();
  }
}

/** A test of the owner's page beside a made-up Computer. */
export function testPage(
  name: string,
  work: (page: OwnerPage) => Promise<void>,
  { when = inFull, script = {} }: { readonly when?: typeof inFull; readonly script?: Script } = {},
): void {
  Deno.test({
    name,
    ...when,
    async fn() {
      await using page = await OwnerPage.open(script);
      await work(page);
    },
  });
}
