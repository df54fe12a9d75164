/** The Agents' seats that a gateway takes, one in each office that a client uses. */
import { onAbort } from "../async/abortable.ts";
import { type JoinedOffice, type OfficeJoin, startJoin } from "../agent/group/office_join.ts";
import { type Logger, silentLogger } from "../log.ts";
import { describeError } from "../text/text.ts";
import { toSeenName } from "../text/safe_text.ts";
import { GatewayCore } from "./gateway_core.ts";
import type { GatewayMemory, GatewayOptions } from "./gateway_options.ts";

/** The most offices that are used at the same time. */
const MAX_SEATS = 1_000;
/** How long a seat is kept without a client, in milliseconds: a client that comes back finds its office as it was. */
const REST_MS = 10 * 60_000;

/** How seats are taken, and how the offices are presented. */
export interface SeatsOptions {
  /** Joins an office; aborted when nobody needs it any more. */
  readonly join: (office: string, signal: AbortSignal) => Promise<JoinedOffice>;
  /** Why an office could not be joined, in words for users: `error` is that of `join`. */
  readonly explain?: ((office: string, error: unknown, signal: AbortSignal) => Promise<string>) | undefined;
  /** The gateway of each office. */
  readonly gateway: Omit<GatewayOptions, "problem" | "memory">;
  /** Keeps what the gateway of these offices must know when it is made again. */
  readonly memory?: ((offices: readonly string[]) => GatewayMemory) | undefined;
  /** How long a seat is kept without a client, in milliseconds; 600,000 by default. */
  readonly restMs?: number | undefined;
  readonly logger?: Logger | undefined;
}

/** The seats by office. Nobody's Agent is ever displaced: a seat that is taken is asked for again until it is free. */
export class Seats implements AsyncDisposable {
  readonly #options: SeatsOptions;
  /** Those that rest stand in the order in which they came to rest. */
  readonly #seats = new Map<string, Seat>();
  readonly #endings = new Set<Promise<void>>();

  constructor(options: SeatsOptions) {
    this.#options = options;
  }

  /** The seat in an office, which is taken now if it was not; `undefined` when too many are in use. */
  open(office: string): Seat | undefined {
    const known = this.#seats.get(office);
    if (known !== undefined) return known;
    if (this.#seats.size >= MAX_SEATS) {
      const resting = this.#seats.values().find(({ isUsed }) => !isUsed);
      if (resting === undefined) return undefined;
      resting.end();
    }
    const seat = new Seat(office, {
      ...this.#options,
      onRest: () => {
        this.#seats.delete(office);
        this.#seats.set(office, seat);
      },
      onEnd: (ended) => {
        if (this.#seats.get(office) === seat) this.#seats.delete(office);
        this.#endings.add(ended);
        void ended.finally(() => this.#endings.delete(ended));
      },
    });
    this.#seats.set(office, seat);
    return seat;
  }

  /** A client uses an office no more, although it may have ended nothing. After the last one, an unused seat is left at once. */
  forget(office: string, { client, isLast }: { readonly client: string; readonly isLast: boolean }): void {
    const seat = this.#seats.get(office);
    seat?.forget(client);
    if (isLast && seat?.isUsed === false) seat.end();
  }

  /** How the gateway of several of the offices presents them. */
  gatewayOptions(offices: readonly string[]): Omit<GatewayOptions, "problem"> {
    const { gateway, memory } = this.#options;
    return { ...gateway, memory: memory?.(offices) };
  }

  /** The seats that are taken or asked for. */
  get all(): Seat[] {
    return [...this.#seats.values()];
  }

  /** Leaves all offices. May be called twice. */
  async close(): Promise<void> {
    for (const seat of this.all) seat.end();
    await Promise.all(this.#endings);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

interface SeatParts extends SeatsOptions {
  readonly onRest: () => void;
  readonly onEnd: (ended: Promise<void>) => void;
}

/** The seat in one office, and the gateway that serves its clients. */
export class Seat {
  readonly office: string;
  readonly gateway: GatewayCore;
  /** The Agent, once it has joined. */
  readonly agent: Promise<JoinedOffice>;
  readonly #parts: SeatParts;
  readonly #joining: OfficeJoin<JoinedOffice>;
  readonly #ending = new AbortController();
  readonly #uses = new Set<{ readonly client: string } & Disposable>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(office: string, parts: SeatParts) {
    const { join, explain = describeLocally, gateway, memory, logger = silentLogger } = parts;
    this.office = office;
    this.#parts = parts;
    this.#joining = startJoin((signal) => join(office, signal), {
      label: office,
      signal: this.#ending.signal,
      explain: (error, signal) => explain(office, error, signal),
      logger,
    });
    this.agent = this.#joining.agent;
    this.gateway = new GatewayCore(this.agent, {
      ...gateway,
      memory: memory?.([office]),
      problem: this.#joining.problem,
    });
    void this.agent.then((agent) => this.#follow(agent, logger), () => undefined);
    this.#startRest();
  }

  get isUsed(): boolean {
    return this.#uses.size > 0;
  }

  /** Aborted when the seat is given up, or lost. The office then has a new seat for its next client. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Keeps the seat for a client, until the result is disposed of. */
  use(client: string): Disposable {
    const use = {
      client,
      [Symbol.dispose]: () => {
        if (!this.#uses.delete(use) || this.isUsed || this.#ending.signal.aborted) return;
        this.#parts.onRest();
        this.#startRest();
      },
    };
    this.#uses.add(use);
    clearTimeout(this.#timer);
    return use;
  }

  /** Takes away the uses of a client. */
  forget(client: string): void {
    for (const use of this.#uses) if (use.client === client) use[Symbol.dispose]();
  }

  /** Resolves when the office was joined, or could not be for the first time. */
  get tried(): Promise<void> {
    return this.#joining.tried;
  }

  /** Why the office cannot be used now, in words for users; `undefined` when it can, and before that is known. */
  get problem(): string | undefined {
    return this.#joining.problem();
  }

  /** Leaves the office. May be called twice. */
  end(): void {
    if (this.#ending.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#ending.abort();
    this.#parts.onEnd(this.#close());
  }

  async #close(): Promise<void> {
    await this.gateway.close();
    await this.#joining.close();
  }

  #startRest(): void {
    this.#timer = setTimeout(() => this.end(), this.#parts.restMs ?? REST_MS);
  }

  #follow({ ended }: JoinedOffice, log: Logger): void {
    onAbort(ended, () => {
      if (this.#ending.signal.aborted) return;
      log.warn("the seat in an office was lost", { office: this.office });
      this.end();
    });
  }
}

function describeLocally(office: string, error: unknown): Promise<string> {
  return Promise.resolve(`office ${toSeenName(office)} cannot be joined now: ${describeError(error)}`);
}
