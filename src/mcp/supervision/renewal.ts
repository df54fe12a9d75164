/** Whether a session's credentials have been renewed since it began. */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../log.ts";
import type { ResolvedServerConfig } from "../../protocol/config.ts";
import { describeError } from "../../text.ts";

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
