/** The way to the Server that the command line names: tried in the background until it is there. */
import type { Computer } from "../../computer/computer.ts";
import type { ConnectOptions } from "../../computer/office/link.ts";

/** How long the MCP servers may keep the join waiting; whatever starts later is told to the Agent as a change. */
const START_GRACE_MS = 3_000;

/** Where a Computer goes, and with which credentials. */
export interface ArrivalOptions extends Omit<ConnectOptions, "timeoutMs" | "signal"> {
  /** The office to join; only connects without it. */
  readonly office?: string | undefined;
  /** How long a name that is taken is tried again, in milliseconds; not at all by default. */
  readonly joinPatienceMs?: number | undefined;
}

/** An attempt that lasts until the Server is there, refuses, or somebody gives up. */
export class Arrival {
  /** The Server. */
  readonly url: string;
  readonly office: string | undefined;
  /** Resolves to whether the Computer is there, or it was given up; rejects with what keeps it away for good. */
  readonly done: Promise<boolean>;
  readonly #giveUp = new AbortController();
  #isOver = false;

  /** Begins at once, while the MCP servers start: a refused token is no reason to wait for these. */
  constructor(computer: Computer, options: ArrivalOptions) {
    this.url = options.url;
    this.office = options.office;
    this.done = this.#go(computer, options).finally(() => this.#isOver = true);
    this.done.catch(() => {});
  }

  /** Whether it has come to an end, good or bad. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Tries no longer; resolves when nothing of it goes on. Idempotent. */
  async stop(): Promise<void> {
    this.#giveUp.abort(new DOMException("Given up", "AbortError"));
    await this.done.catch(() => {});
  }

  async #go(computer: Computer, { office, joinPatienceMs, ...place }: ArrivalOptions): Promise<boolean> {
    const { signal } = this.#giveUp;
    try {
      await computer.connect({ ...place, signal });
      if (office === undefined) return true;
      await computer.ready({ timeoutMs: START_GRACE_MS, signal });
      await computer.join({ ...place, office, joinPatienceMs, signal });
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      throw error;
    }
  }
}
