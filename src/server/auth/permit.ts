/** What an admitted connection may do, and how long. */
import { type Farewell, FarewellCode } from "../../protocol/farewell.ts";
import type { Expirable, Scheduled, TimingWheel } from "../timing_wheel.ts";
import { type Admission, type CredentialsEnd, CredentialsEndedError } from "./provider.ts";

export type Permit = Pick<Admission, "grant" | "expiresAtMs" | "signal">;

/** How long before their expiry the client of credentials is first told of it, unless they are valid for less than twice that. */
const FIRST_WARNING_MS = 60_000;
/** Without so much time left, it is not told again. */
const LAST_WARNING_MS = 1_000;
/** How often the time of expiry is compared with the clock, which may be set meanwhile. */
const CLOCK_CHECK_MS = 60_000;

export function endOf({ expiresAtMs, signal }: Permit): Farewell | undefined {
  if (signal?.aborted) return toFarewell(signal.reason);
  // Also refuses NaN.
  if (expiresAtMs !== undefined && !(expiresAtMs > Date.now())) return EXPIRED;
  return undefined;
}

const CODES: Readonly<Record<CredentialsEnd, string>> = {
  expired: FarewellCode.CREDENTIALS_EXPIRED,
  revoked: FarewellCode.CREDENTIALS_REVOKED,
  changed: FarewellCode.CREDENTIALS_CHANGED,
};

const EXPIRED: Farewell = {
  code: FarewellCode.CREDENTIALS_EXPIRED,
  message: "The credentials have expired",
  reconnect: false,
};

/** The error of a provider is not sent: only a text that is meant for the client is. */
function toFarewell(reason: unknown): Farewell {
  if (reason instanceof CredentialsEndedError) {
    return { code: CODES[reason.kind], message: reason.message, reconnect: reason.kind === "changed" };
  }
  const message = typeof reason === "string" ? reason : "The credentials are no longer accepted";
  return { code: FarewellCode.CREDENTIALS_REVOKED, message, reconnect: false };
}

function endlessly(): void {}

export class PermitWatch {
  readonly #timeouts: TimingWheel;
  /** One listener for each signal: thousands of connections may share one. */
  readonly #watched = new WeakMap<AbortSignal, Set<() => void>>();

  constructor(timeouts: TimingWheel) {
    this.#timeouts = timeouts;
  }

  /**
   * Calls `onEnd` once, when the credentials end; at once if they have ended. Calls `onExpiring` with the milliseconds that
   * are left, a minute before they expire, and again each time that half of the rest is over.
   *
   * @return Ends the watch.
   */
  watch(permit: Permit, { onEnd, onExpiring = () => {} }: {
    readonly onEnd: (farewell: Farewell) => void;
    readonly onExpiring?: (leftMs: number) => void;
  }): () => void {
    const { expiresAtMs, signal } = permit;
    // Saves memory for each connection.
    if (expiresAtMs === undefined && signal === undefined) return endlessly;
    const check = () => {
      const farewell = endOf(permit);
      if (farewell === undefined) return;
      stop();
      onEnd(farewell);
    };
    const expiry = expiresAtMs === undefined
      ? undefined
      : new Expiry(this.#timeouts, { expiresAtMs, check, warn: onExpiring });
    const checks = signal === undefined ? undefined : this.#checksOf(signal);
    const stop = () => {
      expiry?.stop();
      checks?.delete(check);
    };
    checks?.add(check);
    check();
    return stop;
  }

  #checksOf(signal: AbortSignal): Set<() => void> {
    const known = this.#watched.get(signal);
    if (known !== undefined) return known;
    const checks = new Set<() => void>();
    this.#watched.set(signal, checks);
    signal.addEventListener("abort", () => [...checks].forEach((check) => check()), { once: true });
    return checks;
  }
}

interface ExpiryOptions {
  readonly expiresAtMs: number;
  readonly check: () => void;
  readonly warn: (leftMs: number) => void;
}

/** Checks at the time of expiry, and now and then before. */
class Expiry implements Expirable {
  readonly #timeouts: TimingWheel;
  readonly #options: ExpiryOptions;
  #scheduled: Scheduled | undefined;
  #warningMs: number;

  constructor(timeouts: TimingWheel, options: ExpiryOptions) {
    this.#timeouts = timeouts;
    this.#options = options;
    this.#warningMs = Math.min(FIRST_WARNING_MS, this.#leftMs / 2);
    this.#schedule();
  }

  expire(): void {
    const leftMs = this.#leftMs;
    const isWarning = leftMs <= this.#warningMs && leftMs > LAST_WARNING_MS;
    if (isWarning) this.#warningMs = leftMs / 2;
    this.#schedule();
    this.#options.check();
    if (isWarning) this.#options.warn(leftMs);
  }

  stop(): void {
    if (this.#scheduled !== undefined) this.#timeouts.cancel(this.#scheduled);
    this.#scheduled = undefined;
  }

  get #leftMs(): number {
    return this.#options.expiresAtMs - Date.now();
  }

  #schedule(): void {
    const leftMs = Math.max(0, this.#leftMs);
    const untilWarningMs = this.#warningMs > LAST_WARNING_MS ? Math.max(0, leftMs - this.#warningMs) : leftMs;
    this.#scheduled = this.#timeouts.add(this, Math.min(untilWarningMs, leftMs, CLOCK_CHECK_MS));
  }
}
