/** Checks on a running session: whether the server still answers, and whether its credentials have changed. */
import { Backoff, delay } from "../../async/backoff.ts";
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "../../log.ts";
import { oauthOf, type ResolvedServerConfig } from "../../protocol/config.ts";
import { describeError } from "../../text/text.ts";

/** Consecutive unanswered pings after which the server counts as hung. */
const MAX_UNANSWERED_PINGS = 2;

export interface HeartbeatOptions {
  /** Sends a ping; resolves to whether it was answered in time. Never rejects. */
  readonly ping: () => Promise<boolean>;
  /** Whether no other request is in flight. */
  readonly isIdle: () => boolean;
  /** The time between two pings of an idle server, in milliseconds. */
  readonly intervalMs: number;
}

/** Pings a server while it is idle, and after a request without an answer. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #hung = Promise.withResolvers<string>();
  /** When the server answered last, or began, by `performance.now()`. */
  answeredAtMs: number = performance.now();
  #unanswered = 0;
  #checking: Promise<void> | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** Resolves to the reason when the server counts as hung. */
  get hung(): Promise<string> {
    return this.#hung.promise;
  }

  /**
   * Pings at once, after a request that was not answered in time. A time-out alone proves nothing: a server need not
   * answer a request that was cancelled.
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
    const isAnswered = await this.#options.ping();
    if (isAnswered) this.answeredAtMs = performance.now();
    this.#unanswered = isAnswered ? 0 : this.#unanswered + 1;
    if (this.#unanswered >= MAX_UNANSWERED_PINGS) {
      this.#hung.resolve(`no answer to ${MAX_UNANSWERED_PINGS} pings`);
    }
  }
}

/** The longest wait between two starts, in milliseconds; after a longer session, the next wait is the shortest again. */
const MAX_RESTART_DELAY_MS = 60_000;

/** How many sessions in a row are replaced at once that the server has lost. */
const MAX_LOSSES = 3;

export class RestartPace {
  readonly #backoff: Backoff;
  /** Sessions in a row that the server has lost within a minute. */
  #losses = 0;

  constructor({ restartDelayMs }: { readonly restartDelayMs: number }) {
    this.#backoff = new Backoff({ firstMs: restartDelayMs, maxMs: MAX_RESTART_DELAY_MS });
  }

  /** The wait after a session that ran so long, in milliseconds: 0 for the first few that the server has lost. */
  waitAfter({ ranMs, isLost }: { readonly ranMs: number; readonly isLost: boolean }): number {
    const wasStable = ranMs > MAX_RESTART_DELAY_MS;
    if (wasStable) this.reset();
    if (!isLost || wasStable) this.#losses = 0;
    return isLost && this.#losses++ < MAX_LOSSES ? 0 : this.#backoff.next();
  }

  /** Begins with the shortest wait again. */
  reset(): void {
    this.#backoff.reset();
  }
}

/** The shortest time between two checks, in milliseconds: there may be a thousand refusals. */
const CHECK_INTERVAL_MS = 10_000;

export interface CredentialCheckContext {
  readonly resolve: () => Promise<ResolvedServerConfig>;
  /** Called when the parameters of the session have changed. */
  readonly onRenewed: () => void;
  readonly now: () => number;
  readonly log: Logger;
}

/** Checks whether a session that was refused would have other credentials now. */
export class CredentialCheck {
  readonly #context: CredentialCheckContext;
  readonly #used: ResolvedServerConfig;
  #checkedAtMs = -Infinity;

  /** @param used The configuration at the start of the session. */
  constructor(used: ResolvedServerConfig, context: CredentialCheckContext) {
    this.#used = used;
    this.#context = context;
  }

  /** Checks after a refusal of the credentials. Never rejects. */
  async check(): Promise<void> {
    const { resolve, onRenewed, now, log } = this.#context;
    if (now() - this.#checkedAtMs < CHECK_INTERVAL_MS) return;
    this.#checkedAtMs = now();
    try {
      if (!isDeepStrictEqual(credentialsOf(await resolve()), credentialsOf(this.#used))) onRenewed();
    } catch (error) {
      log.debug("failed to resolve the inputs again", { error: describeError(error) });
    }
  }
}

/** The members that may hold credentials. */
function credentialsOf(config: ResolvedServerConfig): readonly unknown[] {
  return [config.server_parameters, oauthOf(config)];
}
