/** Checks on a running session: whether the server still answers, and whether its credentials have changed. */
import { delay } from "../../async/backoff.ts";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../log.ts";
import type { ResolvedServerConfig } from "../../protocol/config.ts";
import { describeError } from "../../text.ts";

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

/** The shortest time between two looks: whoever is refused may be refused a thousand times, in milliseconds. */
const CHECK_INTERVAL_MS = 10_000;

/** What a renewal needs. */
export interface RenewalContext {
  /** Fills in the inputs anew. */
  readonly resolve: () => Promise<ResolvedServerConfig>;
  /** The session would begin with other parameters now. */
  readonly onRenewed: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

/** Looks whether a session that is refused would have other credentials if it began now. */
export class Renewal {
  readonly #context: RenewalContext;
  readonly #used: ResolvedServerConfig;
  #checkedAtMs = -Infinity;

  /** @param used What the session began with. */
  constructor(used: ResolvedServerConfig, context: RenewalContext) {
    this.#used = used;
    this.#context = context;
  }

  /** The server does not accept the credentials any more. Never rejects. */
  async check(): Promise<void> {
    const { resolve, onRenewed, now, log } = this.#context;
    if (now() - this.#checkedAtMs < CHECK_INTERVAL_MS) return;
    this.#checkedAtMs = now();
    try {
      const { server_parameters } = await resolve();
      if (!isDeepStrictEqual(server_parameters, this.#used.server_parameters)) onRenewed();
    } catch (error) {
      log.debug("cannot resolve the inputs again", { error: describeError(error) });
    }
  }
}
