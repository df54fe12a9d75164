/** Renewing the credentials of an open connection before they expire. */
import type { Logger } from "../log.ts";
import { RENEW_CREDENTIALS_EVENT } from "../protocol/events.ts";
import { describeError } from "../text/text.ts";
import { ATTEMPT_TIMEOUT_MS, type Place } from "./attempts.ts";
import type { Connection } from "./connect.ts";
import { withCredentials } from "./credentials.ts";
import { readJoinAck } from "./join.ts";

/** Sends newer credentials, so that a connection outlives the old ones; one at a time. */
export class Renewal {
  readonly #options: Place;
  readonly #log: Logger;
  #isRunning = false;

  constructor(options: Place, log: Logger) {
    this.#options = options;
    this.#log = log;
  }

  /** Renews where there is a source of credentials. The Server announces their end again when this fails. */
  async run(connection: Connection | undefined, signal: AbortSignal): Promise<void> {
    if (this.#options.credentials === undefined || connection === undefined || this.#isRunning) return;
    this.#isRunning = true;
    try {
      const sent = await withCredentials(this.#options, { signal, timeoutMs: ATTEMPT_TIMEOUT_MS });
      const body = { auth: sent.auth, headers: sent.headers };
      const answer = readJoinAck(
        await connection.request(RENEW_CREDENTIALS_EVENT, body, ATTEMPT_TIMEOUT_MS),
      );
      if (answer.accepted) this.#log.debug("renewed the credentials");
      else this.#log.warn("the Server refused newer credentials", { reason: answer.reason });
    } catch (error) {
      this.#log.debug("failed to renew the credentials", { error: describeError(error) });
    } finally {
      this.#isRunning = false;
    }
  }
}
