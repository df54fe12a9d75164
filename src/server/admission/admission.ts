/** Decides on the admission of a connection, and ends it with its credentials, which newer ones may replace. */
import { createHash } from "node:crypto";
import { abortable } from "../../async/abortable.ts";
import { Deadline } from "../../async/deadline.ts";
import type { BoundedLog } from "../../bounded_log.ts";
import type { LogFields } from "../../log.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { CREDENTIALS_EXPIRING_NOTIFICATION } from "../../protocol/events.ts";
import type { Farewell } from "../../protocol/farewell.ts";
import { nameProblem } from "../../protocol/names.ts";
import { MACHINE_PREFIX } from "../../protocol/presence.ts";
import { VERSION_QUERY_PARAMETER } from "../../protocol/version.ts";
import { describeError } from "../../text/text.ts";
import type { Expirable, Scheduled, Timeouts } from "../../async/timeouts.ts";
import { auditFields, LoggedRefusal } from "../observe/logs.ts";
import type { Meter } from "../observe/meter.ts";
import type { Member } from "../offices/office.ts";
import { CONSTANTS } from "../options/constants.ts";
import {
  type Admission,
  type AuthDecision,
  type AuthProvider,
  type Credentials,
  endOf,
  type Grant,
  isDecision,
  isGranted,
  movedFrom,
  type Permit,
  type WantedSeat,
} from "./provider.ts";
import { type Quotas, refusalOf } from "./quotas.ts";

/** How the id of a machine begins that has no key, so that none is the principal of another client. */
const DIGEST_PREFIX = `${MACHINE_PREFIX}~`;
/** A `session` or a `machine` that is longer is ignored. */
const SESSION = /^.{1,128}$/s;

export interface Identity {
  readonly principal: string;
  readonly session: string | undefined;
  /** The id of its machine; `undefined` for a client that tells none. */
  readonly machine?: string | undefined;
  readonly version: string | undefined;
  /** Whether it joins as an observer, which does not take the seat of the Agent. */
  readonly isObserver: boolean;
}

export interface Admitted {
  readonly identity: Identity;
  readonly permit: Permit;
  readonly quotas: Quotas;
}

interface DecisionOptions {
  readonly auth: AuthProvider;
  readonly authTimeoutMs: number;
  readonly signal: AbortSignal;
}

export interface AdmissionOptions extends DecisionOptions {
  readonly refusals: BoundedLog;
  readonly meter?: Pick<Meter, "refused"> | undefined;
  /**
   * Counts the connection in the quotas of its principal.
   *
   * @throws {LoggedRefusal} 429 when there are too many.
   */
  readonly count: (principal: string) => Quotas;
}

/**
 * Asks the auth provider for the identity of a connection, and for what it may do. A refusal is logged and counted.
 *
 * @throws {LoggedRefusal} as {@linkcode decide}; 429 when there are too many connections.
 */
export async function admit(credentials: Credentials, options: AdmissionOptions): Promise<Admitted> {
  const { signal, refusals, meter, count } = options;
  const { address, query, auth: { session, machine, observer } } = credentials;
  const { principal, ...permit } = await decide(credentials, options).catch((error: unknown) => {
    if (!(error instanceof LoggedRefusal) || signal.aborted) throw error;
    meter?.refused("credentials");
    const fields = { ...error.log, address };
    if (error.code === ErrorCode.UNAVAILABLE) {
      refusals.write("error", "failed to authenticate a connection", fields);
    } else refusals.write("warn", "refused a connection", auditFields("connect", fields));
    throw error;
  });
  // A closed connection would be counted for ever.
  signal.throwIfAborted();
  const version = query[VERSION_QUERY_PARAMETER];
  const identity = {
    principal,
    // Without a usable one, the client cannot replace its lost connection at once.
    session: typeof session === "string" && SESSION.test(session) ? session : undefined,
    machine: machineOf(principal, machine),
    isObserver: observer === true,
    version: typeof version === "string" ? version : undefined,
  };
  try {
    return { identity, permit, quotas: count(principal) };
  } catch (error) {
    if (error instanceof LoggedRefusal) {
      meter?.refused(refusalOf(error));
      refusals.write("warn", "refused a connection", { reason: error.message, principal, address });
    }
    throw error;
  }
}

/**
 * The id of a machine: the principal of one that proves it by a key; else a digest of the principal and of what the client
 * says, so that a client of one principal cannot pass for a machine of another.
 */
function machineOf(principal: string, claimed: unknown): string | undefined {
  if (principal.startsWith(MACHINE_PREFIX)) {
    const isProven = nameProblem(principal) === undefined && !principal.startsWith(DIGEST_PREFIX);
    return isProven ? principal : undefined;
  }
  if (typeof claimed !== "string" || !SESSION.test(claimed)) return undefined;
  const digest = createHash("sha256").update(JSON.stringify([principal, claimed])).digest("base64url");
  return DIGEST_PREFIX + digest;
}

/**
 * @throws {LoggedRefusal} 401 when the provider refuses; 503 when it fails or takes too long, so that the client tries again.
 * The reason of `signal` when it is aborted.
 */
async function decide(credentials: Credentials, options: DecisionOptions): Promise<Admission> {
  const decision = await ask(credentials, options).catch((cause) => {
    options.signal.throwIfAborted();
    // Nothing is known about the credentials: a 401 would end clients for good when an identity provider is down.
    // The error of the provider may have secrets.
    const message = "Cannot check the credentials now; try again later";
    throw new LoggedRefusal(ErrorCode.UNAVAILABLE, message, { cause, log: { error: describeError(cause) } });
  });
  if ("refused" in decision) throw unauthorized(decision.refused, decision.log);
  const end = endOf(decision);
  if (end !== undefined) throw unauthorized(end.message, { principal: decision.principal });
  return decision;
}

function unauthorized(reason: string, log?: LogFields): LoggedRefusal {
  return new LoggedRefusal(ErrorCode.UNAUTHORIZED, `Unauthorized: ${reason}`, { log: { ...log, reason } });
}

async function ask(
  credentials: Credentials,
  { auth, authTimeoutMs, signal }: DecisionOptions,
): Promise<AuthDecision> {
  const reason = () => new RangeError(`No decision of the auth provider within ${authTimeoutMs} ms`);
  using deadline = new Deadline(authTimeoutMs, { reason, signal });
  const asked = Promise.resolve(auth.authenticate(credentials, { signal: deadline.signal }));
  const decision: unknown = await abortable(asked, deadline.signal);
  if (isDecision(decision)) return decision;
  throw new TypeError(
    "Cannot use the decision of the auth provider: expected { refused: text }, or { principal: text } " +
      "with at most grant: { offices?, roles? }, expiresAtMs and signal",
  );
}

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
  readonly deferred: { readonly released: Promise<void> } | undefined;
  grant: Grant | undefined;
  tell(event: string, body: unknown): void;
  dismiss(farewell: Farewell): void;
}

/** What is checked when a signal is aborted, with one listener: thousands of connections may share a signal. */
const ENDING = new WeakMap<AbortSignal, Set<LiveCredentials>>();

function endingWith(signal: AbortSignal): Set<LiveCredentials> {
  const known = ENDING.get(signal);
  if (known !== undefined) return known;
  const ending = new Set<LiveCredentials>();
  ENDING.set(signal, ending);
  signal.addEventListener("abort", () => [...ending].forEach((each) => each.check()), { once: true });
  return ending;
}

export interface LiveCredentialsContext extends Omit<DecisionOptions, "signal"> {
  readonly timeouts: Timeouts;
  readonly audit: BoundedLog;
}

export class LiveCredentials implements Expirable {
  readonly #holder: Holder;
  readonly #context: LiveCredentialsContext;
  readonly #address: string;
  #permit: Permit = {};
  #scheduled: Scheduled | undefined;
  /** The client is told when so much time is left. */
  #warningMs = 0;
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

  /**
   * Ends the connection when these credentials end; at once if they have ended. Tells it a minute before they expire, and
   * again each time that half of the rest is over.
   */
  watch(permit: Permit): void {
    this.#stop();
    this.#permit = permit;
    if (permit.signal !== undefined) endingWith(permit.signal).add(this);
    if (permit.expiresAtMs !== undefined) {
      this.#warningMs = Math.min(FIRST_WARNING_MS, this.#leftMs / 2);
      this.#schedule();
    }
    this.check();
  }

  check(): void {
    const moved = movedFrom(this.#permit);
    if (moved !== undefined) return this.watch(moved);
    const farewell = endOf(this.#permit);
    if (farewell === undefined) return;
    this.#stop();
    this.#holder.dismiss(farewell);
  }

  /** Called at the time of expiry, and now and then before. */
  expire(): void {
    const leftMs = this.#leftMs;
    const isWarning = leftMs <= this.#warningMs && leftMs > LAST_WARNING_MS;
    if (isWarning) this.#warningMs = leftMs / 2;
    this.#schedule();
    this.check();
    if (isWarning) this.#warn(leftMs);
  }

  /**
   * Puts newer credentials in the place of these, if they are of the same principal and allow its present membership.
   *
   * @throws {SmcpError} 401 when the provider refuses them, 503 when it fails, 403 when they do not fit, 400 during an attempt or so soon after it.
   */
  async renew(sent: Pick<Credentials, "auth" | "headers">): Promise<void> {
    const nowMs = performance.now();
    const isTooSoon = nowMs - this.#triedAtMs < CONSTANTS.minRenewalIntervalMs.value;
    if (isTooSoon || this.#asking !== undefined) {
      const message = "Cannot renew the credentials: the last attempt was just now";
      throw new SmcpError(ErrorCode.BAD_REQUEST, message);
    }
    this.#triedAtMs = nowMs;
    const permit = await this.#decide(sent);
    // A join that began with the old grant must not end after this check.
    while (this.#holder.deferred !== undefined) await this.#holder.deferred.released;
    if (this.#holder.isEnded) return;
    const { sid, identity, member } = this.#holder;
    const { principal, grant, expiresAtMs } = permit;
    const problem = principal !== identity.principal
      ? "they are of another principal"
      : member !== undefined && grant !== undefined && !isGranted(grant, member)
      ? "the new ones do not allow this membership"
      : undefined;
    if (problem !== undefined) {
      throw new SmcpError(ErrorCode.FORBIDDEN, `Cannot renew the credentials: ${problem}`);
    }
    this.#holder.grant = grant;
    // A provider may say Infinity.
    const expires = Number.isFinite(expiresAtMs) ? new Date(Number(expiresAtMs)).toJSON() : undefined;
    const fields = { sid, principal, office: member?.officeId, name: member?.name, expires };
    this.#context.audit.write("info", "renewed the credentials", auditFields("renew", fields));
    this.watch(permit);
  }

  close(): void {
    this.#stop();
    this.#asking?.abort(new LoggedRefusal(ErrorCode.UNAUTHORIZED, "Closed before the decision"));
  }

  get #leftMs(): number {
    return (this.#permit.expiresAtMs ?? Infinity) - Date.now();
  }

  #schedule(): void {
    const leftMs = Math.max(0, this.#leftMs);
    const untilWarningMs = this.#warningMs > LAST_WARNING_MS ? Math.max(0, leftMs - this.#warningMs) : leftMs;
    this.#scheduled = this.#context.timeouts.add(this, Math.min(untilWarningMs, CLOCK_CHECK_MS));
  }

  #stop(): void {
    if (this.#scheduled !== undefined) this.#context.timeouts.cancel(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#permit.signal !== undefined) endingWith(this.#permit.signal).delete(this);
  }

  async #decide(sent: Pick<Credentials, "auth" | "headers">): Promise<Admission> {
    const asking = this.#asking = new AbortController();
    const { version } = this.#holder.identity;
    const query = version === undefined ? {} : { [VERSION_QUERY_PARAMETER]: version };
    try {
      const options = { ...this.#context, signal: asking.signal };
      return await decide({ ...sent, query, address: this.#address }, options);
    } finally {
      this.#asking = undefined;
    }
  }

  #warn(leftMs: number): void {
    try {
      this.#holder.tell(CREDENTIALS_EXPIRING_NOTIFICATION, { expires_in_ms: Math.round(leftMs) });
    } catch {
      // The peer has too many unread bytes. It is told again.
    }
  }
}
