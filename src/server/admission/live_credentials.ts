/** The credentials of an open connection: they end, and newer ones may take their place before that. */
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { CREDENTIALS_EXPIRING_NOTIFICATION } from "../../protocol/events.ts";
import type { Farewell } from "../../protocol/farewell.ts";
import { VERSION_QUERY_PARAMETER } from "../../protocol/version.ts";
import { type Grant, isGranted, type WantedSeat } from "./grant.ts";
import { type Audit, LoggedRefusal } from "../observe/audit.ts";
import type { Member } from "../offices/office.ts";
import { type Credentials, endOf, type Permit } from "./provider.ts";
import type { Expirable, Scheduled, TimingWheel } from "../timing_wheel.ts";
import { MIN_RENEWAL_INTERVAL_MS } from "../limits.ts";
import { AdmissionError, type AdmissionOptions, admit, type Admitted, type Identity } from "./admission.ts";

/** How long before their expiry the client of credentials is first told of it, unless they are valid for less than twice that. */
const FIRST_WARNING_MS = 60_000;
/** Without so much time left, it is not told again. */
const LAST_WARNING_MS = 1_000;
/** How often the time of expiry is compared with the clock, which may be set meanwhile. */
const CLOCK_CHECK_MS = 60_000;

export interface Holder {
  readonly sid: string;
  readonly identity: Identity;
  readonly member: Pick<Member, keyof WantedSeat | "name"> | undefined;
  readonly isEnded: boolean;
  /** Released when the change of its membership that is under way has ended. */
  readonly held: { readonly released: Promise<void> } | undefined;
  grant: Grant | undefined;
  tell(event: string, body: unknown): void;
  dismiss(farewell: Farewell): void;
}

export interface LiveCredentialsContext extends Omit<AdmissionOptions, "signal" | "isRenewal"> {
  readonly permits: PermitWatch;
  readonly audit: Audit;
}

export class LiveCredentials {
  readonly #holder: Holder;
  readonly #context: LiveCredentialsContext;
  readonly #address: string;
  #stop = nothing;
  #triedAtMs = -Infinity;
  #asking: AbortController | undefined;

  /** @param options `address`: the IP address of the client. `context`: the same object for all connections. */
  constructor(
    holder: Holder,
    { address, context }: { readonly address: string; readonly context: LiveCredentialsContext },
  ) {
    this.#holder = holder;
    this.#address = address;
    this.#context = context;
  }

  /** Ends the connection when these credentials end, and tells it some time before they expire. */
  watch(permit: Permit): void {
    this.#stop();
    this.#stop = this.#context.permits.watch(permit, {
      onEnd: (farewell) => this.#holder.dismiss(farewell),
      onExpiring: (leftMs) => this.#warn(leftMs),
    });
  }

  /**
   * Puts newer credentials in the place of these, if they are of the same principal and allow its present membership.
   *
   * @throws {SmcpError} 401 when the provider refuses them, 503 when it fails, 403 when they do not fit, 400 during an attempt or so soon after it.
   */
  async renew(sent: Pick<Credentials, "auth" | "headers">): Promise<void> {
    this.#requirePause();
    const admitted = await this.#admit(sent);
    // A join that began with the old grant must not end after this check.
    while (this.#holder.held !== undefined) await this.#holder.held.released;
    if (this.#holder.isEnded) return;
    const { identity, member } = this.#holder;
    const { grant } = admitted.permit;
    if (admitted.identity.principal !== identity.principal) {
      throw forbidden("Cannot renew the credentials: they are of another principal");
    }
    if (member !== undefined && grant !== undefined && !isGranted(grant, member)) {
      throw forbidden("Cannot renew the credentials: the new ones do not allow this membership");
    }
    this.#holder.grant = grant;
    this.#record(admitted.permit);
    this.watch(admitted.permit);
  }

  close(): void {
    this.#stop();
    this.#asking?.abort(new AdmissionError("Closed before the decision"));
  }

  #record({ expiresAtMs }: Permit): void {
    const { sid, identity: { principal }, member } = this.#holder;
    // A provider may say Infinity.
    const expires = Number.isFinite(expiresAtMs) ? new Date(Number(expiresAtMs)).toJSON() : undefined;
    const fields = { sid, principal, office: member?.officeId, name: member?.name, expires };
    this.#context.audit.write("info", "renewed the credentials", { action: "renew", fields });
  }

  async #admit(sent: Pick<Credentials, "auth" | "headers">): Promise<Admitted> {
    const asking = this.#asking = new AbortController();
    const { version } = this.#holder.identity;
    const query = version === undefined ? {} : { [VERSION_QUERY_PARAMETER]: version };
    try {
      const options = { ...this.#context, signal: asking.signal, isRenewal: true };
      return await admit({ ...sent, query, address: this.#address }, options).catch(toRefusal);
    } finally {
      this.#asking = undefined;
    }
  }

  #requirePause(): void {
    const nowMs = performance.now();
    const isTooSoon = nowMs - this.#triedAtMs < MIN_RENEWAL_INTERVAL_MS;
    if (isTooSoon || this.#asking !== undefined) {
      throw new SmcpError(
        ErrorCode.BAD_REQUEST,
        "Cannot renew the credentials: the last attempt was just now",
      );
    }
    this.#triedAtMs = nowMs;
  }

  #warn(leftMs: number): void {
    try {
      this.#holder.tell(CREDENTIALS_EXPIRING_NOTIFICATION, { expires_in_ms: Math.round(leftMs) });
    } catch {
      // The peer has too many unread bytes. It is told again.
    }
  }
}

/** One function for all connections. */
function nothing(): void {}

function toRefusal(error: unknown): never {
  if (error instanceof AdmissionError) throw new LoggedRefusal(error.data.code, error.message, error);
  throw error;
}

function forbidden(message: string): SmcpError {
  return new SmcpError(ErrorCode.FORBIDDEN, message);
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
