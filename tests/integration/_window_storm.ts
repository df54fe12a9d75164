/** Windows that call without a pause, while they are killed and closed at random. */
import { delay } from "../../src/async/backoff.ts";
import { isRecord } from "../../src/json/json.ts";
import type { Random } from "../fixtures/random.ts";
import { runDoor } from "../fixtures/door.ts";
import { textResult } from "./_scripted_computer.ts";
import { type CallOutcome, type ClientWindow, WindowClosedError, WindowOffice } from "./_windows.ts";

export interface StormOptions {
  readonly windows: number;
  readonly durationMs: number;
  readonly random: Random;
}

/** What became of the calls. */
export interface StormReport {
  readonly counts: Readonly<Record<string, number>>;
  /** What must not have happened. */
  readonly breaches: readonly string[];
}

const CLIENTS = ["Claude", "Cursor", "Codex", "VS Code"];
const MAY_HAVE_RUN = /may have run/;
const DID_NOT_RUN = /did not run|No tool named/;

export class WindowStorm {
  readonly #options: StormOptions;
  readonly #office: WindowOffice;
  readonly #counts = new Map<string, number>();
  readonly #breaches: string[] = [];
  /** How often the Computer ran each call that has no outcome yet. */
  readonly #runs = new Map<number, number>();
  readonly #slots: (ClientWindow | undefined)[];
  readonly #over = new AbortController();
  #lastCall = 0;

  private constructor(office: WindowOffice, options: StormOptions) {
    this.#office = office;
    this.#options = options;
    this.#slots = Array.from({ length: options.windows }, () => undefined);
  }

  static async run(options: StormOptions): Promise<StormReport> {
    await using office = await WindowOffice.open();
    const storm = new WindowStorm(office, options);
    return await storm.#run();
  }

  async #run(): Promise<StormReport> {
    const { random, durationMs } = this.#options;
    this.#office.computer.answers["client:tool_call"] = async ({ params }) => {
      this.#office.computer.requests.length = 0;
      const call = isRecord(params) ? Number(params["call"]) : 0;
      this.#runs.set(call, (this.#runs.get(call) ?? 0) + 1);
      // A call of a window that was killed may still run at the end of the storm.
      if (isRecord(params) && params["slow"] === true) await this.#pause(random.below(400));
      return textResult(JSON.stringify(params));
    };
    const work = [
      ...this.#slots.keys().map((slot) => this.#useWindows(slot)),
      this.#useCommands(),
      this.#disturb(),
    ];
    setTimeout(() => this.#over.abort(), durationMs);
    await Promise.all(work);
    if ((await this.#office.seated()).length > 0) this.#breaches.push("the seat is taken after the end");
    return { counts: Object.fromEntries([...this.#counts].sort()), breaches: this.#breaches };
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** One place at the user's desk: a window that has ended is opened again. */
  async #useWindows(slot: number): Promise<void> {
    const name = CLIENTS[slot % CLIENTS.length];
    while (!this.#isOver) {
      try {
        await using client = await this.#office.client(name);
        this.#count("windows");
        this.#slots[slot] = client;
        while (!this.#isOver) await this.#callBy(client);
        this.#slots[slot] = undefined;
        if (client.twice.length > 0) this.#breaches.push(`${client.twice.length} answers came twice`);
      } catch (error) {
        this.#slots[slot] = undefined;
        if (!(error instanceof WindowClosedError)) throw error;
      }
    }
  }

  async #callBy(client: ClientWindow): Promise<void> {
    const { random } = this.#options;
    const slow = random.below(4) === 0;
    await this.#check((args) => client.call("echo", { ...args, slow }), { slow });
    await this.#pause(random.below(100));
  }

  /** Commands of the same user, one after another. */
  async #useCommands(): Promise<void> {
    while (!this.#isOver) {
      await this.#check(async ({ call }) => {
        const words = ["call", "echo", `call=${call}`, "--json", "--patience", "60s"];
        const args = [...this.#office.connection("bea"), ...words];
        const { code, stdout, stderr } = await runDoor("agent.ts", args, { env: this.#office.env });
        this.#count("commands");
        const { content } = code === 0 ? JSON.parse(stdout) : { content: [] };
        return { isError: code !== 0, text: code === 0 ? String(content[0]?.text) : stderr };
      }, {});
      await this.#pause(500);
    }
  }

  /** Makes a call, and judges its outcome by what the Computer has seen. */
  async #check(
    make: (args: { readonly call: number }) => Promise<CallOutcome>,
    args: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    const call = ++this.#lastCall;
    this.#runs.set(call, 0);
    let outcome: CallOutcome | undefined;
    try {
      outcome = await make({ call });
    } finally {
      const runs = this.#runs.get(call) ?? 0;
      if (runs > 1) this.#breaches.push(`call ${call} ran ${runs} times`);
      if (outcome === undefined) this.#count("calls of windows that ended");
      // A call whose window has ended may still be on its way.
      else if (this.#judge(call, { outcome, args, runs })) this.#runs.delete(call);
    }
  }

  /** Whether the call is over for good. */
  #judge(
    call: number,
    { outcome, args, runs }: {
      readonly outcome: CallOutcome;
      readonly args: Readonly<Record<string, unknown>>;
      readonly runs: number;
    },
  ): boolean {
    const { isError, text } = outcome;
    if (!isError) {
      this.#count("calls answered");
      if (text !== JSON.stringify({ call, ...args })) {
        this.#breaches.push(`call ${call} has the answer ${text}`);
      }
      if (runs !== 1) this.#breaches.push(`call ${call} is answered, and ran ${runs} times`);
      return true;
    }
    if (MAY_HAVE_RUN.test(text) || /connection lost/.test(text)) {
      this.#count("calls lost that had begun");
      return false;
    }
    this.#count(`calls refused: ${/: ([^.]*)/.exec(text)?.[1] ?? text}`);
    if (!DID_NOT_RUN.test(text)) this.#breaches.push(`call ${call} failed: ${text}`);
    if (runs > 0) this.#breaches.push(`call ${call} was refused, and ran: ${text}`);
    return true;
  }

  async #disturb(): Promise<void> {
    const { random } = this.#options;
    while (!this.#isOver) {
      await this.#pause(300 + random.below(1_200));
      const client = this.#slots[random.below(this.#slots.length)];
      if (client === undefined || this.#isOver) continue;
      if (random.below(4) === 0) void client.close();
      else client.signal("SIGKILL");
      this.#count("disturbances");
    }
  }

  async #pause(ms: number): Promise<void> {
    await delay(ms, this.#over.signal).catch(() => undefined);
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}
