/** Changes and disturbs the office step by step, and tracks which MCP servers should exist. */
import { describeError } from "../../src/text/text.ts";
import { type ComputerProcess, HungCommandError } from "./computer_process.ts";
import type { Ledger } from "./ledger.ts";
import type { Load } from "./load.ts";
import type { HttpPlace, Office } from "./office.ts";
import type { Random } from "../../tests/fixtures/random.ts";
import { INPUT_ID, type Slots, type Stage, toConfig } from "./scenery.ts";
import { drawStep, type Step } from "./steps.ts";

/** The parts that the steps act on. */
export interface DirectorContext {
  readonly stage: Stage;
  readonly computer: ComputerProcess;
  readonly office: Office;
  readonly http: HttpPlace;
  readonly load: Load;
  readonly ledger: Ledger;
  readonly random: Random;
  /** Called with each step. */
  readonly onStep: (text: string) => void;
}

/** Chooses steps at random and runs them. */
export class Director {
  readonly #context: DirectorContext;
  readonly #counts = new Map<string, number>();
  #slots: Slots;
  #isHung = false;

  constructor(context: DirectorContext, slots: Slots) {
    this.#context = context;
    this.#slots = slots;
  }

  /** The current configuration of the servers. */
  get slots(): Slots {
    return this.#slots;
  }

  /** The number of steps of each kind. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** A command was never answered, so the soak cannot continue. */
  get isHung(): boolean {
    return this.#isHung;
  }

  /** Runs a step every few seconds until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { random, http } = this.#context;
    while (!signal.aborted && !this.#isHung) {
      const step = drawStep({ slots: this.#slots, isHttpUp: http.isUp }, random);
      const startMs = performance.now();
      const result = await this.#tryStep(step);
      this.#counts.set(step.kind, (this.#counts.get(step.kind) ?? 0) + 1);
      this.#context.onStep(
        `${describeStep(step)}: ${result} (${Math.round(performance.now() - startMs)} ms)`,
      );
      await pause(random.integer(500, 4_500), signal);
    }
  }

  async #tryStep(step: Step): Promise<string> {
    try {
      return await this.#take(step) ?? "done";
    } catch (error) {
      if (error instanceof HungCommandError) this.#isHung = true;
      this.#context.ledger.breach(`${describeStep(step)}: ${describeError(error)}`);
      return "failed";
    }
  }

  async #take(step: Step): Promise<string | void> {
    const { computer, load } = this.#context;
    switch (step.kind) {
      case "reconfigure":
        return await this.#reconfigure(step.slots);
      case "reconfigureTwice":
        // Both at once: the second arrives while the first runs, and its result must remain.
        await Promise.all([this.#reconfigure(step.first), this.#reconfigure(step.slots)]);
        return;
      case "refusedConfig":
        return await this.#offerNonsense();
      case "startServer":
      case "stopServer":
      case "restartServer":
        return void await computer.send({ do: step.kind, server: step.server });
      case "setInput":
        return void await computer.send({ do: "setInput", input: INPUT_ID, value: step.value });
      case "provoke":
        // Not awaited: most of these calls are answered only when the Computer detects that the server hangs.
        void load.call({ tool: `${step.server}_${step.tool}`, what: step.tool, timeoutMs: 4_000 });
        return;
      default:
        return await this.#breakWire(step.kind);
    }
  }

  async #breakWire(
    kind: Extract<
      Step["kind"],
      "takeHttpAway" | "bringHttpBack" | "cutComputer" | "cutAgent" | "restartOffice"
    >,
  ): Promise<void> {
    const { http, office, ledger } = this.#context;
    switch (kind) {
      case "takeHttpAway":
        return http.takeAway();
      case "bringHttpBack":
        return http.bringBack();
      case "cutComputer":
        ledger.noteCut();
        return office.computerWire.cut();
      case "cutAgent":
        ledger.noteCut();
        return office.agentWire.cut();
      case "restartOffice":
        ledger.noteCut();
        return await office.restart();
    }
  }

  async #reconfigure(slots: Slots): Promise<void> {
    this.#slots = slots;
    await this.#context.computer.send({ do: "reconfigure", config: toConfig(slots, this.#context.stage) });
  }

  /** An invalid configuration must be refused as a whole and must change nothing. */
  async #offerNonsense(): Promise<string> {
    const { computer, stage } = this.#context;
    const config = toConfig(this.#slots, stage);
    const servers = { calm: { type: "no such type" } };
    const refusal = await computer.send({ do: "reconfigure", config: { ...config, servers } }).then(
      () => undefined,
      (error: Error) => error,
    );
    if (refusal === undefined) throw new TypeError("Cannot go on: nonsense was taken for a configuration");
    if (refusal instanceof HungCommandError) throw refusal;
    return "refused";
  }
}

function describeStep(step: Step): string {
  const { kind, ...rest } = step;
  const what = "what" in rest ? rest.what : Object.values(rest).join(" ");
  return `${kind} ${what}`.trim();
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  await promise;
  clearTimeout(timer);
  signal.removeEventListener("abort", onAbort);
}
