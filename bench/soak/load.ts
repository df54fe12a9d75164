/** Constant calls: several callers, each with its own ids, which do not wait for the steps of the director. */
import type { Agent } from "../../src/agent/agent.ts";
import type { CallToolResult } from "../../src/protocol/tools.ts";
import type { ComputerProcess } from "./computer_process.ts";
import type { Ledger } from "./ledger.ts";
import { outcomeOf, outcomeOfCall, UNANSWERED } from "./outcome.ts";
import type { Random } from "../../tests/fixtures/random.ts";

/** The time-out of a call that may take long. */
const TIMEOUT_MS = 5_000;
/** The largest text that a tool is asked to return, in bytes. */
const LARGE_BYTES = 64 * 1024;

/** The context of the callers. */
export interface LoadContext {
  readonly agent: Agent;
  readonly computer: ComputerProcess;
  readonly ledger: Ledger;
  /** The names of servers that may exist. */
  readonly servers: readonly string[];
  readonly callers: number;
  /** The longest pause between two calls of one caller, in milliseconds. */
  readonly maxPauseMs: number;
}

type Call = (random: Random) => Promise<unknown>;

/** The callers of one soak. */
export class Load {
  readonly #context: LoadContext;
  readonly #choices: readonly (readonly [weight: number, call: Call])[];
  #nextId = 0;

  constructor(context: LoadContext) {
    this.#context = context;
    this.#choices = [
      [50, (random) => this.#echo(random)],
      [6, (random) => this.#sleep(random)],
      [6, (random) => this.#giveUp(random)],
      [4, (random) => this.#runOutOfTime(random)],
      [4, (random) => this.#callAgain(random)],
      [6, (random) => this.#callLocally(random)],
      [1, () => this.call({ tool: "nobody_has_this", what: "unknown tool" })],
      [6, () => this.#ask("desktop", () => this.#remote.getDesktop({ timeoutMs: TIMEOUT_MS }))],
      [5, () => this.#ask("finder", () => this.#remote.getFinder({ limit: 5, timeoutMs: TIMEOUT_MS }))],
      [3, () => this.#ask("tools", () => this.#remote.getTools({ timeoutMs: TIMEOUT_MS }))],
      [1, () => this.#ask("config", () => this.#remote.getConfig({ timeoutMs: TIMEOUT_MS }))],
      [6, (random) => this.#readResource(random)],
    ];
  }

  get #remote() {
    return this.#context.agent.computer("computer");
  }

  /** Makes calls until the signal is aborted. Resolves when the last call was answered. */
  async run(signal: AbortSignal, random: Random): Promise<void> {
    const callers = Array.from({ length: this.#context.callers }, () => this.#caller(signal, random.fork()));
    await Promise.all(callers);
  }

  async #caller(signal: AbortSignal, random: Random): Promise<void> {
    while (!signal.aborted) {
      await random.pickWeighted(this.#choices)(random);
      await new Promise((resolve) => setTimeout(resolve, random.integer(0, this.#context.maxPauseMs)));
    }
  }

  /** One tool call through the office. */
  async call(
    { tool, what, params = {}, timeoutMs = TIMEOUT_MS, signal, reqId }: {
      readonly tool: string;
      readonly what: string;
      readonly params?: Readonly<Record<string, unknown>>;
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal;
      readonly reqId?: string;
    },
  ): Promise<PromiseSettledResult<CallToolResult>> {
    const id = reqId ?? this.#newId("call");
    const { ledger } = this.#context;
    return await ledger.follow(
      { what, timeoutMs },
      () => this.#remote.callTool(tool, { id, ...params }, { timeoutMs, signal, reqId: id }),
      (settled, isExcused) => this.#noted(outcomeOfCall(settled, { id, ledger, isExcused }), what),
    );
  }

  async #echo(random: Random): Promise<void> {
    const bytes = random.chance(0.02) ? LARGE_BYTES : random.integer(0, 300);
    await this.call({ tool: `${this.#server(random)}_echo`, what: "echo", params: { bytes } });
  }

  async #sleep(random: Random): Promise<void> {
    const params = { ms: random.integer(10, 1_500) };
    await this.call({ tool: `${this.#server(random)}_sleep`, what: "sleep", params });
  }

  async #giveUp(random: Random): Promise<void> {
    const giveUp = new AbortController();
    const timer = setTimeout(() => giveUp.abort(), random.integer(1, 400));
    const tool = `${this.#server(random)}_sleep`;
    await this.call({ tool, what: "cancel", params: { ms: 3_000 }, signal: giveUp.signal });
    clearTimeout(timer);
  }

  async #runOutOfTime(random: Random): Promise<void> {
    const tool = `${this.#server(random)}_sleep`;
    await this.call({
      tool,
      what: "short time",
      params: { ms: 1_100 + random.integer(0, 200) },
      timeoutMs: 1_000,
    });
  }

  /** The same call twice in parallel and once more later. The tool must run once, unless the Computer has left meanwhile. */
  async #callAgain(random: Random): Promise<void> {
    const reqId = this.#newId("again");
    const call = { tool: `${this.#server(random)}_echo`, what: "repeated", reqId };
    await Promise.all([this.call(call), this.call(call)]);
    await this.call(call);
  }

  async #callLocally(random: Random): Promise<void> {
    const { computer, ledger } = this.#context;
    const id = this.#newId("local");
    const command = {
      do: "callTool",
      tool: `${this.#server(random)}_echo`,
      params: { id },
      timeoutMs: TIMEOUT_MS,
    } as const;
    await ledger.follow(
      { what: "local call", timeoutMs: TIMEOUT_MS },
      async () => await computer.send(command) as CallToolResult,
      (settled) => outcomeOfCall(settled, { id, ledger, isExcused: false }),
    );
  }

  async #readResource(random: Random): Promise<void> {
    const host = `com.example.${this.#server(random)}`;
    const uri = random.chance(0.5) ? `window://${host}/status` : `dpe://${host}/doc-${random.integer(1, 3)}`;
    await this.#ask("read", () => this.#remote.readResource(uri, { timeoutMs: TIMEOUT_MS }));
  }

  async #ask(what: string, run: () => Promise<unknown>): Promise<void> {
    await this.#context.ledger.follow(
      { what, timeoutMs: TIMEOUT_MS },
      run,
      (settled) => this.#noted(outcomeOf(settled), what),
    );
  }

  /** A call without an answer is always an error, also after a cut: the nearest peer must then answer at once. */
  #noted(outcome: string, what: string): string {
    if (outcome.startsWith("other") || outcome === UNANSWERED) {
      this.#context.ledger.breach(`${what}: ${outcome}`);
    }
    return outcome;
  }

  #server(random: Random): string {
    return random.pick(this.#context.servers);
  }

  #newId(prefix: string): string {
    return `${prefix}-${this.#nextId++}`;
  }
}
