/**
 * Whether a member would answer now (`docs/protocol/extensions.md#presence`): what counts is when anything of it was read,
 * and not that its socket is open. What is for a silent member waits for the answer to a ping, so that a machine that sleeps
 * does not carry it out when it wakes, long after the caller was told that it has failed.
 */
import { BoundedMap } from "../../async/bounded_collections.ts";
import { Limiter } from "../../async/limiter.ts";
import type { Expirable, Scheduled, Timeouts } from "../../async/timeouts.ts";
import { turnStartMs } from "../../async/turn_clock.ts";
import { ErrorCode } from "../../protocol/error_codes.ts";
import { SmcpError } from "../../protocol/errors.ts";
import { sleepText } from "../../protocol/presence.ts";
import { quoted } from "../../text/text.ts";
import type { Account } from "../engine/budget.ts";
import type { EngineSession } from "../engine/session.ts";
import type { Member } from "../offices/office.ts";
import { DeferredEvents } from "./deferred_events.ts";

/** A member is there without a ping if something of it was read so recently. */
const FRESH_MS = 5_000;
/** How long a silent member may take to send anything after a ping. */
const PROBE_MS = 2_500;
/** The silence after which requests that were sent before it began fail: a peer that works on one may be slow to answer. */
const LOST_MS = 10_000;
/** How long the answer to a ping counts for operators who look again. */
const ANSWERED_MS = 2_000;
/** The most members that are asked in a round for operators. */
const MAX_ASKED = 200;
/** How many members that fell asleep are remembered after the end of their connections, and for how long. */
const MAX_SLEEPERS = 1_000;
const SLEEPER_MS = 24 * 3_600_000;

export type PresenceSession = Pick<EngineSession, "readAtMs" | "ping" | "state"> & {
  readonly account: Account;
};

interface PresenceParts {
  readonly session: PresenceSession;
  readonly timeouts: Timeouts;
  /** Whether requests are in flight to the member. */
  readonly isAwaited: () => boolean;
  /** Called while requests are in flight, and the member sleeps. */
  readonly onLost: () => void;
  /** Called when something begins to wait for a ping, and when nothing waits any more. */
  readonly onWaiting: (isWaiting: boolean) => void;
}

/** The presence of one connection. */
export class Presence implements Expirable {
  readonly #parts: PresenceParts;
  readonly #watch: Expirable = { expire: () => this.#look() };
  #waiting: DeferredEvents | undefined;
  #probedAtMs = -Infinity;
  /** Whether nothing came in time after the last ping. */
  #isUnanswered = false;
  #probing: Scheduled | undefined;
  #watching: Scheduled | undefined;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
  }

  /** Whether nothing has to wait: something was read recently, and no ping is unanswered. */
  get isFresh(): boolean {
    return this.#waiting === undefined && this.#silentMs < FRESH_MS && this.asleepSince === undefined;
  }

  get lastRead(): Date {
    return new Date(Date.now() - this.#silentMs);
  }

  /** When anything was read last, of a member that did not answer the last ping; `undefined` of any other. */
  get asleepSince(): Date | undefined {
    const isAsleep = this.#isUnanswered && this.#parts.session.readAtMs < this.#probedAtMs;
    return isAsleep ? this.lastRead : undefined;
  }

  /**
   * Calls `act` when it is known whether the member sleeps, in order; `false` when there is no memory for what it sends.
   *
   * @param options `mayTrust`: whether a fresh member needs no ping; `true` by default.
   */
  whenKnown(bytes: number, act: () => void, { mayTrust = true } = {}): boolean {
    if (this.#waiting === undefined) {
      if ((mayTrust && this.isFresh) || this.asleepSince !== undefined) {
        act();
        return true;
      }
      this.#probe();
    }
    return this.#waiting?.defer(bytes, act) ?? false;
  }

  /** When it was sent a ping last, by the monotonic clock. */
  get probedAtMs(): number {
    return this.#probedAtMs;
  }

  /** Whether it has just answered a ping, or is known to sleep. */
  get isKnown(): boolean {
    const isRecent = turnStartMs() - this.#probedAtMs < ANSWERED_MS;
    return (isRecent && this.#parts.session.readAtMs >= this.#probedAtMs) || this.asleepSince !== undefined;
  }

  /** Resolves when it is known whether the member sleeps, for which it is sent a ping. Never rejects. */
  ask(): Promise<void> {
    return new Promise((resolve) => {
      if (!this.whenKnown(0, resolve, { mayTrust: false })) resolve();
    });
  }

  /** Looks after requests that were sent, until none is in flight. */
  watch(): void {
    this.#watching ??= this.#parts.timeouts.add(this.#watch, FRESH_MS);
  }

  /** The connection has ended: what waits is called now. */
  close(): void {
    if (this.#watching !== undefined) this.#parts.timeouts.cancel(this.#watching);
    this.#settle();
  }

  /** Implements {@linkcode Expirable}: nothing was read in time. */
  expire(): void {
    this.#probing = undefined;
    this.#noteSilence(() => this.#settle());
  }

  #noteSilence(act: () => void): void {
    // After a stall of the event loop, the pong may have arrived meanwhile.
    setTimeout(() => {
      // What is not written yet may be a long message on a slow network, and the ping behind it.
      this.#isUnanswered = !this.#parts.session.state.isWriting;
      act();
    }, 0);
  }

  get #silentMs(): number {
    return turnStartMs() - this.#parts.session.readAtMs;
  }

  #probe(): void {
    const { session, timeouts, onWaiting } = this.#parts;
    this.#waiting = new DeferredEvents(session.account);
    this.#probing = timeouts.add(this, PROBE_MS);
    onWaiting(true);
    this.#ping(() => this.#settle());
  }

  #ping(onRead: () => void): void {
    this.#isUnanswered = false;
    this.#probedAtMs = turnStartMs();
    this.#parts.session.ping(onRead);
  }

  #settle(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    if (this.#probing !== undefined) this.#parts.timeouts.cancel(this.#probing);
    this.#probing = undefined;
    waiting.release();
    this.#parts.onWaiting(false);
  }

  #look(): void {
    this.#watching = undefined;
    const { session, isAwaited, onLost } = this.#parts;
    if (!isAwaited()) return;
    this.watch();
    if (this.#waiting !== undefined || this.isFresh) return;
    const isPinged = session.readAtMs < this.#probedAtMs;
    if (!isPinged) return this.#ping(() => {});
    if (this.#silentMs < LOST_MS) return;
    this.#noteSilence(() => {
      if (this.asleepSince !== undefined) onLost();
    });
  }
}

/** Asks members for operators, who may look at thousands again and again: one round at a time, those first that were asked longest ago. */
export class PresenceRounds {
  readonly #oneByOne = new Limiter(1);

  /** Asks a share of the members, and none of which it is known. Never rejects. */
  async ask(findMembers: () => readonly Pick<Presence, "isKnown" | "probedAtMs" | "ask">[]): Promise<void> {
    await this.#oneByOne.run(async () => {
      const unknown = findMembers().filter(({ isKnown }) => !isKnown)
        .sort((a, b) => a.probedAtMs - b.probedAtMs);
      await Promise.all(unknown.slice(0, MAX_ASKED).map((each) => each.ask()));
    });
  }
}

interface Sleeper {
  readonly member: Member;
  readonly since: Date;
}

/** Members of this process whose connections have ended while they slept, by office and name. */
export class Sleepers {
  readonly #sleepers = new BoundedMap<string, Sleeper>(MAX_SLEEPERS);

  add(member: Member, since: Date): void {
    if (member.role === "computer") this.#sleepers.set(keyOf(member), { member, since });
  }

  /** Forgets what a member that joins was before, in any office. */
  forget(member: Member): void {
    this.#sleepers.delete(keyOf(member));
    for (const [key, { member: { machine, name, principal } }] of this.#sleepers) {
      const isSame = machine === undefined
        ? name === member.name && principal === member.principal
        : machine === member.machine;
      if (isSame) this.#sleepers.delete(key);
    }
  }

  get all(): readonly Sleeper[] {
    return [...this.#sleepers.values()].filter(({ since }) => Date.now() - since.getTime() < SLEEPER_MS);
  }

  of(officeId: string): readonly Sleeper[] {
    return this.all.filter(({ member }) => member.officeId === officeId);
  }

  /** Finds one by its name, or by the id of its machine. */
  find(officeId: string, computer: string): Sleeper | undefined {
    return this.of(officeId).find(({ member: { name, machine } }) =>
      name === computer || machine === computer
    );
  }
}

function keyOf({ officeId, name }: Member): string {
  return JSON.stringify([officeId, name]);
}

/**
 * The same error whether no such Computer exists, it is in another office, or it has just left.
 *
 * @param options `mayHaveRun`: whether it had been sent the request.
 */
export function computerNotFound(
  name: string,
  state = "not found",
  { mayHaveRun = false } = {},
): SmcpError {
  const details = { computer_name: name, ...(mayHaveRun ? { may_have_run: true } : {}) };
  return new SmcpError(ErrorCode.NOT_FOUND, `Computer with name '${quoted(name)}' ${state}`, { details });
}

/** The error of a request to a member that sleeps. @param mayHaveRun Whether the request was sent before. */
export function computerAsleep(name: string, since: Date, { mayHaveRun = false } = {}): SmcpError {
  const effect = mayHaveRun
    ? "It had been sent the request, which may have been carried out; a tool call is cancelled when it wakes"
    : "The request was not sent. Wake the machine, and try again";
  const at = since.toISOString();
  return new SmcpError(
    ErrorCode.NOT_FOUND,
    `Computer "${quoted(name)}" has been ${sleepText(at)}, or cannot be reached. ${effect}`,
    {
      details: {
        computer_name: name,
        asleep_since: at,
        ...(mayHaveRun ? { may_have_run: true } : {}),
      },
    },
  );
}
