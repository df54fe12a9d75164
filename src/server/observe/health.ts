/** Whether a Server is alive and ready, as probes ask for it. */
import type { AuthProvider } from "../admission/provider.ts";
import type { Offices } from "../offices/offices.ts";
import type { Drain } from "../drain.ts";
import type { Watchdog } from "../sockets/watchdog.ts";

export type Check = () => string | undefined;

export class Health {
  /** Checks whether connections are accepted, if somebody does. */
  watchdog: Watchdog | undefined;
  offices: Pick<Offices, "unready"> | undefined;
  readonly #drain: Drain;
  readonly #auth: AuthProvider;
  readonly checks: ReadonlyMap<string, Check>;

  constructor({ drain, auth }: { readonly drain: Drain; readonly auth: AuthProvider }) {
    this.#drain = drain;
    this.#auth = auth;
    const isAlive = () => this.#checkLife();
    const isReady = () => this.#checkReadiness();
    this.checks = new Map([["/", isAlive], ["/healthz", isAlive], ["/readyz", isReady]]);
  }

  get isReady(): boolean {
    return this.#checkReadiness() === undefined;
  }

  #checkLife(): string | undefined {
    return this.watchdog?.isHealthy === false ? "cannot accept connections" : undefined;
  }

  #checkReadiness(): string | undefined {
    if (this.#drain.isStarted) return "shutting down";
    return this.offices?.unready ?? this.#checkAuth() ?? this.#checkLife();
  }

  #checkAuth(): string | undefined {
    try {
      return this.#auth.unready?.();
    } catch {
      return "the auth provider fails";
    }
  }
}
