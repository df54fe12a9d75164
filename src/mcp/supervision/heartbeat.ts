/** Whether an MCP server that says nothing is still there. */
import { delay } from "../../async/backoff.ts";

/** So many pings in a row without an answer, and the server counts as hung. */
const MAX_UNANSWERED_PINGS = 2;

/** How a heartbeat is taken. */
export interface HeartbeatOptions {
  /** Sends a ping; tells whether it was answered in time. Never rejects. */
  readonly ping: () => Promise<boolean>;
  /** Whether nothing else is asked of the server, which would show its life as well. */
  readonly isIdle: () => boolean;
  /** How often an idle server is pinged, in milliseconds. */
  readonly intervalMs: number;
}

/** Pings an idle server, and one that left a request unanswered. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #hung = Promise.withResolvers<string>();
  #unanswered = 0;
  #checking: Promise<void> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Resolves to the reason once the server counts as hung. */
  get hung(): Promise<string> {
    return this.#hung.promise;
  }

  /**
   * Pings now, whatever else goes on: a request was not answered in time. That alone says little, since a server
   * that heeds the cancel never answers.
   */
  check(): Promise<void> {
    return this.#checking ??= this.#check().finally(() => this.#checking = undefined);
  }

  /** Pings until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (await delay(this.#options.intervalMs, signal).then(() => true, () => false)) {
      if (this.#options.isIdle()) await this.check();
    }
  }

  async #check(): Promise<void> {
    this.#unanswered = await this.#options.ping() ? 0 : this.#unanswered + 1;
    if (this.#unanswered >= MAX_UNANSWERED_PINGS) {
      this.#hung.resolve(`no answer to ${MAX_UNANSWERED_PINGS} pings`);
    }
  }
}
